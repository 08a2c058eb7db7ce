import { codeOf } from '../../files/leftovers.ts'
import { packHashOf } from '../pack/manifest.ts'
import { sealText } from '../pack/sealed-set.ts'
import { type CaseFigures, summariseCases } from '../score/figures.ts'
import { readCaseLog } from '../store/case-log.ts'
import {
  collectInvalidFiles,
  compareNewestFirst,
  packPath,
  readEnvironment,
  readManifest,
  scan,
} from '../store/documents.ts'
import type { Problem } from '../store/parse-artifact.ts'
import type { CaseResult, RunStatus, RunSummary } from '../store/schemas/run.ts'
import { sealProblem } from '../store/seal.ts'
import { isControlName } from '../system/system.ts'

/** A run that was chosen for a benchmark and system, or ignored, and why. */
export type ExplainedRun = { readonly run: RunSummary; readonly why: string }

/** Only complete, unedited runs of systems under test count. */
export const isCounted = (run: RunSummary): boolean => partReason(run) === null && isUnderTest(run)

const isUnderTest = ({ role, system }: RunSummary): boolean => role === undefined && !isControlName(system?.name ?? '')

/** Why a run is partial or edited, in a few words; null if it is neither. */
function partReason({ filter, editedAt }: RunSummary): string | null {
  if (filter !== undefined) return 'filtered'
  return editedAt === undefined ? null : 'forgotten texts were erased from it'
}

/** The runs of a store that count, grouped by benchmark and system; the ignored partial or edited runs; and the invalid files. */
export async function runGroups(root: string) {
  const runs: RunSummary[] = []
  const leftOut: ExplainedRun[] = []
  const invalid = collectInvalidFiles()
  await scan(root, 'runs', ({ checked }) => {
    invalid.see(checked)
    if (!checked.ok || !isUnderTest(checked.value)) return
    const why = partReason(checked.value)
    if (why === null) runs.push(checked.value)
    else leftOut.push({ run: checked.value, why })
  })
  const keyOf = ({ benchmarkId, system }: RunSummary): string => JSON.stringify([benchmarkId, system?.name ?? null])
  const groups = [...Map.groupBy(runs, keyOf)].sort(([a], [b]) => (a < b ? -1 : 1))
  return { groups: groups.map(([, group]) => group), leftOut, invalid: invalid.found() }
}

/** If runs ended at the same time, the run with fewer passed cases is first, so that a tie hides no failure. */
const compareLatestFirst = (a: RunSummary, b: RunSummary): number =>
  runTime(b) - runTime(a) || a.passedCases - b.passedCases || compareNewestFirst(a, b)

const runTime = ({ completedAt, startedAt }: RunSummary): number => Date.parse(completedAt ?? startedAt)

/**
 * Chooses a run for one benchmark and system: the latest run that ended, completed or not; a running one only if there is no other. The
 * end of an incomplete run is unknown, so it is preferred to a completed run that started before it.
 */
export function chooseRun(runs: readonly RunSummary[]): ExplainedRun {
  const latest = (...statuses: readonly RunStatus[]): RunSummary | undefined =>
    runs.filter(({ status }) => statuses.includes(status)).sort(compareLatestFirst)[0]
  const completed = latest('completed')
  const ended = latest('failed', 'partial')
  const running = latest('running')
  const isEndedLater =
    ended !== undefined && (completed === undefined || Date.parse(ended.startedAt) >= Date.parse(completed.startedAt))
  const run = isEndedLater ? ended : (completed ?? running)
  if (run === undefined) throw new Error('A group of runs has at least one.')
  if (run.status === 'running') return { run, why: 'no run is finished yet' }
  const finished = runs.filter(({ status }) => status !== 'running').length
  const parts = [
    finished === 1 ? 'the only finished run' : `the latest of ${finished} finished runs`,
    sealText(run),
    running === undefined ? '' : `${running.runId} is still running and was left out`,
  ]
  return { run, why: parts.filter((part) => part !== '').join('; ') }
}

/**
 * Checks a run against its case records and against the pack in the same store: its counts and cases must match. `results` is null for a
 * run without case records. `outdated`: the pack changed after the run, so the run is valid but cannot be compared.
 */
export async function auditRun(root: string, run: RunSummary) {
  const { records, problems } = await readCaseLog(root, run.runId)
  const figures = records.length > 0 || problems.length > 0 ? summariseCases(records) : null
  const results: readonly CaseResult[] | null = figures?.results ?? null
  const mismatches = figures === null ? [] : countMismatches(run, figures)
  const environment = readEnvironment(root, run.runId)
  const seal = sealProblem(root, run, environment?.ok ? environment.value : null)
  const pack = await checkAgainstPack(root, run, results)
  const found = [...problems, ...mismatches, ...(seal === null ? [] : [seal]), ...pack.problems]
  return { results, problems: found, outdated: pack.outdated }
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

async function checkAgainstPack(root: string, run: RunSummary, results: readonly CaseResult[] | null) {
  const fine = { problems: [], outdated: null }
  const manifest = readManifest(root, run.benchmarkId)
  // An invalid manifest is reported separately, and a store without packs has nothing to check the run against.
  if (manifest === null || !manifest.ok) return fine
  const broken = (field: string, message: string) => ({
    problems: [{ file: `runs/${run.runId}.json`, field, message }],
    outdated: null,
  })
  const known = manifest.value.cases.length
  if (run.packHash === undefined) {
    if (results !== null || run.totalCases === known) return fine
    return broken('totalCases', `is ${run.totalCases}, but the pack in the store has ${known} cases`)
  }
  try {
    const { packHash, packFiles } = await packHashOf(packPath(root, run.benchmarkId), manifest.value)
    // The hash of a run also covers other inputs, such as graders, so it is enough if all files of the pack are unchanged.
    const environment = readEnvironment(root, run.runId)
    const taken = environment?.ok ? environment.value.packFiles : {}
    const isSame = Object.entries(packFiles).every(([file, digest]) => taken[file] === digest)
    if (packHash === run.packHash || isSame) return fine
    return { problems: [], outdated: `The run ${run.runId} was made before the pack in the store was changed.` }
  } catch (error) {
    const reason = codeOf(error) ?? String(error)
    return broken('packHash', `cannot be checked, because a file of the pack cannot be read: ${reason}`)
  }
}
