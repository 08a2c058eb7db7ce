import { z } from 'zod'
import { figureVerdicts } from '../eval/compare/compare.ts'
import { CaseDiff } from '../eval/compare/diff.ts'
import { CaseTexts } from '../eval/report/case-detail.ts'
import { BaselineSnapshot, CaseRecord, CaseVerdict, RunEnvironment, RunSummary } from '../eval/store/schemas/run.ts'
import { listOf } from './shapes.ts'

const Interval = z.object({ low: z.number(), high: z.number() })

/** A run with the fields that a plot needs. */
export const ListedRun = z.object({
  run: RunSummary,
  passRate: z.number().nullable().describe('Null when the run has no cases.'),
  passInterval: Interval.nullable().describe('Where the true pass rate lies with 95 % confidence (Wilson).'),
})

/** `passed`: all cases of the run that decides passed. `unfinished`: that run did not complete, or is still going on. */
const packVerdicts = ['passed', 'failed', 'unfinished', 'not run'] as const

export const ListedPack = z.object({
  id: z.string(),
  title: z.string(),
  description: z.string().nullable(),
  tags: z.array(z.string()),
  benchmarkType: z.string(),
  cases: z.int(),
  source: z.enum(['store', 'shipped']),
  isRunnable: z.boolean(),
  system: z.string().nullable().describe('The system of the verdict; controls and parts of runs never count.'),
  verdict: z.enum(packVerdicts),
  latest: ListedRun.nullable(),
  recent: z.array(z.number()).describe('Pass rates of the last whole runs of the system, oldest first, at most 20.'),
  isSaturated: z.boolean().describe('Every whole run of the system passed every case.'),
  problem: z.string().nullable().describe('What is wrong with its manifest, where it cannot be read.'),
})

/** A case in a list; its explanation is on its own page. */
export const ListedCase = z.object({
  caseId: z.string(),
  repeat: z.int(),
  verdict: CaseVerdict,
  prompt: z.string().nullable(),
  failures: z.array(z.string()),
  error: z.string().nullable(),
  returned: z.int().describe('How many ids came back.'),
  scores: z.record(z.string(), z.number().nullable()),
  totalMs: z.number(),
})

export const FigureComparison = z.object({
  figure: z.string(),
  base: z.number().nullable(),
  candidate: z.number().nullable(),
  delta: z.number().nullable(),
  verdict: z.enum(figureVerdicts),
  direction: z.enum(['higher', 'lower']).describe('Which way is better.'),
  adjustedP: z.number().nullable(),
  interval: Interval.nullable(),
})

/** A case in two runs, with its message. */
const ComparedCase = CaseDiff.extend({ prompt: z.string().nullable() })

/** A baseline without its cases. */
export const ListedBaseline = z.object({
  snapshotId: z.string(),
  createdAt: z.string(),
  notes: z.string().nullable(),
  gitRef: z.string().nullable(),
  benchmarks: z.array(
    z.object({
      benchmarkId: z.string(),
      runId: z.string(),
      passRate: z.number(),
      totalCases: z.int().nullable(),
      passedCases: z.int().nullable(),
      metrics: z.record(z.string(), z.number()),
      system: z.string().nullable(),
    }),
  ),
  acceptedLower: BaselineSnapshot.shape.acceptedLower,
})

const Spread = z.object({ mean: z.number().nullable(), p50: z.number().nullable(), p95: z.number().nullable() })

const ShadowReport = z.object({
  records: z.int(),
  invalid: z.int(),
  injectedShare: z.number().nullable(),
  bySource: z.record(z.string(), z.int()),
  durationMs: Spread,
  contextChars: Spread,
  recalledMemoryCount: Spread,
  days: z.array(
    z.object({
      day: z.string(),
      records: z.int(),
      empty: z.int().describe('Recalls whose message brought nothing; what is pinned does not count.'),
      emptyRate: z.number(),
      durationMs: Spread,
    }),
  ),
})

