import { z } from 'zod'
import { figureVerdicts } from '../../eval/compare/compare.ts'
import { stages } from '../../eval/compare/diff.ts'
import { BaselineSnapshot, CaseRecord, Environment, RunSummary, Verdict } from '../../eval/store/schemas/run.ts'

export { CaseRecord, Environment, RunSummary, Verdict }

export const Interval = z.object({ low: z.number(), high: z.number() })

/** A run with what a plot needs. */
export const ListedRun = z.object({
  run: RunSummary,
  passRate: z.number().nullable().describe('Null when the run has no cases.'),
  passInterval: Interval.nullable().describe('Where the true pass rate lies with 95 % confidence (Wilson).'),
})

/** `passed`: all cases of the run that decides passed. `unfinished`: that run did not complete, or is still going on. */
export const packVerdicts = ['passed', 'failed', 'unfinished', 'not run'] as const

export const ListedPack = z.object({
  id: z.string(),
  title: z.string(),
  description: z.string().nullable(),
  tags: z.array(z.string()),
  benchmarkType: z.string(),
  cases: z.int(),
  source: z.enum(['store', 'shipped']),
  isRunnable: z.boolean(),
  system: z
    .string()
    .nullable()
    .describe('The system that the verdict is about; controls and parts of runs never count.'),
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

export const CaseDiff = z.object({
  id: z.string(),
  base: Verdict,
  candidate: Verdict,
  firstStage: z.enum(stages).nullable(),
  returned: z.array(
    z.object({ id: z.string(), tier: z.string(), from: z.number().nullable(), to: z.number().nullable() }),
  ),
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

export const ShadowReport = z.object({
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
