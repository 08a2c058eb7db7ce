import { notFound } from '../errors.ts'
import { compareBenchmark } from '../eval/compare/compare.ts'
import { type CaseDiff, diffRuns } from '../eval/compare/diff.ts'
import { chooseRun, isCounted } from '../eval/gate/latest-runs.ts'
import { caseTexts, hasBeliefs, namesIn, questionTexts } from '../eval/report/case-detail.ts'
import { caseGrid, standingOf } from '../eval/report/case-grid.ts'
import { figuresOfRun, summariseCases } from '../eval/score/figures.ts'
import { wilsonInterval } from '../eval/score/statistics.ts'
import { summariseShadows } from '../eval/shadow/shadow-summary.ts'
import { readEnvironment } from '../eval/store/documents.ts'
import type { Manifest } from '../eval/store/schemas/manifest.ts'
import type { BaselineSnapshot, CaseRecord, RunSummary } from '../eval/store/schemas/run.ts'
import { isControlName } from '../eval/system/system.ts'
import { EvalArchive, type FoundPack } from './eval-archive.ts'
import type { evalInputs } from './evaluation.ts'
import { type InputOf, maxItems } from './field.ts'
import { cacheFor, type Installation } from './served-memory.ts'

const maxHistoryRuns = 50
/** Max runs (columns) and cases (rows) in a grid. */
const maxColumns = 12
const maxRows = 500
/** How long a summary of shadow records is cached, because there may be a hundred thousand of them. */
const shadowTtlMs = 10_000

/** A run with the fields that a plot needs. */
type RunForPlot = {
  readonly run: RunSummary
  /** Null if the run has no cases. */
  readonly passRate: number | null
  /** The 95 % confidence interval of the pass rate (Wilson). */
  readonly passInterval: ReturnType<typeof wilsonInterval>
}

export type EvalReads = Omit<ReturnType<typeof evalReads>, 'stamp'>

type Input<Name extends keyof typeof evalInputs> = InputOf<(typeof evalInputs)[Name]>

