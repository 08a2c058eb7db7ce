import { codeOf } from '../../files/leftovers.ts'
import { packHashOf } from '../pack/manifest.ts'
import { type CaseFigures, summariseCases } from '../score/figures.ts'
import { casesOf } from '../store/case-log.ts'
import { type InvalidFiles, invalidFiles, packPath, readEnvironment, readManifest, scan } from '../store/documents.ts'
import type { Problem } from '../store/parse-artifact.ts'
import type { CaseResult, RunStatus, RunSummary } from '../store/schemas/run.ts'
import { isControlName } from '../system/system.ts'

/** The run that stands for a benchmark and a system, and why it is this one. */
export type ChosenRun = { readonly run: RunSummary; readonly why: string }

/** Which runs count at all: whole ones, of systems under test. */
export const counts = ({ filter, shard, role, system }: RunSummary): boolean =>
  filter === undefined && shard === undefined && role === undefined && !isControlName(system?.name ?? '')

/**
 * The run that decides about every benchmark and system of a store, and what could not be read. The latest finished run
 * is taken, completed or not; one that is still going on only where there is no other.
 */
export async function latestRuns(
  root: string,
): Promise<{ readonly chosen: readonly ChosenRun[]; readonly invalid: InvalidFiles }> {
  const { groups, invalid } = await runGroups(root)
  return { chosen: groups.map(chosenOf), invalid }
}

/** The runs that count, those of one benchmark and system together. */
export async function runGroups(
  root: string,
): Promise<{ readonly groups: readonly (readonly RunSummary[])[]; readonly invalid: InvalidFiles }> {
  const runs: RunSummary[] = []
  const invalid = invalidFiles()
  await scan(root, 'runs', ({ checked }) => {
    invalid.see(checked)
    if (checked.ok && counts(checked.value)) runs.push(checked.value)
  })
  const keyOf = ({ benchmarkId, system }: RunSummary): string => JSON.stringify([benchmarkId, system?.name ?? null])
  const groups = [...Map.groupBy(runs, keyOf)].sort(([one], [other]) => (one < other ? -1 : 1))
  return { groups: groups.map(([, group]) => group), invalid: invalid.found() }
}

/**
 * `runs` are all of one benchmark and system, at least one. A run that did not complete counts from its beginning,
 * because nobody knows when it ended; so it hides a completed run that began before it.
 */
export function chosenOf(runs: readonly RunSummary[]): ChosenRun {
  const latest = (...statuses: readonly RunStatus[]): RunSummary | undefined =>
    runs.filter(({ status }) => statuses.includes(status)).sort(newestFirst)[0]
  const [completed, ended, running] = [latest('completed'), latest('failed', 'partial'), latest('running')]
  const isEndedLater =
    ended !== undefined && (completed === undefined || Date.parse(ended.startedAt) > Date.parse(completed.startedAt))
  const run = isEndedLater ? ended : (completed ?? running)
  if (run === undefined) throw new Error('A group of runs has at least one.')
  if (run.status === 'running') return { run, why: 'no run is finished yet' }
  const finished = runs.filter(({ status }) => status !== 'running').length
  const why = finished === 1 ? 'the only finished run' : `the latest of ${finished} finished runs`
  return { run, why: running === undefined ? why : `${why}; ${running.runId} is still running and was left out` }
}

/** Equal times are decided by id, so that the order of reading does not matter. */
function newestFirst(one: RunSummary, other: RunSummary): number {
  const [mine, its] = [one, other].map((run) => Date.parse(run.completedAt ?? run.startedAt)) as [number, number]
  return its - mine || (one.runId < other.runId ? 1 : -1)
}

/** A run together with its cases, and every reason not to believe it. */
export type AuditedRun = {
  readonly run: RunSummary
  /** Null when the run kept no case records. */
  readonly results: readonly CaseResult[] | null
  readonly problems: readonly Problem[]
  /** That the run is not of the pack as it is now; it can be believed, but not compared. */
  readonly outdated: string | null
}

/**
 * Holds a run against its own case records and against the pack in the same store: counts must be the ones that the
 * records add up to, and the cases must be the pack's.
 */
export async function auditRun(root: string, run: RunSummary): Promise<AuditedRun> {
  const { records, problems } = await casesOf(root, run.runId)
  const hasRecords = records.length > 0 || problems.length > 0
  const figures = summariseCases(records)
  const pack = await checkedAgainstPack(root, run, hasRecords ? figures.results : null)
  return {
    run,
    results: hasRecords ? figures.results : null,
    problems: [...problems, ...(hasRecords ? countMismatches(run, figures) : []), ...pack.problems],
    outdated: pack.outdated,
  }
}

function countMismatches(run: RunSummary, figures: CaseFigures): readonly Problem[] {
  const file = `runs/${run.runId}.json`
  const derived: Readonly<Record<string, number>> = { totalCases: figures.results.length, ...figures.counts }
  const counts = Object.entries(derived).flatMap(([field, value]) => {
    const stated = run[field] ?? 0
    return stated === value ? [] : [{ file, field, message: `is ${stated}, but the case records add up to ${value}` }]
  })
  const metrics = Object.entries(figures.metrics).flatMap(([name, value]) => {
    const stated = run.metrics?.[name]
    if (stated !== undefined && Math.abs(stated - value) <= 1e-9) return []
    return [{ file, field: `metrics.${name}`, message: `is ${stated}, but the case records have the mean ${value}` }]
  })
  return [...counts, ...metrics]
}

type PackCheck = { readonly problems: readonly Problem[]; readonly outdated: string | null }

async function checkedAgainstPack(
  root: string,
  run: RunSummary,
  results: readonly CaseResult[] | null,
): Promise<PackCheck> {
  const manifest = readManifest(root, run.benchmarkId)
  // An invalid manifest is a finding of its own, and a store without packs has nothing to hold the run against.
  if (manifest === null || !manifest.ok) return { problems: [], outdated: null }
  const file = `runs/${run.runId}.json`
  const known = manifest.value.cases.length
  if (run.packHash === undefined) {
    if (results !== null || run.totalCases === known) return { problems: [], outdated: null }
    const message = `is ${run.totalCases}, but the pack in the store has ${known} cases`
    return { problems: [{ file, field: 'totalCases', message }], outdated: null }
  }
  try {
    const { packHash, packFiles } = await packHashOf(packPath(root, run.benchmarkId), manifest.value)
    // A run may rest on more than the pack, such as graders; what it took from the pack must be what is there.
    const environment = readEnvironment(root, run.runId)
    const taken = environment?.ok ? environment.value.packFiles : {}
    const isSame = Object.entries(packFiles).every(([file, digest]) => taken[file] === digest)
    if (packHash === run.packHash || isSame) return { problems: [], outdated: null }
    return { problems: [], outdated: `The run ${run.runId} was made before the pack in the store was changed.` }
  } catch (error) {
    const message = `cannot be checked, because a file of the pack cannot be read: ${codeOf(error) ?? String(error)}`
    return { problems: [{ file, field: 'packHash', message }], outdated: null }
  }
}
