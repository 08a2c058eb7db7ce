import { z } from 'zod'
import {
  ContentHash,
  Count,
  MetricDeclaration,
  MetricName,
  Metrics,
  reportDuplicates,
  SafeId,
  SchemaVersion,
  SystemIdentity,
  Timestamp,
  Words,
} from './primitives.ts'

/** `error`: the case failed to run. `skipped`: left out on purpose. `unjudged`: answered, but not graded. */
export const verdicts = ['pass', 'fail', 'error', 'skipped', 'unjudged'] as const
export const CaseVerdict = z.enum(verdicts)
export type CaseVerdict = (typeof verdicts)[number]

/** A score is null if it does not apply to the case; means and comparisons ignore it. */
const Scores = z.record(MetricName, z.number().nullable())

const ReturnedItem = z.looseObject({
  id: z.string().min(1),
  score: z.number().nullable().describe('Null for a system that does not score.'),
  rank: z.int().positive(),
  tier: Words.optional().describe('The part of the answer that contained it.'),
})

/** The record of one repeat of one case: one line of `cases.jsonl`. */
export const CaseRecord = z
  .looseObject({
    schemaVersion: SchemaVersion,
    caseId: SafeId,
    repeat: Count.describe('0 is the first.'),
    seed: z.int(),
    cluster: Words.optional().describe('Cases of one cluster, such as one conversation, are not independent.'),
    verdict: CaseVerdict,
    scores: Scores,
    returned: z.array(ReturnedItem),
    failures: z.array(z.string()).describe('What was expected and did not happen, in sentences for a person.'),
    timings: z.record(MetricName, z.number().nonnegative()).describe('Milliseconds by stage.'),
    explanation: z.unknown().optional().describe("How the answer was reached, in the system's own terms."),
    error: z.looseObject({ class: Words, message: z.string() }).optional(),
  })
  .superRefine((record, context) => {
    const issue = (field: string, message: string) => context.addIssue({ code: 'custom', path: [field], message })
    if (record.verdict === 'error' && record.error === undefined)
      issue('error', 'must be there when the verdict is error')
    if (record.verdict !== 'error' && record.error !== undefined)
      issue('error', 'must not be there unless the verdict is error')
    if (record.verdict === 'pass' && record.failures.length > 0)
      issue('failures', 'must be empty when the verdict is pass')
  })

export type CaseRecord = z.infer<typeof CaseRecord>

/** The fields of runs and baselines that identify the run. */
const identity = {
  benchmarkId: SafeId,
  runId: SafeId,
  completedAt: Timestamp.optional(),
  gitRef: z.string().optional(),
  metrics: Metrics.optional(),
  packHash: ContentHash.optional(),
  system: SystemIdentity.optional(),
  seed: z.int().optional(),
  repeats: z.int().positive().optional(),
  deterministic: z.boolean().optional(),
  metricDeclarations: z.array(MetricDeclaration).optional(),
}

export const runStatuses = ['running', 'completed', 'failed', 'partial'] as const
export type RunStatus = (typeof runStatuses)[number]

/** Cases that were not measured are counted separately from passed and failed ones. */
const otherCounts = ['errorCases', 'skippedCases', 'unjudgedCases', 'pendingCases'] as const

const Interval = z.looseObject({ low: z.number(), high: z.number() })
const Latency = z.looseObject({
  p50Ms: z.number().nonnegative(),
  p95Ms: z.number().nonnegative(),
  ingestMs: z.number().nonnegative().optional(),
})