/** The read operations of one eval store, by name. `stamp` changes whenever a document of the store changes. */
export function evalReads({ evals, background }: Installation, clock: () => number) {
  const { root } = evals
  const archive = new EvalArchive({ root, shipped: evals.shippedPacks })
  const recordsOf = async (runId: string) => (await archive.cases(runId)).records
  const tasksOf = async (runId: string, records: readonly CaseRecord[]) => {
    const work = []
    for (const { caseId, repeat } of records) work.push(await evals.taskWork(runId, caseId, repeat))
    return work.filter((one) => one !== null)
  }
  /** Compares the runs of a pack with the newest accepted run; without one, with the previous run. */
  const readStanding = async (id: string, given: readonly RunSummary[]) => {
    const runs = given.filter(isCounted)
    const latest = runs.at(-1)
    if (latest === undefined) return null
    const accepted = (await archive.baselines())
      .flatMap(({ snapshotId, benchmarks }) => benchmarks.map((benchmark) => ({ snapshotId, ...benchmark })))
      .find((benchmark) => benchmark.benchmarkId === id && runs.some(({ runId }) => runId === benchmark.runId))
    const referenceId = accepted?.runId ?? runs.at(-2)?.runId ?? null
    const from = runs.findIndex(({ runId }) => runId === referenceId)
    const needed = runs.slice(Math.max(0, from, runs.length - maxHistoryRuns))
    const reference = runs[from]
    const grid = await caseGrid(
      reference === undefined || needed.includes(reference) ? needed : [reference, ...needed],
      recordsOf,
    )
    const { since, broken, ...rest } = standingOf(grid, referenceId)
    return {
      ...rest,
      broken: broken.slice(0, maxItems),
      system: latest.system?.name ?? null,
      latest: listedRun(latest),
      against: reference === undefined ? null : { runId: reference.runId, baseline: accepted?.snapshotId ?? null },
      since:
        since === null
          ? null
          : { runId: since.runId, at: since.completedAt ?? since.startedAt, commit: since.gitRef ?? null },
      isSaturated: runs.every(({ passedCases, totalCases }) => passedCases === totalCases),
    }
  }
  const textsOf = async (
    { directory, manifest }: FoundPack,
    { runId }: RunSummary,
    asked: { readonly caseId: string; readonly records: readonly CaseRecord[] },
  ) => {
    if (directory === null || manifest === null) return null
    if (hasBeliefs(manifest)) return caseTexts(directory, asked.caseId, asked.records)
    if (manifest.runner !== 'conversation') return null
    const environment = readEnvironment(root, runId)
    const data = environment?.ok ? environment.value.settings.data : undefined
    return questionTexts({ directory, manifest }, typeof data === 'string' ? data : undefined, asked)
  }
  const shadows = () => cacheFor(archive, 'shadows', Math.floor(clock() / shadowTtlMs), () => summariseShadows(root))
  return {
    stamp: () => archive.stamp(),
    packs: async () => {
      const runs = await archive.runs()
      const packs = await archive.packs()
      return { items: [...packs, ...packsOfRuns(runs, packs)].map((pack) => listedPack(pack, runs)) }
    },
    runs: async ({ benchmark, system, status, limit, offset }: Input<'runs'>) => {
      const wanted = (await archive.runs())
        .filter((run) => benchmark === undefined || run.benchmarkId === benchmark)
        .filter((run) => system === undefined || run.system?.name === system)
        .filter((run) => status === undefined || status.includes(run.status))
      return { items: wanted.slice(offset, offset + limit).map(listedRun), total: wanted.length }
    },
    startRun: async ({ pack }: Input<'startRun'>) => {
      const found = (await archive.packs()).find(({ id }) => id === pack)
      if (found === undefined || !isRunnable(found))
        throw notFound(`There is no pack "${pack}" that can be run.`, 'GET evals/packs lists them.')
      return background.startRun(pack)
    },
    run: async ({ id }: Input<'run'>) => {
      const run = await archive.run(id)
      const { records, problems } = await archive.cases(id)
      const environment = readEnvironment(root, id)
      const isRelated = (other: RunSummary): boolean =>
        other.benchmarkId === run.benchmarkId && other.system?.name === run.system?.name
      const history = (await archive.runs()).filter((other) => isRelated(other) && isWhole(other))
      return {
        ...listedRun(run),
        environment: environment?.ok ? environment.value : null,
        verdicts: Object.fromEntries(
          [...Map.groupBy(records, ({ verdict }) => verdict)].map(([verdict, of]) => [verdict, of.length]),
        ),
        problems: problems.slice(0, maxItems),
        baseline: findAcceptedRun(await archive.baselines(), run),
        history: history.slice(0, maxHistoryRuns).reverse().map(listedRun),
      }
    },
    cases: async ({ id, verdict, text, limit, offset }: Input<'cases'>) => {
      const run = await archive.run(id)
      const prompts = promptsOf(await archive.manifest(run.benchmarkId))
      const needle = text?.toLowerCase()
      const wanted = (await archive.cases(id)).records
        .filter((record) => verdict === undefined || verdict.includes(record.verdict))
        .filter((record) => needle === undefined || caseTextOf(record, prompts).includes(needle))
        .sort(compareWorstFirst)
      const items = wanted.slice(offset, offset + limit).map((record) => listedCase(record, prompts))
      const failures = items.flatMap((record) => record.failures)
      return { items, total: wanted.length, names: await readNames(archive, run, failures) }
    },
    case: async ({ id, caseId }: Input<'case'>) => {
      const run = await archive.run(id)
      const records = (await archive.cases(id)).records.filter((record) => record.caseId === caseId)
      if (records.length === 0)
        throw notFound(`The run "${id}" has no case "${caseId}".`, 'GET evals/runs/:id/cases lists them.')
      const manifest = await archive.manifest(run.benchmarkId)
      const described = manifest?.cases.find((one) => one.id === caseId)
      const { prompt = null, notes = null } = described ?? {}
      const pack = (await archive.packs()).find((one) => one.id === run.benchmarkId)
      const texts = pack === undefined ? null : await textsOf(pack, run, { caseId, records })
      const shown = records.slice(0, maxItems)
      // Tasks that were named individually belong to no pack.
      const mayBeTask = pack === undefined || pack.manifest?.runner === 'task'
      const work = mayBeTask ? await tasksOf(id, shown) : []
      // The failing cases, in the order in which the page of the run lists them.
      const failing = (await archive.cases(id)).records
        .filter(({ verdict }) => verdict !== 'pass')
        .sort(compareWorstFirst)
        .map((one) => one.caseId)
      return { run, prompt, notes, texts, work, records: shown, failing: neighboursIn([...new Set(failing)], caseId) }
    },
    packGrid: async ({ id, system }: Input<'packGrid'>) => {
      const runs = wholeRuns(await archive.runs(), id, system)
      const grid = await caseGrid(runs.slice(-maxColumns), recordsOf)
      const prompts = promptsOf(await archive.manifest(id))
      const failures = ({ verdicts }: { readonly verdicts: readonly unknown[] }): number =>
        verdicts.filter((verdict) => verdict !== 'pass' && verdict !== null).length
      return {
        runs: grid.runs.map(listedRun),
        total: grid.cases.length,
        cases: grid.cases
          .toSorted((a, b) => failures(b) - failures(a))
          .slice(0, maxRows)
          .map((one) => ({ ...one, prompt: prompts.get(one.caseId) ?? null })),
        standing: await readStanding(id, runs),
      }
    },
    standings: async () => {
      const runs = await archive.runs()
      const packs = await archive.packs()
      const ids = [...new Set(runs.map(({ benchmarkId }) => benchmarkId))]
      const items = []
      for (const id of ids) {
        const title = packs.find((pack) => pack.id === id)?.manifest?.title ?? id
        const main = await readStanding(id, wholeRuns(runs, id))
        if (main === null) continue
        items.push({ benchmarkId: id, title, ...main })
        // Other systems are reported only if they got worse.
        for (const system of systemsOf(runs, id).filter((name) => name !== main.system)) {
          const other = await readStanding(id, wholeRuns(runs, id, system))
          if (other !== null && other.broken.length > 0) items.push({ benchmarkId: id, title, ...other })
        }
      }
      return { items: items.sort((a, b) => b.broken.length - a.broken.length) }
    },
    compareRuns: (runs: Input<'compareRuns'>) => compareRuns(root, archive, runs),
    baselines: async () => ({ items: (await archive.baselines()).slice(0, maxItems).map(listedBaseline) }),
    shadow: async () => {
      const { byDay: _, ...summary } = await shadows()
      return { ...summary, isRecording: evals.isRecordingShadows }
    },
  }
}

