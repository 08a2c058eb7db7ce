import { conflict, invalid, notFound } from '../../errors.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import { dust } from '../compare/compare.ts'
import { judgedCasesOf } from '../score/figures.ts'
import { metricSense } from '../score/metric-direction.ts'
import { baselinePath, type Found, readBaseline, safeId, writeBaseline } from '../store/documents.ts'
import { type Problem, problemText } from '../store/parse-artifact.ts'
import type {
  AcceptedLower,
  BaselineBenchmark,
  BaselineSnapshot,
  CaseResult,
  RunSummary,
} from '../store/schemas/run.ts'
import { formatFigure, runNameOf } from './gate.ts'
import { auditRun, chooseRun, runGroups } from './latest-runs.ts'

type SnapshotRequest = {
  readonly snapshotId: string
  readonly createdAt: string
  /** The path of the store, as recorded in the snapshot. Should be relative, because the snapshot may be committed. */
  readonly sourceRootDir: string
  readonly notes?: string | undefined
  readonly gitRef?: string | undefined
  /** Take only the runs of this system; by default, those of every system except the controls. */
  readonly system?: string | undefined
  readonly force?: boolean
  /** The reason for replacing a snapshot although a figure gets worse. */
  readonly acceptLower?: string | undefined
}

/** Stores the latest completed runs under a name. Replaces a snapshot only if forced, and lowers a figure only with a reason. */
export async function createSnapshot(root: string, request: SnapshotRequest) {
  const { createdAt, sourceRootDir, system, force = false, notes: remarks, gitRef } = request
  const snapshotId = safeId(request.snapshotId, 'snapshotId')
  const { groups, invalid } = await runGroups(root)
  const problems: Problem[] = [...invalid.problems]
  const notes: string[] = []
  const benchmarks: BaselineBenchmark[] = []
  for (const runs of groups.filter(([first]) => system === undefined || first?.system?.name === system)) {
    const { run: chosen } = chooseRun(runs)
    const done = runs.filter(({ status }) => status === 'completed')
    const completed = done.length === 0 ? undefined : chooseRun(done).run
    if (chosen.status !== 'completed') {
      const name = runNameOf({ ...chosen, system: chosen.system?.name ?? null })
      const instead = completed === undefined ? 'it is left out' : `${completed.runId} was used instead`
      notes.push(`${name}: the latest run ${chosen.runId} is ${chosen.status}; ${instead}.`)
    }
    if (completed === undefined) continue
    const audited = await auditRun(root, completed)
    problems.push(...audited.problems)
    if (audited.outdated !== null) {
      const hint = `Run it again: \`credence benchmark run ${completed.benchmarkId}\`.`
      throw conflict(`${completed.benchmarkId}: ${audited.outdated}`, hint)
    }
    benchmarks.push(baselineOf(completed, audited.results))
  }
  if (system !== undefined) {
    const known = new Set(groups.flatMap(([first]) => first?.benchmarkId ?? []))
    const lacking = [...known].filter((id) => !benchmarks.some(({ benchmarkId }) => benchmarkId === id))
    notes.push(...lacking.map((id) => `${id}: ${system} has no completed run; it is left out.`))
  }
  refuseUnusable(problems, benchmarks)

  const existing = readBaseline(root, snapshotId)
  const hint = 'Add --force to replace it.'
  const exists = conflict(`A baseline "${snapshotId}" exists already.`, hint)
  if (existing !== null && !force) throw exists
  const acceptedLower = acceptFalls(existing, benchmarks, request)
  const snapshot: BaselineSnapshot = {
    schemaVersion: 1,
    snapshotId,
    createdAt,
    sourceRootDir,
    benchmarkCount: benchmarks.length,
    benchmarks,
    ...omitUndefined({ notes: remarks, gitRef }),
    ...(acceptedLower.length === 0 ? {} : { acceptedLower }),
  }
  if (!(await writeBaseline(root, snapshot, existing !== null))) throw exists
  return { targetPath: baselinePath(root, snapshotId), snapshot, overwritten: existing !== null, notes }
}

