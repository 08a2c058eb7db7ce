import { z } from 'zod'
import { figureVerdicts } from '../../../eval/compare/compare.ts'
import { stages } from '../../../eval/compare/diff.ts'
import { BaselineSnapshot, CaseRecord, Environment, RunSummary, Verdict } from '../../../eval/store/schemas/run.ts'
import { beliefId, listOf, paging, route, text } from '../route.ts'

const Interval = z.object({ low: z.number(), high: z.number() })

/** A run with what a plot needs. */
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
  problem: z.string().nullable().describe('What is wrong with its manifest, where it cannot be read.'),
})

/** A case in a list; its explanation is on its own page. */
export const ListedCase = z.object({
  caseId: z.string(),
  repeat: z.int(),
  verdict: Verdict,
  prompt: z.string().nullable(),
  failures: z.array(z.string()),
  error: z.string().nullable(),
  returned: z.int().describe('How many ids came back.'),
  scores: z.record(z.string(), z.number().nullable()),
  totalMs: z.number(),
})

const rank = z.number().nullable()

export const CaseDiff = z.object({
  id: z.string(),
  base: Verdict,
  candidate: Verdict,
  firstStage: z.enum(stages).nullable(),
  returned: z.array(z.object({ id: z.string(), tier: z.string(), from: rank, to: rank })),
  failures: z.array(z.string()),
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
      empty: z.int().describe('Recalls that put nothing into the context.'),
      emptyRate: z.number(),
      durationMs: Spread,
    }),
  ),
})

const counts = z.object({ broken: z.int(), fixed: z.int(), stillFailing: z.int(), changed: z.int() })

/** Packs, runs, cases, baselines and live recalls. */
export const evalRoutes = {
  packs: route('GET', '/evals/packs', {
    summary: 'The packs in the eval store and those that ship, with the verdict of their latest run.',
    answer: z.object({ items: z.array(ListedPack) }),
  }),
  runs: route('GET', '/evals/runs', {
    summary: 'Runs, newest first.',
    query: z.strictObject({
      benchmark: text(200).optional(),
      system: text(200).optional(),
      status: z.array(z.enum(['running', 'completed', 'failed', 'partial'])).optional(),
      ...paging(50),
    }),
    answer: listOf(ListedRun),
  }),
  startRun: route('POST', '/evals/run', {
    summary: 'Run a pack on our own recall, in the background. One at a time.',
    body: z.strictObject({ pack: text(200) }),
    answer: z.object({ runId: z.string() }),
    status: 202,
  }),
  run: route('GET', '/evals/runs/:id', {
    summary: 'One run, and the completed ones of the same pack and system.',
    params: beliefId,
    answer: ListedRun.extend({
      environment: Environment.nullable(),
      verdicts: z.record(z.string(), z.int()).describe('How many case records have each verdict.'),
      problems: z.array(z.string()).describe('What is wrong with its case records.'),
      history: z.array(ListedRun).describe('Oldest first, at most 50, this one among them if it is completed.'),
    }),
  }),
  cases: route('GET', '/evals/runs/:id/cases', {
    summary: 'The case records of a run, those that did not pass first.',
    params: beliefId,
    query: z.strictObject({
      verdict: z.array(z.enum(['pass', 'fail', 'error', 'skipped', 'unjudged'])).optional(),
      text: text(200).optional().describe('In the id, the prompt, a failure or a returned id.'),
      ...paging(50),
    }),
    answer: listOf(ListedCase),
  }),
  case: route('GET', '/evals/runs/:id/cases/:caseId', {
    summary: 'One case of a run with every repeat and its explanation.',
    params: z.object({ id: text(200), caseId: text(200) }),
    answer: z.object({
      run: RunSummary,
      prompt: z.string().nullable(),
      expectedSignals: z.array(z.string()),
      notes: z.string().nullable(),
      records: z.array(CaseRecord),
    }),
  }),
  compareRuns: route('GET', '/evals/compare', {
    summary: 'Two runs of a pack beside each other, case by case.',
    query: z.strictObject({ before: text(200), after: text(200) }),
    answer: z.object({
      before: ListedRun,
      after: ListedRun,
      notes: z.array(z.string()).describe('What to know before trusting the rest.'),
      figures: z.array(FigureComparison),
      broken: z.array(CaseDiff),
      fixed: z.array(CaseDiff),
      stillFailing: z.array(CaseDiff),
      changed: z.array(CaseDiff).describe('Passed in both, with another answer.'),
      newCases: z.array(z.string()),
      removedCases: z.array(z.string()),
      flaky: z.array(z.string()),
      unchanged: z.int(),
      counts: counts.describe('Lists are cut at 200; these are not.'),
    }),
  }),
  baselines: route('GET', '/evals/baselines', {
    summary: 'Accepted figures, newest first.',
    answer: z.object({ items: z.array(ListedBaseline) }),
  }),
  shadow: route('GET', '/evals/shadow', {
    summary: 'What live recalls were like, day by day. Empty unless evalShadowModeEnabled is on.',
    answer: ShadowReport.extend({ isRecording: z.boolean() }),
  }),
}
