import { statSync } from 'node:fs'
import { MemoryError } from '../../errors.ts'
import { type DeltaReport, deltaReport, type Reference } from '../report/delta-report.ts'
import { figuresOfRun } from '../score/figures.ts'
import {
  type InvalidFiles,
  invalidFiles,
  readBaseline,
  readEnvironment,
  type StoreTree,
  scan,
} from '../store/documents.ts'
import { type Problem, problemText } from '../store/parse-artifact.ts'
import type { RunSummary } from '../store/schemas/run.ts'
import {
  baselineSide,
  type GateReason,
  invalidReason,
  type JudgeOptions,
  judge,
  type Side,
  type Standing,
} from './gate.ts'
import { auditRun, type ChosenRun, latestRuns } from './latest-runs.ts'

/** The snapshot a gate looks for when none is named. */
export const requiredSnapshot = 'required-main'

export type GateRequest = JudgeOptions & {
  readonly base: string
  readonly candidate: string
  /** Without one: the base's `required-main`; else its latest runs; else the candidate's `required-main`. */
  readonly snapshotId?: string | undefined
  /** The base has no store at all yet. Must be said, because a mistyped path looks the same. */
  readonly bootstrap?: boolean
  readonly requireCleanTree?: boolean
}

/**
 * Decides whether the candidate store may follow the base store. The base's snapshot counts; the candidate's own only
 * where the base has never had one, and then beside the runs of the base, so that it hides no fall against them. Fails
 * closed: whatever cannot be read or compared is a reason not to pass.
 */
export async function gateStores(request: GateRequest): Promise<DeltaReport> {
  const { base, candidate, acceptedChanges = {}, requireCleanTree = false } = request
  const about = { baseRootDir: base, candidateRootDir: candidate }
  if (!isDirectory(candidate)) {
    const problem = { file: candidate, field: '(directory)', message: 'does not exist' }
    const judgement = judge({ ...nothing, reasons: [invalidReason(problem, 'candidate')] }, nothing)
    return deltaReport([judgement], { ...about, reference: { kind: 'nothing' }, invalid: { candidate: noneInvalid } })
  }
  const { sides, reference, invalid } = await resolveBase(request)
  const theirs = await storeSide(candidate, { name: 'candidate', requireCleanTree })
  const judgements = sides.map((side) => judge(side, theirs, { acceptedChanges }))
  return deltaReport(judgements, {
    ...about,
    reference,
    invalid: { candidate: theirs.invalid, ...(invalid === null ? {} : { base: invalid }) },
  })
}

/** Compares the latest runs of a store with a snapshot of the same store. */
export async function reportAgainstBaseline(
  root: string,
  snapshotId: string,
  options: JudgeOptions = {},
): Promise<DeltaReport> {
  const found = readBaseline(root, snapshotId)
  if (found === null) {
    throw new MemoryError('not_found', `There is no baseline "${snapshotId}" in ${root}.`, {
      hint: 'Make one with `credence benchmark snapshot --snapshot-id ID`.',
    })
  }
  // An invalid snapshot is among the invalid documents of the store already.
  const base = found.ok ? baselineSide(found.value) : nothing
  const candidate = await storeSide(root, { name: 'store' })
  const reference: Reference = found.ok
    ? { kind: 'snapshot', snapshot: found.value, resolvedFrom: 'base' }
    : { kind: 'nothing' }
  return deltaReport([judge(base, candidate, options)], {
    reference,
    baseRootDir: null,
    candidateRootDir: root,
    invalid: { candidate: candidate.invalid },
  })
}

/** What a candidate is held against: at least one side, each judged for itself. */
type ResolvedBase = {
  readonly sides: readonly Side[]
  readonly reference: Reference
  /** Of the base's store; null where only its snapshot was read. */
  readonly invalid: InvalidCounts | null
}

async function resolveBase(request: GateRequest): Promise<ResolvedBase> {
  const { base, candidate, bootstrap = false } = request
  const snapshotId = request.snapshotId ?? requiredSnapshot
  if (!isDirectory(base)) {
    if (bootstrap) return candidatesOwn(candidate, snapshotId)
    return blocked(
      `The base has no eval store at ${base}.`,
      'Check the path; where the base has none yet, add --bootstrap.',
    )
  }
  const found = readBaseline(base, snapshotId)
  if (found !== null && !found.ok) return unreadable(found.problems, 'base')
  if (found?.ok) {
    const reference = { kind: 'snapshot', snapshot: found.value, resolvedFrom: 'base' } as const
    return { sides: [baselineSide(found.value)], reference, invalid: null }
  }
  const runs = await storeSide(base, { name: 'base' })
  const isEmpty = runs.standings.length === 0 && runs.reasons.length === 0
  if (isEmpty) return candidatesOwn(candidate, snapshotId)
  if (request.snapshotId === undefined) return { sides: [runs], reference: { kind: 'store' }, invalid: runs.invalid }
  const { sides, reference } = candidatesOwn(candidate, snapshotId)
  return { sides: [runs, ...sides], reference, invalid: runs.invalid }
}