export const RunSummary = z
  .looseObject({
    schemaVersion: SchemaVersion,
    ...identity,
    status: z.enum(runStatuses),
    startedAt: Timestamp,
    totalCases: Count,
    passedCases: Count,
    failedCases: Count,
    errorCases: Count.optional().describe('The system or the harness broke.'),
    skippedCases: Count.optional().describe('Left out on purpose.'),
    unjudgedCases: Count.optional().describe('Answered, but nothing could tell whether it is right.'),
    pendingCases: Count.optional().describe('Not reached yet.'),
    flakyCases: Count.optional().describe('Passed in some repeats and failed in others; counted as failed too.'),
    intervals: z.record(MetricName, Interval).optional().describe('The 95 % confidence interval of each metric.'),
    latency: Latency.optional().describe('Not compared unless the pack declares it as a metric.'),
    notes: z.string().optional(),
    notices: z.array(z.string()).optional().describe('Beliefs that the system could not store unchanged.'),
    // A run with `filter`, `editedAt` or `role` is never a baseline and never gated.
    filter: Words.optional().describe('Set when only some cases were wanted. Never gated.'),
    editedAt: Timestamp.optional().describe('Set when forgotten texts were removed from the records. Never gated.'),
    seal: ContentHash.optional().describe('The hash of the summary, the case records and environment.json.'),
    sealed: z
      .looseObject({ hash: ContentHash, sealedAt: Timestamp, look: Count, maxRuns: Count })
      .optional()
      .describe('The seal of a sealed set, and how many runs had been made on it, this one included.'),
    role: z.enum(['control', 'ablation']).optional().describe('A run that measures the cases. Never gated.'),
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

/** The environment of a run: enough to repeat the run, and to decide whether it may be compared with another. */
export const RunEnvironment = z.looseObject({
  schemaVersion: SchemaVersion,
  runId: SafeId,
  benchmarkId: SafeId,
  recordedAt: Timestamp,
  packHash: ContentHash,
  packFiles: z.record(z.string(), ContentHash).describe("The digest of each file behind the pack's hash."),
  system: SystemIdentity,
  given: z.record(z.string(), z.unknown()).describe('The options as they were given.'),
  settings: z.record(z.string(), z.unknown()).describe('The settings the run was really made with, defaults included.'),
  seed: z.int(),
  git: z.looseObject({ commit: Words, dirty: z.boolean() }).nullable().describe('Null outside a repository.'),
  node: Words,
  sealed: z.boolean().optional().describe('Whether the summary has a seal once the run has ended.'),
  os: z.looseObject({ platform: Words, release: Words, arch: Words }),
})

export type RunEnvironment = z.infer<typeof RunEnvironment>

/** The verdict and scores of one case, without its texts. */
export const CaseResult = z.looseObject({ id: SafeId, verdict: CaseVerdict, scores: Scores.optional() })
export type CaseResult = z.infer<typeof CaseResult>

/** Tolerance for rounding errors. */
const dust = 1e-9

export const BaselineBenchmark = z
  .looseObject({
    ...identity,
    passRate: z.number().min(0).max(1),
    totalCases: Count.optional(),
    passedCases: Count.optional(),
    errorCases: Count.optional(),
    judgedCases: Count.optional().describe('Neither skipped nor unjudged, where there are no caseResults.'),
    caseResults: z.array(CaseResult).optional(),
  })
  .superRefine((benchmark, context) => {
    const { passRate, totalCases, passedCases, caseResults } = benchmark
    const issue = (field: string, message: string, input?: unknown) =>
      context.addIssue({ code: 'custom', path: [field], message, input })
    if (totalCases !== undefined && passedCases !== undefined) {
      if (totalCases === 0 || passedCases > totalCases) {
        issue('passedCases', `must not exceed totalCases, which is ${totalCases} and must be at least 1`, passedCases)
      } else if (Math.abs(passedCases / totalCases - passRate) > dust) {
        issue('passRate', `must equal passedCases / totalCases, which is ${passedCases / totalCases}`, passRate)
      }
    }
    if (caseResults === undefined) return
    reportDuplicates(context, ['caseResults'], caseResults, 'id')
    const passed = caseResults.filter(({ verdict }) => verdict === 'pass').length
    if (totalCases !== undefined && totalCases !== caseResults.length) {
      issue('totalCases', `must be the number of caseResults, which is ${caseResults.length}`, totalCases)
    }
    if (passedCases !== undefined && passedCases !== passed) {
      issue('passedCases', `must be the number of passed caseResults, which is ${passed}`, passedCases)
    }
  })

/** A figure that was allowed to fall when the snapshot was replaced, with the reason. */
export const AcceptedLower = z.looseObject({
  benchmarkId: SafeId,
  system: Words.optional(),
  figure: MetricName,
  from: z.number(),
  to: z.number().nullable(),
  reason: Words,
})

/** The accepted figures under a name, for comparing later runs. Each benchmark and system occurs once. */
export const BaselineSnapshot = z
  .looseObject({
    schemaVersion: SchemaVersion,
    snapshotId: SafeId,
    createdAt: Timestamp,
    sourceRootDir: Words,
    benchmarkCount: Count,
    benchmarks: z.array(BaselineBenchmark),
    notes: z.string().optional(),
    gitRef: z.string().optional(),
    acceptedLower: z.array(AcceptedLower).optional(),
  })
  .superRefine((snapshot, context) => {
    const named = snapshot.benchmarks.map(({ benchmarkId, system }) => ({
      benchmarkId: system === undefined ? benchmarkId : `${benchmarkId}, ${system.name}`,
    }))
    reportDuplicates(context, ['benchmarks'], named, 'benchmarkId')
    if (snapshot.benchmarkCount === snapshot.benchmarks.length) return
    const message = `must be the number of benchmarks, which is ${snapshot.benchmarks.length}`
    context.addIssue({ code: 'custom', path: ['benchmarkCount'], message, input: snapshot.benchmarkCount })
  })

export type AcceptedLower = z.infer<typeof AcceptedLower>
export type BaselineBenchmark = z.infer<typeof BaselineBenchmark>
export type BaselineSnapshot = z.infer<typeof BaselineSnapshot>
