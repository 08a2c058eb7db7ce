import { MemoryError } from '../../errors.ts'
import { dust } from '../compare/compare.ts'
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
import { nameOf, shown } from './gate.ts'
import { auditRun, chosenOf, runGroups } from './latest-runs.ts'

export type SnapshotRequest = {
  readonly snapshotId: string
  readonly createdAt: string
  /** How the store is called in the snapshot; it may be committed, so a relative path is best. */
  readonly sourceRootDir: string
  readonly notes?: string | undefined
  readonly gitRef?: string | undefined
  /** Whose runs are taken; without it, those of every system but the controls. */
  readonly system?: string | undefined
  readonly force?: boolean
  /** Why a figure of the snapshot to be replaced may get worse. */
  readonly acceptLower?: string | undefined
}

export type SnapshotResult = {
  readonly targetPath: string
  readonly snapshot: BaselineSnapshot
  readonly overwritten: boolean
  readonly notes: readonly string[]
}

/**
 * Accepts the latest completed run of every benchmark and system under a name. Never replaces a snapshot unless forced, and never
 * lowers a figure of it without a reason, which the new snapshot then holds.
 */
export async function createSnapshot(root: string, request: SnapshotRequest): Promise<SnapshotResult> {
  const snapshotId = safeId(request.snapshotId, 'snapshotId')
  const { systems, lacking, invalid } = await completedRuns(root, request.system)
  const problems: Problem[] = [...invalid.problems]
  const notes: string[] = []
  const benchmarks: BaselineBenchmark[] = []
  for (const { name, completed, chosen } of systems) {
    if (chosen.status !== 'completed') {
      const instead = completed === undefined ? 'it is left out' : `${completed.runId} was taken instead`
      notes.push(`${name}: the latest run ${chosen.runId} is ${chosen.status}; ${instead}.`)
    }
    if (completed === undefined) continue
    const audited = await auditRun(root, completed)
    problems.push(...audited.problems)
    if (audited.outdated !== null) throw outdatedRun(completed.benchmarkId, audited.outdated)
    benchmarks.push(baselineOf(completed, audited.results))
  }
  if (request.system !== undefined) {
    notes.push(...lacking.map((id) => `${id}: ${request.system} has no completed run; it is left out.`))
  }
  refuseUnusable(problems, benchmarks)

  const existing = readBaseline(root, snapshotId)
  if (existing !== null && request.force !== true) throw exists(snapshotId)
  const acceptedLower = lowered(existing, benchmarks, request)
  const snapshot: BaselineSnapshot = {
    schemaVersion: 1,
    snapshotId,
    createdAt: request.createdAt,
    sourceRootDir: request.sourceRootDir,
    benchmarkCount: benchmarks.length,
    benchmarks,
    ...(request.notes === undefined ? {} : { notes: request.notes }),
    ...(request.gitRef === undefined ? {} : { gitRef: request.gitRef }),
    ...(acceptedLower.length === 0 ? {} : { acceptedLower: [...acceptedLower] }),
  }
  if (!(await writeBaseline(root, snapshot, existing !== null))) throw exists(snapshotId)
  return { targetPath: baselinePath(root, snapshotId), snapshot, overwritten: existing !== null, notes }
}

/** Of every benchmark and system the run that the gate would take, and the latest that is completed. */
async function completedRuns(root: string, system: string | undefined) {
  const { groups, invalid } = await runGroups(root)
  const systems = groups
    .filter(([first]) => system === undefined || first?.system?.name === system)
    .map((runs) => {
      const { run: chosen } = chosenOf(runs)
      const done = runs.filter(({ status }) => status === 'completed')
      const completed = done.length === 0 ? undefined : chosenOf(done).run
      return { name: nameOf({ ...chosen, system: chosen.system?.name ?? null }), chosen, completed }
    })
  const found = new Set(systems.flatMap(({ completed }) => completed?.benchmarkId ?? []))
  const lacking = [...new Set(groups.flatMap(([first]) => first?.benchmarkId ?? []))].filter((id) => !found.has(id))
  return { systems, lacking, invalid }
}

/** The figures of a run, without its cases' texts. */
export function baselineOf(run: RunSummary, results: readonly CaseResult[] | null): BaselineBenchmark {
  const { benchmarkId, runId, completedAt, gitRef, metrics, totalCases, passedCases, errorCases } = run
  const { packHash, system, seed, repeats, deterministic, metricDeclarations } = run
  const optional = { completedAt, gitRef, metrics, errorCases, packHash, system, seed, repeats, deterministic }
  return {
    benchmarkId,
    runId,
    passRate: passedCases / totalCases,
    totalCases,
    passedCases,
    ...withoutUndefined({ ...optional, metricDeclarations, caseResults: results?.map(withoutNulls) }),
  }
}

