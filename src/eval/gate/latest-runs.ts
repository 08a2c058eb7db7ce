import { codeOf } from '../../files/leftovers.ts'
import { packHashOf } from '../pack/pack-hash.ts'
import { type CaseFigures, summariseCases } from '../score/summarise-cases.ts'
import { casesOf } from '../store/case-log.ts'
import { readManifest } from '../store/documents.ts'
import { type InvalidFiles, invalidFiles } from '../store/invalid-files.ts'
import { packPath } from '../store/layout.ts'
import type { Problem } from '../store/parse-artifact.ts'
import { scan } from '../store/scan.ts'
import type { CaseResult } from '../store/schemas/baseline.ts'
import type { RunSummary } from '../store/schemas/run-summary.ts'

/** The runs of one benchmark that decide about it. */
export type LatestRuns = {
  /** The latest that was completed, over all of its cases. */
  readonly completed: RunSummary | null
  /** A run that began after it and did not complete; its result is missing. */
  readonly newerUnfinished: RunSummary | null
}

/** Which system's runs count for a benchmark; null for whichever ran last. */
export type WantedSystem = (benchmarkId: string) => string | null

/**
 * The latest runs of every benchmark in a store, by benchmark id, and what could not be read. Where the wanted system has
 * no run, the latest of any other shows that.
 */
export async function latestRuns(
  root: string,
  wanted: WantedSystem = () => null,
): Promise<{ readonly byBenchmark: ReadonlyMap<string, LatestRuns>; readonly invalid: InvalidFiles }> {
  const [ofWanted, ofAny] = [new Latest(), new Latest()]
  const invalid = invalidFiles()
  await scan(root, 'runs', ({ checked }) => {
    invalid.see(checked)
    // A run over some of the cases says nothing about the benchmark.
    if (!checked.ok || checked.value.filter !== undefined) return
    const system = wanted(checked.value.benchmarkId)
    if (system !== null && system === checked.value.system?.name) ofWanted.see(checked.value)
    ofAny.see(checked.value)
  })
  const found = ofAny.benchmarks().flatMap((id) => {
    const runs = ofWanted.of(id) ?? ofAny.of(id)
    return runs === null ? [] : [[id, runs] as const]
  })
  return { byBenchmark: new Map(found), invalid: invalid.found() }
}

/** Remembers the latest completed and the latest other run of each benchmark. */
class Latest {
  readonly #completed = new Map<string, RunSummary>()
  readonly #unfinished = new Map<string, RunSummary>()

  see(run: RunSummary): void {
    const latest = run.status === 'completed' ? this.#completed : this.#unfinished
    const earlier = latest.get(run.benchmarkId)
    if (earlier === undefined || isLater(run, earlier)) latest.set(run.benchmarkId, run)
  }

  benchmarks(): readonly string[] {
    return [...new Set([...this.#completed.keys(), ...this.#unfinished.keys()])].sort()
  }

  of(id: string): LatestRuns | null {
    const done = this.#completed.get(id) ?? null
    const open = this.#unfinished.get(id) ?? null
    if (done === null && open === null) return null
    const isNewer = open !== null && (done === null || Date.parse(open.startedAt) > Date.parse(done.startedAt))
    return { completed: done, newerUnfinished: isNewer ? open : null }
  }
}

/** By the time of the result; equal times are decided by id, so that the order of reading does not matter. */
function isLater(one: RunSummary, other: RunSummary): boolean {
  const [mine, its] = [one, other].map((run) => Date.parse(run.completedAt ?? run.startedAt)) as [number, number]
  return mine > its || (mine === its && one.runId > other.runId)
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
    const { packHash } = await packHashOf(packPath(root, run.benchmarkId), manifest.value)
    if (packHash === run.packHash) return { problems: [], outdated: null }
    return { problems: [], outdated: `The run ${run.runId} was made before the pack in the store was changed.` }
  } catch (error) {
    const message = `cannot be checked, because a file of the pack cannot be read: ${codeOf(error) ?? String(error)}`
    return { problems: [{ file, field: 'packHash', message }], outdated: null }
  }
}