function candidatesOwn(candidate: string, snapshotId: string): ResolvedBase {
  const found = readBaseline(candidate, snapshotId)
  if (found === null) {
    const next = `Accept figures first: \`credence benchmark snapshot --snapshot-id ${snapshotId}\`.`
    return blocked(`Neither the base nor the candidate has a baseline "${snapshotId}".`, next)
  }
  if (!found.ok) return unreadable(found.problems, 'candidate')
  const reference = { kind: 'snapshot', snapshot: found.value, resolvedFrom: 'candidate' } as const
  return { sides: [baselineSide(found.value)], reference, invalid: null }
}

const nothing: Side = { standings: [], reasons: [] }
const noneInvalid: InvalidCounts = { benchmarks: 0, runs: 0, shadows: 0, baselines: 0 }

function blocked(line: string, next: string): ResolvedBase {
  const reason: GateReason = { kind: 'cannot tell', benchmarkId: null, system: null, line, next }
  return { sides: [{ ...nothing, reasons: [reason] }], reference: { kind: 'nothing' }, invalid: null }
}

function unreadable(problems: readonly Problem[], side: string): ResolvedBase {
  const reasons = problems.map((problem) => invalidReason(problem, side))
  return { sides: [{ ...nothing, reasons }], reference: { kind: 'nothing' }, invalid: null }
}

const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** How many documents of each tree are invalid. */
export type InvalidCounts = {
  readonly benchmarks: number
  readonly runs: number
  readonly shadows: number
  readonly baselines: number
}

export type StoreSide = Side & { readonly invalid: InvalidCounts }

export type StoreSideOptions = {
  /** What reasons call this side. */
  readonly name: string
  /** Refuse runs made from a tree with uncommitted changes, and those that do not say. */
  readonly requireCleanTree?: boolean
}

/** What the runs of a store stand for. Every invalid document is a reason against it. */
export async function storeSide(root: string, options: StoreSideOptions): Promise<StoreSide> {
  const { name, requireCleanTree = false } = options
  const runs = await latestRuns(root)
  const invalid = {
    benchmarks: await invalidIn(root, 'benchmarks'),
    runs: runs.invalid,
    shadows: await invalidIn(root, 'shadow'),
    baselines: await invalidIn(root, 'baselines'),
  }
  const standings: Standing[] = []
  for (const chosen of runs.chosen) standings.push(await standingOf(root, chosen, { name, requireCleanTree }))
  const counts = {
    benchmarks: invalid.benchmarks.count,
    runs: invalid.runs.count,
    shadows: invalid.shadows.count,
    baselines: invalid.baselines.count,
  }
  return { standings, reasons: Object.values(invalid).flatMap((files) => invalidReasons(files, name)), invalid: counts }
}

async function standingOf(
  root: string,
  { run, why }: ChosenRun,
  { name, requireCleanTree }: Required<StoreSideOptions>,
): Promise<Standing> {
  const { benchmarkId, runId, status } = run
  const about = { benchmarkId, system: run.system?.name ?? null, taken: { runId, status, why } }
  if (status !== 'completed') return { ...about, figures: null, problems: [], outdated: null }
  const { results, problems, outdated } = await auditRun(root, run)
  const contradictions = problems.map((problem) => `invalid in the ${name}: ${problemText(problem)}`)
  const unclean = requireCleanTree ? uncleanReasons(root, run) : []
  return { ...about, figures: figuresOfRun(run, results), problems: [...contradictions, ...unclean], outdated }
}

async function invalidIn(root: string, tree: StoreTree): Promise<InvalidFiles> {
  const invalid = invalidFiles()
  await scan(root, tree, ({ checked }) => invalid.see(checked))
  return invalid.found()
}

function invalidReasons({ count, problems }: InvalidFiles, side: string): readonly GateReason[] {
  const more = count - new Set(problems.map(({ file }) => file)).size
  const rest = more > 0 ? [{ file: `${more} more files`, field: '', message: 'of the same kind' }] : []
  return [...problems, ...rest].map((problem) => invalidReason(problem, side))
}

function uncleanReasons(root: string, { runId }: RunSummary): readonly string[] {
  const environment = readEnvironment(root, runId)
  const git = environment?.ok ? environment.value.git : null
  if (git !== null && !git.dirty) return []
  return [
    `the run ${runId} ${git === null ? 'does not say which commit it was made from' : 'was made with uncommitted changes'}`,
  ]
}