async function readNames(archive: EvalArchive, { benchmarkId }: RunSummary, texts: readonly string[]) {
  const pack = (await archive.packs()).find(({ id }) => id === benchmarkId)
  if (pack?.directory == null || pack.manifest === null) return {}
  return namesIn({ directory: pack.directory, manifest: pack.manifest }, texts)
}

/** Completed runs of all cases by one system, oldest first. Default: our own system, or that of the latest run. */
function wholeRuns(runs: readonly RunSummary[], id: string, system?: string): readonly RunSummary[] {
  const own = runs.filter((run) => run.benchmarkId === id && isWhole(run) && run.role === undefined)
  const main = own.find((run) => ownSystems.includes(run.system?.name)) ?? own[0]
  const name = system ?? main?.system?.name
  return own.filter((run) => run.system?.name === name).reverse()
}

/** The named systems with a whole run of a benchmark, without controls, which measure the pack itself. */
const systemsOf = (runs: readonly RunSummary[], id: string): readonly string[] => [
  ...new Set(
    runs
      .filter((run) => run.benchmarkId === id && isWhole(run) && run.role === undefined)
      .flatMap(({ system }) => system?.name ?? [])
      .filter((name) => !isControlName(name)),
  ),
]

/** The accepted run of the same benchmark and system in the newest baseline that has one. */
const findAcceptedRun = (baselines: readonly BaselineSnapshot[], { benchmarkId, system }: RunSummary) => {
  const [found] = baselines.flatMap(({ snapshotId, benchmarks }) =>
    benchmarks
      .filter((one) => one.benchmarkId === benchmarkId && one.system?.name === system?.name)
      .map(({ runId }) => ({ snapshotId, runId })),
  )
  return found ?? null
}

