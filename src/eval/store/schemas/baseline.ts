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
import { Scores, Verdict } from './run.ts'

/** How one case ended, without the case. */
export const CaseResult = z.looseObject({ id: SafeId, verdict: Verdict, scores: Scores.optional() })
export type CaseResult = z.infer<typeof CaseResult>

/** Equal but for the last bits. */
const dust = 1e-9

/** The accepted figures of one benchmark. */
export const BaselineBenchmark = z
  .looseObject({
    benchmarkId: SafeId,
    runId: SafeId,
    completedAt: Timestamp.optional(),
    gitRef: z.string().optional(),
    passRate: z.number().min(0).max(1),
    metrics: Metrics.optional(),
    totalCases: Count.optional(),
    passedCases: Count.optional(),
    errorCases: Count.optional(),
    packHash: ContentHash.optional(),
    system: SystemIdentity.optional(),
    seed: z.int().optional(),
    repeats: z.int().positive().optional(),
    deterministic: z.boolean().optional(),
    metricDeclarations: z.array(MetricDeclaration).optional(),
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

/** A figure that was allowed to fall when the snapshot was replaced, and why. */
export const AcceptedLower = z.looseObject({
  benchmarkId: SafeId,
  system: Words.optional(),
  figure: MetricName,
  from: z.number(),
  to: z.number().nullable(),
  reason: Words,
})

/** Figures that were accepted under a name, to compare later runs with: of each benchmark and system once. */
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
