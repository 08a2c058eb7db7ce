import { existsSync, statSync } from 'node:fs'
import { type DeltaReport, deltaReport, type Reference } from '../report/delta-report.ts'
import { figuresOfRun } from '../score/figures.ts'
import {
  collectInvalidFiles,
  type InvalidFiles,
  readBaseline,
  readEnvironment,
  requireBaseline,
  type StoreTree,
  scan,
  storeTrees,
  treePath,
} from '../store/documents.ts'
import { type Problem, problemText } from '../store/parse-artifact.ts'
import type { BaselineSnapshot, RunSummary } from '../store/schemas/run.ts'
import {
  baselineSide,
  type GateReason,
  invalidReason,
  type JudgeOptions,
  judge,
  type Side,
  type Standing,
  storeReason,
} from './gate.ts'
import { auditRun, chooseRun, type ExplainedRun, runGroups } from './latest-runs.ts'

/** The name of the snapshot that a gate compares with by default. */
export const requiredSnapshot = 'required-main'

type GateRequest = JudgeOptions & {
  readonly base: string
  readonly candidate: string
  /** Default: the base's `required-main`, else its latest runs, else the candidate's `required-main`. */
  readonly snapshotId?: string | undefined
  /** Accept a base without a store. Must be explicit, because a mistyped path looks the same. */
  readonly bootstrap?: boolean
  readonly requireCleanTree?: boolean
  /** The current time. Runs with a later date are invalid. If undefined, dates are not checked. */
  readonly now?: Date | undefined
}

/**
 * Decides by the base's snapshot whether the candidate store may replace the base store. The candidate's own snapshot is used only if
 * the base has none, and then together with any runs of the base, so that it cannot hide a regression. Fails closed: data that cannot be
 * read or compared is a reason not to pass.
 */
export async function gateStores(request: GateRequest): Promise<DeltaReport> {
  const { base, candidate, acceptedChanges = {}, requireCleanTree = false, now } = request
  const about = { baseRootDir: base, candidateRootDir: candidate }
  if (!isDirectory(candidate)) {
    const next = 'Check the path; `credence benchmark run PACK --evals DIRECTORY` creates a store.'
    const absent = storeReason('invalid', `The candidate has no eval store at ${candidate}.`, next)
    const judgement = judge({ standings: [], reasons: [absent] }, nothing)
    return deltaReport([judgement], { ...about, reference: null, invalid: { candidate: noneInvalid } })
  }
  const { sides, reference, invalid } = await resolveBase(request)
  const theirs = await storeSide(candidate, 'candidate', { requireCleanTree, now })
  return deltaReport(
    sides.map((side) => judge(side, theirs, { acceptedChanges })),
    { ...about, reference, invalid: { candidate: theirs.invalid, ...(invalid === null ? {} : { base: invalid }) } },
  )
}

/** Compares the latest runs of a store with a snapshot of the same store. */
export async function reportAgainstBaseline(
  root: string,
  snapshotId: string,
  { now, ...options }: JudgeOptions & Pick<GateRequest, 'now'> = {},
): Promise<DeltaReport> {
  const found = requireBaseline(root, snapshotId)
  const candidate = await storeSide(root, 'store', { now })
  // An invalid snapshot is already listed in the invalid documents of the store.
  const { sides, reference } = found.ok ? baseFrom(found.value, 'base') : { sides: [nothing], reference: null }
  return deltaReport(
    sides.map((base) => judge(base, candidate, options)),
    { reference, baseRootDir: null, candidateRootDir: root, invalid: { candidate: candidate.invalid } },
  )
}

/** The sides to compare a candidate with: at least one. Each is judged separately. */
type ResolvedBase = {
  readonly sides: readonly Side[]
  readonly reference: Reference
  /** The invalid documents in the base's store; null if only its snapshot was read. */
  readonly invalid: InvalidCounts | null
}

async function resolveBase(request: GateRequest): Promise<ResolvedBase> {
  const { base, candidate, bootstrap = false } = request
  const snapshotId = request.snapshotId ?? requiredSnapshot
  if (existsSync(base) && !isDirectory(base))
    return blockedBase([storeReason('invalid', `The base ${base} is not a directory.`, 'Check the path.')])
  if (!storeTrees.some((tree) => isDirectory(treePath(base, tree)))) {
    if (bootstrap) return resolveOwnBase(candidate, snapshotId)
    const next = 'Check the path; if the base has none yet, add --bootstrap.'
    return blockedBase([storeReason('cannot tell', `The base has no eval store at ${base}.`, next)])
  }
  const found = readBaseline(base, snapshotId)
  if (found !== null) return found.ok ? baseFrom(found.value, 'base') : brokenBase(found.problems, 'base')
  const runs = await storeSide(base, 'base', { now: request.now })
  const isEmpty = runs.standings.length === 0 && runs.reasons.length === 0
  if (isEmpty) return resolveOwnBase(candidate, snapshotId)
  if (request.snapshotId === undefined) return { sides: [runs], reference: null, invalid: runs.invalid }
  const { sides, reference } = resolveOwnBase(candidate, snapshotId)
  return { sides: [runs, ...sides], reference, invalid: runs.invalid }
}