function neighboursIn(ids: readonly string[], id: string): { previous: string | null; next: string | null } {
  const at = ids.indexOf(id)
  return { previous: ids[at < 0 ? ids.length - 1 : at - 1] ?? null, next: ids[at + 1] ?? null }
}

/** Whether a run completed all cases; only such a run represents the benchmark. */
const isWhole = ({ status, filter }: RunSummary): boolean => status === 'completed' && filter === undefined

const listedRun = (run: RunSummary): RunForPlot => ({
  run,
  passRate: run.totalCases === 0 ? null : run.passedCases / run.totalCases,
  passInterval: wilsonInterval(run.passedCases, run.totalCases),
})

/** Benchmarks with runs but without a pack here: tasks, and results from elsewhere. */
const packsOfRuns = (runs: readonly RunSummary[], packs: readonly FoundPack[]): readonly FoundPack[] => {
  const known = new Set(packs.map(({ id }) => id))
  const ids = new Set(runs.map(({ benchmarkId }) => benchmarkId).filter((id) => !known.has(id)))
  return [...ids].map((id) => ({ id, source: 'store', directory: null, manifest: null, problem: null }))
}

const runners: readonly unknown[] = ['retrieval', 'session', 'calibration', 'learning', 'red-team', 'task']

const isRunnable = ({ manifest }: FoundPack): boolean => runners.includes(manifest?.runner)

/** The systems that packs are run on by default. */
const ownSystems: readonly unknown[] = ['bm25', 'learn:rules', 'credence', 'reference']

/** A pack with the verdict on our own system; if that was never run, on the system of the latest run. `runs`: newest first. */
function listedPack(pack: FoundPack, runs: readonly RunSummary[]) {
  const { id, source, manifest, problem } = pack
  const own = runs.filter((run) => run.benchmarkId === id && isCounted(run))
  const main = own.find(({ system }) => ownSystems.includes(system?.name)) ?? own[0]
  const family = own.filter(({ system }) => system?.name === main?.system?.name)
  const deciding = family.length === 0 ? undefined : chooseRun(family).run
  const whole = family.filter(isWhole)
  const [latest] = whole
  return {
    id,
    title: manifest?.title ?? id,
    description: manifest?.description ?? null,
    tags: manifest?.tags ?? [],
    benchmarkType: manifest?.benchmarkType ?? 'standard',
    cases: manifest?.cases.length ?? latest?.totalCases ?? 0,
    source,
    isRunnable: isRunnable(pack),
    system: main?.system?.name ?? null,
    verdict: verdictOf(deciding),
    latest: latest === undefined ? null : listedRun(latest),
    recent: whole
      .slice(0, 20)
      .reverse()
      .map(({ passedCases, totalCases }) => passedCases / totalCases),
    isSaturated: whole.length > 0 && whole.every(({ passedCases, totalCases }) => passedCases === totalCases),
    problem,
  }
}

/** `passed` needs every case to pass. `unfinished`: the run did not complete, or is still running. */
function verdictOf(run: RunSummary | undefined): 'passed' | 'failed' | 'unfinished' | 'not run' {
  if (run === undefined) return 'not run'
  if (run.status !== 'completed') return 'unfinished'
  return run.passedCases === run.totalCases ? 'passed' : 'failed'
}

const promptsOf = (manifest: Manifest | null): ReadonlyMap<string, string> =>
  new Map(manifest?.cases.map(({ id, prompt }) => [id, prompt]))