/** What does not apply to a case need not be kept: absent means the same. */
function withoutNulls({ id, verdict, scores = {} }: CaseResult): CaseResult {
  const applying = Object.entries(scores).filter(([, score]) => score !== null)
  return applying.length === 0 ? { id, verdict } : { id, verdict, scores: Object.fromEntries(applying) }
}

function refuseUnusable(problems: readonly Problem[], benchmarks: readonly BaselineBenchmark[]): void {
  const [first, ...rest] = problems
  if (first !== undefined) {
    const more = rest.length === 0 ? '' : ` and ${rest.length} more`
    throw new MemoryError('invalid', `The runs are not fit to be a baseline. ${problemText(first)}${more}.`, {
      hint: 'Repeat the run, or remove the file.',
    })
  }
  if (benchmarks.length > 0) return
  throw new MemoryError('not_found', 'There is no completed run to take a snapshot of.', {
    hint: 'Run a benchmark first: `credence benchmark run ID`.',
  })
}

type Lowered = Pick<AcceptedLower, 'benchmarkId' | 'system' | 'figure' | 'from' | 'to'>

/** What would get worse, with the reason given for it; throws when there is none. */
function lowered(
  existing: Found<BaselineSnapshot>,
  benchmarks: readonly BaselineBenchmark[],
  { acceptLower, snapshotId }: SnapshotRequest,
): readonly AcceptedLower[] {
  if (existing === null) return []
  const reason = acceptLower?.trim() ?? ''
  if (!existing.ok) {
    if (reason !== '') return []
    throw new MemoryError(
      'invalid',
      `The baseline to be replaced is not valid. ${problemText(existing.problems[0])}.`,
      {
        hint: 'What it held cannot be compared. Replace it anyway with --accept-lower "reason".',
      },
    )
  }
  const falls = existing.value.benchmarks.flatMap((before) => fallsOf(before, successorOf(before, benchmarks)))
  if (falls.length === 0) return []
  if (reason === '') {
    const lines = falls.map(({ benchmarkId, system = null, figure, from, to }) => {
      const name = nameOf({ benchmarkId, system })
      return to === null ? `${name} loses ${figure}` : `${name} ${figure} goes from ${shown(from)} to ${shown(to)}`
    })
    throw new MemoryError('conflict', `The baseline "${snapshotId}" would get worse: ${lines.join('; ')}.`, {
      hint: 'If that is meant, say why with --accept-lower "reason".',
    })
  }
  return falls.map((fall) => ({ ...fall, reason }))
}

/** The same benchmark on the same system, or on any where the old snapshot does not say. */
const successorOf = (before: BaselineBenchmark, after: readonly BaselineBenchmark[]): BaselineBenchmark | null =>
  after.find(
    ({ benchmarkId, system }) =>
      benchmarkId === before.benchmarkId && (before.system === undefined || system?.name === before.system.name),
  ) ?? null

function fallsOf(before: BaselineBenchmark, after: BaselineBenchmark | null): readonly Lowered[] {
  const { benchmarkId, passRate, metrics = {}, metricDeclarations = [], system } = before
  const named = { benchmarkId, ...(system === undefined ? {} : { system: system.name }) }
  const figures: readonly (readonly [string, number, number | null])[] = [
    ['passRate', passRate, after?.passRate ?? null],
    ...Object.entries(metrics).map(([name, value]) => [name, value, after?.metrics?.[name] ?? null] as const),
  ]
  return figures.flatMap(([figure, from, to]) => {
    const { direction } = metricSense(figure, metricDeclarations)
    const gain = to === null ? Number.NEGATIVE_INFINITY : direction === 'higher' ? to - from : from - to
    return gain >= -dust ? [] : [{ ...named, figure, from, to }]
  })
}

const outdatedRun = (benchmarkId: string, why: string): MemoryError =>
  new MemoryError('conflict', `${benchmarkId}: ${why}`, {
    hint: `Run it again: \`credence benchmark run ${benchmarkId}\`.`,
  })

const exists = (snapshotId: string): MemoryError =>
  new MemoryError('conflict', `A baseline "${snapshotId}" exists already.`, { hint: 'Add --force to replace it.' })

type Present<Values> = { [Name in keyof Values]?: Exclude<Values[Name], undefined> }

function withoutUndefined<Values extends object>(values: Values): Present<Values> {
  // Only keys whose value is undefined are left out, which is what the type says.
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Present<Values>
}