/** The figures of a run, without the texts of its cases. */
function baselineOf(run: RunSummary, results: readonly CaseResult[] | null): BaselineBenchmark {
  const { benchmarkId, runId, completedAt, gitRef, metrics, totalCases, passedCases, errorCases } = run
  const { packHash, system, seed, repeats, deterministic, metricDeclarations } = run
  const optional = { completedAt, gitRef, metrics, errorCases, packHash, system, seed, repeats, deterministic }
  const caseResults = results?.map(withoutNulls)
  const judgedCases = results === null ? judgedCasesOf(run) : undefined
  return {
    benchmarkId,
    runId,
    passRate: passedCases / totalCases,
    totalCases,
    passedCases,
    ...omitUndefined({ ...optional, judgedCases, metricDeclarations, caseResults }),
  }
}

/** Omits scores that do not apply to the case: absent means the same as null. */
function withoutNulls({ id, verdict, scores = {} }: CaseResult): CaseResult {
  const applying = Object.entries(scores).filter(([, score]) => score !== null)
  return applying.length === 0 ? { id, verdict } : { id, verdict, scores: Object.fromEntries(applying) }
}

function refuseUnusable([first, ...rest]: readonly Problem[], benchmarks: readonly BaselineBenchmark[]): void {
  if (first !== undefined) {
    const more = rest.length === 0 ? '' : ` and ${rest.length} more`
    const hint = 'Repeat the run, or remove the file.'
    throw invalid(`The runs cannot be used as a baseline. ${problemText(first)}${more}.`, hint)
  }
  if (benchmarks.length > 0) return
  const hint = 'Run a benchmark first: `credence benchmark run ID`.'
  throw notFound('There is no completed run to take a snapshot of.', hint)
}

/** Returns the figures that get worse, with the reason for accepting them; throws if no reason was given. */
function acceptFalls(
  existing: Found<BaselineSnapshot>,
  benchmarks: readonly BaselineBenchmark[],
  { acceptLower, snapshotId }: SnapshotRequest,
): AcceptedLower[] {
  if (existing === null) return []
  const reason = acceptLower?.trim() ?? ''
  if (!existing.ok) {
    if (reason !== '') return []
    const message = `The baseline to be replaced is not valid. ${problemText(existing.problems[0])}.`
    const hint = 'Its figures cannot be compared. Replace it anyway with --accept-lower "reason".'
    throw invalid(message, hint)
  }
  const falls = existing.value.benchmarks.flatMap((before) => fallsOf(before, successorOf(before, benchmarks)))
  if (falls.length > 0 && reason === '') {
    const lines = falls.map(({ benchmarkId, system = null, figure, from, to }) => {
      const name = runNameOf({ benchmarkId, system })
      return to === null
        ? `${name} loses ${figure}`
        : `${name} ${figure} goes from ${formatFigure(from)} to ${formatFigure(to)}`
    })
    const hint = 'If this is intended, give the reason with --accept-lower "reason".'
    throw conflict(`The baseline "${snapshotId}" would get worse: ${lines.join('; ')}.`, hint)
  }
  return falls.map((fall) => ({ ...fall, reason }))
}

/** The new figures for the benchmark and system of `before`; for any system if `before` names none. */
const successorOf = (before: BaselineBenchmark, after: readonly BaselineBenchmark[]): BaselineBenchmark | undefined =>
  after.find(
    ({ benchmarkId, system }) =>
      benchmarkId === before.benchmarkId && (before.system === undefined || system?.name === before.system.name),
  )

function fallsOf(before: BaselineBenchmark, after: BaselineBenchmark | undefined) {
  const { benchmarkId, passRate, metrics = {}, metricDeclarations = [], system } = before
  const about = { benchmarkId, ...(system && { system: system.name }) }
  // Also compares counts, because the pass rate may hide removed cases and failures that became errors.
  const counts =
    after === undefined
      ? []
      : [
          ['totalCases', before.totalCases ?? 0, after.totalCases ?? 0] as const,
          ['errorCases', before.errorCases ?? 0, after.errorCases ?? 0] as const,
        ]
  const figures: readonly (readonly [string, number, number | null])[] = [
    ['passRate', passRate, after?.passRate ?? null],
    ...counts,
    ...Object.entries(metrics).map(([name, value]) => [name, value, after?.metrics?.[name] ?? null] as const),
  ]
  return figures.flatMap(([figure, from, to]) => {
    const { direction } = metricSense(figure, metricDeclarations)
    const gain = to === null ? Number.NEGATIVE_INFINITY : direction === 'higher' ? to - from : from - to
    return gain >= -dust ? [] : [{ ...about, figure, from, to }]
  })
}