function resolveOwnBase(candidate: string, snapshotId: string): ResolvedBase {
  const found = readBaseline(candidate, snapshotId)
  if (found !== null) return found.ok ? baseFrom(found.value, 'candidate') : brokenBase(found.problems, 'candidate')
  const line = `Neither the base nor the candidate has a baseline "${snapshotId}".`
  const next = `Accept figures first: \`credence benchmark snapshot --snapshot-id ${snapshotId}\`.`
  return blockedBase([storeReason('cannot tell', line, next)])
}

const baseFrom = (snapshot: BaselineSnapshot, resolvedFrom: 'base' | 'candidate'): ResolvedBase => ({
  sides: [baselineSide(snapshot)],
  reference: { snapshot, resolvedFrom },
  invalid: null,
})

const nothing: Side = { standings: [], reasons: [] }

const blockedBase = (reasons: readonly GateReason[]): ResolvedBase => ({
  sides: [{ standings: [], reasons }],
  reference: null,
  invalid: null,
})

const brokenBase = (problems: readonly Problem[], side: string): ResolvedBase =>
  blockedBase(problems.map((problem) => invalidReason(problem, side)))

const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** The number of invalid documents in each folder. */
export type InvalidCounts = Readonly<Record<'benchmarks' | 'runs' | 'shadows' | 'baselines', number>>
const noneInvalid: InvalidCounts = { benchmarks: 0, runs: 0, shadows: 0, baselines: 0 }

/** A store's latest runs as one side of the gate. `name` means this side in reasons. Every invalid document is a reason not to pass. */
async function storeSide(
  root: string,
  name: string,
  { requireCleanTree = false, now }: Pick<GateRequest, 'requireCleanTree' | 'now'> = {},
): Promise<Side & { readonly invalid: InvalidCounts }> {
  const { groups, leftOut, invalid: runs } = await runGroups(root)
  const standings: Standing[] = []
  for (const group of groups) standings.push(await examineRun(root, chooseRun(group), { name, requireCleanTree, now }))
  const benchmarks = await findInvalidFiles(root, 'benchmarks')
  const shadows = await findInvalidFiles(root, 'shadow')
  const baselines = await findInvalidFiles(root, 'baselines')
  const counts = { benchmarks: benchmarks.count, runs: runs.count, shadows: shadows.count, baselines: baselines.count }
  const reasons = [benchmarks, runs, shadows, baselines].flatMap((files) => invalidReasons(files, name))
  return { standings, leftOut, reasons, invalid: counts }
}

async function examineRun(
  root: string,
  { run, why }: ExplainedRun,
  { name, requireCleanTree, now }: Pick<GateRequest, 'requireCleanTree' | 'now'> & { readonly name: string },
): Promise<Standing> {
  const { benchmarkId, runId, status } = run
  const about = { benchmarkId, system: run.system?.name ?? null, taken: { runId, status, why } }
  const misdated = now === undefined ? [] : futureReasons(run, now)
  if (status !== 'completed') return { ...about, figures: null, problems: misdated, outdated: null }
  const { results, problems, outdated } = await auditRun(root, run)
  const contradictions = problems.map((problem) => `invalid in the ${name}: ${problemText(problem)}`)
  const unclean = requireCleanTree ? uncleanReasons(root, run) : []
  const doubts = [...misdated, ...contradictions, ...unclean]
  return { ...about, figures: figuresOfRun(run, results), problems: doubts, outdated }
}

async function findInvalidFiles(root: string, tree: StoreTree): Promise<InvalidFiles> {
  const invalid = collectInvalidFiles()
  await scan(root, tree, ({ checked }) => invalid.see(checked))
  return invalid.found()
}

function invalidReasons({ count, problems }: InvalidFiles, side: string): readonly GateReason[] {
  const more = count - new Set(problems.map(({ file }) => file)).size
  const rest = more > 0 ? [{ file: `${more} more files`, field: '', message: 'of the same kind' }] : []
  return [...problems, ...rest].map((problem) => invalidReason(problem, side))
}

/** The largest accepted difference between the clocks of two machines. */
const clockToleranceMs = 24 * 60 * 60 * 1000

/** Rejects a run dated in the future: it would count as the latest run until that date. */
function futureReasons({ runId, completedAt, startedAt }: RunSummary, now: Date): readonly string[] {
  const at = completedAt ?? startedAt
  if (Date.parse(at) <= now.getTime() + clockToleranceMs) return []
  return [`the run ${runId} is dated ${at}, which is in the future; remove it, because it hides every later run`]
}

function uncleanReasons(root: string, { runId }: RunSummary): readonly string[] {
  const environment = readEnvironment(root, runId)
  const git = environment?.ok ? environment.value.git : null
  if (git !== null && !git.dirty) return []
  const reason = git === null ? 'does not say which commit it was made from' : 'was made with uncommitted changes'
  return [`the run ${runId} ${reason}`]
}