const caseTextOf = ({ caseId, failures, error, returned }: CaseRecord, prompts: ReadonlyMap<string, string>): string =>
  [caseId, prompts.get(caseId) ?? '', ...failures, error?.message ?? '', ...returned.map(({ id }) => id)]
    .join('\n')
    .toLowerCase()

const verdictOrder: readonly CaseRecord['verdict'][] = ['error', 'fail', 'unjudged', 'skipped', 'pass']

const compareWorstFirst = (a: CaseRecord, b: CaseRecord): number =>
  verdictOrder.indexOf(a.verdict) - verdictOrder.indexOf(b.verdict) ||
  (a.caseId < b.caseId ? -1 : a.caseId > b.caseId ? 1 : a.repeat - b.repeat)

function listedCase(record: CaseRecord, prompts: ReadonlyMap<string, string>) {
  const { caseId, repeat, verdict, failures, scores } = record
  const prompt = prompts.get(caseId) ?? null
  const error = record.error?.message ?? null
  const totalMs = Object.values(record.timings).reduce((sum, ms) => sum + ms, 0)
  return { caseId, repeat, verdict, prompt, failures, error, returned: record.returned.length, scores, totalMs }
}

async function compareRuns(
  root: string,
  archive: EvalArchive,
  { before, after }: { readonly before: string; readonly after: string },
) {
  const diff = await diffRuns(root, before, after)
  const figures = async (run: RunSummary) =>
    figuresOfRun(run, summariseCases((await archive.cases(run.runId)).records).results)
  const { base, candidate, broken, fixed, stillFailing, changed } = diff
  const isSamePack = base.benchmarkId === candidate.benchmarkId
  const otherPacks = isSamePack
    ? []
    : [`The runs are of different packs: ${base.benchmarkId}, ${candidate.benchmarkId}.`]
  const comparison = isSamePack
    ? compareBenchmark({ base: await figures(base), candidate: await figures(candidate) })
    : null
  const cut = <Item>(items: readonly Item[]): readonly Item[] => items.slice(0, maxItems)
  const prompts = promptsOf(await archive.manifest(candidate.benchmarkId))
  const withPrompts = (cases: readonly CaseDiff[]) =>
    cut(cases).map((diff) => ({ ...diff, prompt: prompts.get(diff.id) ?? null }))
  const shown = [broken, fixed, stillFailing, changed].flatMap((cases) => cut(cases))
  const told = shown.flatMap(({ failures, returned }) => [...failures, ...returned.map(({ id }) => id)])
  return {
    names: await readNames(archive, candidate, told),
    before: listedRun(base),
    after: listedRun(candidate),
    notes: [...new Set([...otherPacks, ...diff.notes, ...(comparison?.notes ?? [])])],
    figures: (comparison?.figures ?? []).map(({ figure, base, candidate, delta, verdict, sense, test }) => {
      const { adjustedP = null, interval = null } = test ?? {}
      return { figure, base, candidate, delta, verdict, direction: sense.direction, adjustedP, interval }
    }),
    broken: withPrompts(broken),
    fixed: withPrompts(fixed),
    stillFailing: withPrompts(stillFailing),
    changed: withPrompts(changed),
    newCases: cut(diff.newCases),
    removedCases: cut(diff.removedCases),
    flaky: cut(diff.flaky),
    unchanged: diff.unchanged,
    counts: {
      broken: broken.length,
      fixed: fixed.length,
      stillFailing: stillFailing.length,
      changed: changed.length,
    },
  }
}

function listedBaseline(snapshot: BaselineSnapshot) {
  const { snapshotId, createdAt, acceptedLower } = snapshot
  const benchmarks = snapshot.benchmarks.map(({ benchmarkId, runId, passRate, metrics = {}, ...rest }) => {
    const { totalCases = null, passedCases = null, system } = rest
    return { benchmarkId, runId, passRate, totalCases, passedCases, metrics, system: system?.name ?? null }
  })
  const notes = snapshot.notes ?? null
  const gitRef = snapshot.gitRef ?? null
  return { snapshotId, createdAt, notes, gitRef, benchmarks, acceptedLower }
}