/** The latest whole run of a pack against an earlier one. */
export const Standing = z.object({
  system: z.string().nullable(),
  latest: ListedRun,
  against: z.object({ runId: z.string(), baseline: z.string().nullable() }).nullable(),
  broken: z.array(z.string()).describe('Cases that passed then and do not now.'),
  fixed: z.array(z.string()),
  failing: z.int(),
  total: z.int(),
  since: z
    .object({ runId: z.string(), at: z.string(), commit: z.string().nullable() })
    .nullable()
    .describe('The run in which the broken cases were first seen to fail.'),
  isSaturated: z.boolean().describe('Every whole run passed all cases: a regression test, not evidence.'),
})

export const TaskWork = z.object({
  repeat: z.int(),
  sessions: z.array(
    z.object({
      id: z.string(),
      prompt: z.string(),
      answer: z.string().nullable(),
      isFresh: z.boolean(),
      outcome: z.string(),
      toolCalls: z.int(),
    }),
  ),
  checks: z.array(
    z.object({ session: z.string(), id: z.string(), passed: z.boolean(), expected: z.string(), found: z.string() }),
  ),
})

const beliefNames = z
  .record(z.string(), z.string())
  .describe('Names of the beliefs of the pack whose ids stand in the answer.')

const counts = z.object({ broken: z.int(), fixed: z.int(), stillFailing: z.int(), changed: z.int() })

/** The answers of the operations on evaluations, by name. */
export const evalAnswers = {
  packs: z.object({ items: z.array(ListedPack) }),
  runs: listOf(ListedRun),
  startRun: z.object({ runId: z.string() }),
  run: ListedRun.extend({
    environment: RunEnvironment.nullable(),
    verdicts: z.record(z.string(), z.int()).describe('How many case records have each verdict.'),
    problems: z.array(z.string()).describe('What is wrong with its case records.'),
    baseline: z
      .object({ snapshotId: z.string(), runId: z.string() })
      .nullable()
      .describe('The run of the same pack that the newest baseline accepted.'),
    history: z.array(ListedRun).describe('Oldest first, at most 50, this one among them if it is completed.'),
  }),
  cases: listOf(ListedCase).extend({ names: beliefNames }),
  case: z.object({
    run: RunSummary,
    prompt: z.string().nullable(),
    notes: z.string().nullable(),
    texts: CaseTexts.nullable().describe('What was asked and expected; null for packs without beliefs.'),
    work: z.array(TaskWork).describe('For a task: what was said and checked, one for each repeat.'),
    records: z.array(CaseRecord),
    failing: z.object({ previous: z.string().nullable(), next: z.string().nullable() }),
  }),
  packGrid: z.object({
    runs: z.array(ListedRun).describe('Oldest first, at most 12.'),
    total: z.int(),
    cases: z.array(
      z.object({ caseId: z.string(), prompt: z.string().nullable(), verdicts: z.array(CaseVerdict.nullable()) }),
    ),
    standing: Standing.nullable(),
  }),
  standings: z.object({ items: z.array(Standing.extend({ benchmarkId: z.string(), title: z.string() })) }),
  compareRuns: z.object({
    before: ListedRun,
    after: ListedRun,
    notes: z.array(z.string()).describe('What to know before trusting the rest.'),
    figures: z.array(FigureComparison),
    broken: z.array(ComparedCase),
    fixed: z.array(ComparedCase),
    stillFailing: z.array(ComparedCase),
    changed: z.array(ComparedCase).describe('Passed in both, with another answer.'),
    newCases: z.array(z.string()),
    removedCases: z.array(z.string()),
    flaky: z.array(z.string()),
    unchanged: z.int(),
    names: beliefNames,
    counts: counts.describe('Lists are cut at 200; these are not.'),
  }),
  baselines: z.object({ items: z.array(ListedBaseline) }),
  shadow: ShadowReport.extend({ isRecording: z.boolean() }),
}
