import { z } from 'zod'
import { reportDuplicates } from './duplicates.ts'
import { MetricDeclaration } from './metric-declaration.ts'
import {
  ContentHash,
  Count,
  MetricName,
  Metrics,
  SafeId,
  SchemaVersion,
  SystemIdentity,
  Timestamp,
  Words,
} from './primitives.ts'

export const runStatuses = ['running', 'completed', 'failed', 'partial'] as const
export type RunStatus = (typeof runStatuses)[number]

/** Counted apart from passed and failed, so that what was not measured never looks like a zero. */
const otherCounts = ['errorCases', 'skippedCases', 'unjudgedCases', 'pendingCases'] as const

export const Latency = z.looseObject({
  p50Ms: z.number().nonnegative(),
  p95Ms: z.number().nonnegative(),
  ingestMs: z.number().nonnegative().optional(),
})

/** What one execution of a benchmark came to. */
export const RunSummary = z
  .looseObject({
    schemaVersion: SchemaVersion,
    runId: SafeId,
    benchmarkId: SafeId,
    status: z.enum(runStatuses),
    startedAt: Timestamp,
    completedAt: Timestamp.optional(),
    totalCases: Count,
    passedCases: Count,
    failedCases: Count,
    errorCases: Count.optional().describe('The system or the harness broke.'),
    skippedCases: Count.optional().describe('Left out on purpose.'),
    unjudgedCases: Count.optional().describe('Answered, but nothing could tell whether it is right.'),
    pendingCases: Count.optional().describe('Not reached yet.'),
    flakyCases: Count.optional().describe('Passed in some repeats and failed in others; counted as failed too.'),
    metrics: Metrics.optional(),
    intervals: z
      .record(MetricName, z.looseObject({ low: z.number(), high: z.number() }))
      .optional()
      .describe('Where each metric lies with 95 % confidence: its mean over cases and 1.96 standard errors.'),
    latency: Latency.optional().describe(
      'Time is measured but not compared unless the pack declares it as a metric: it differs between machines.',
    ),
    notes: z.string().optional(),
    gitRef: z.string().optional(),
    packHash: ContentHash.optional(),
    system: SystemIdentity.optional(),
    seed: z.int().optional(),
    repeats: z.int().positive().optional(),
    deterministic: z.boolean().optional(),
    filter: Words.optional().describe(
      'Set when only some cases were wanted. Such a run is never a baseline and never gated.',
    ),
    shard: z
      .looseObject({ index: z.int().positive(), count: z.int().positive() })
      .optional()
      .describe(
        'Set when only a part of the cases was run, to be merged. Such a run is never a baseline and never gated.',
      ),
    role: z
      .enum(['control', 'ablation'])
      .optional()
      .describe(
        'Set when the run shows what the cases are worth, and not what a memory is. Such a run is never gated.',
      ),
    metricDeclarations: z.array(MetricDeclaration).optional(),
  })
  .superRefine((run, context) => {
    const issue = (field: string, message: string, input?: unknown) =>
      context.addIssue({ code: 'custom', path: [field], message, input })
    reportDuplicates(context, ['metricDeclarations'], run.metricDeclarations ?? [], 'name')

    const counted = run.passedCases + run.failedCases + otherCounts.reduce((sum, name) => sum + (run[name] ?? 0), 0)
    const isComplete = run.status === 'completed' || otherCounts.some((name) => run[name] !== undefined)
    if (counted > run.totalCases || (isComplete && counted !== run.totalCases)) {
      const parts = ['passedCases', 'failedCases', ...otherCounts.filter((name) => run[name] !== undefined)]
      issue('totalCases', `must equal ${parts.join(' + ')}, which is ${counted}`, run.totalCases)
    }
    if ((run.flakyCases ?? 0) > run.failedCases) {
      issue('flakyCases', `must not exceed failedCases, which is ${run.failedCases}`, run.flakyCases)
    }
    if (run.status !== 'completed') return
    if (run.totalCases === 0) issue('totalCases', 'must be at least 1 in a completed run', 0)
    if (run.pendingCases !== undefined && run.pendingCases > 0) {
      issue('pendingCases', 'must be 0 in a completed run', run.pendingCases)
    }
    if (run.completedAt === undefined) issue('completedAt', 'must be there in a completed run')
    else if (Date.parse(run.completedAt) < Date.parse(run.startedAt)) {
      issue('completedAt', `must not be before startedAt, which is ${run.startedAt}`, run.completedAt)
    }
  })

export type RunSummary = z.infer<typeof RunSummary>
