import { MemoryError } from '../../../errors.ts'
import { compareBenchmark } from '../../../eval/compare/compare.ts'
import { diffRuns } from '../../../eval/compare/diff.ts'
import { chosenOf, counts } from '../../../eval/gate/latest-runs.ts'
import { figuresOfRun, summariseCases } from '../../../eval/score/figures.ts'
import { wilsonInterval } from '../../../eval/score/statistics.ts'
import { Histogram, summariseShadows } from '../../../eval/shadow/shadow-summary.ts'
import { dayOf, readEnvironment, scan } from '../../../eval/store/documents.ts'
import type { Manifest } from '../../../eval/store/schemas/manifest.ts'
import type { BaselineSnapshot, CaseRecord, RunSummary } from '../../../eval/store/schemas/run.ts'
import type { Answer, ListedBaseline, ListedCase, ListedPack, ListedRun } from '../contract.ts'
import type { EvalArchive, FoundPack } from '../eval-archive.ts'
import { mostItems } from '../route.ts'
import type { evalRoutes } from '../routes/eval-routes.ts'
import { cached, type Handlers, type ServerDeps } from '../server-deps.ts'

const longestHistory = 50
/** Reading a hundred thousand records takes a while. */
const shadowTtlMs = 10_000

export function evalHandlers(deps: ServerDeps, archive: EvalArchive): Handlers<keyof typeof evalRoutes> {
  const { evalRoot: root, clock } = deps
  const shadows = cached(() => shadowReport(root), { clock, ttlMs: shadowTtlMs })
  return {
    packs: async () => {
      const [runs, packs] = [await archive.runs(), await archive.packs()]
      return { items: [...packs, ...packsOfRuns(runs, packs)].map((pack) => listedPack(pack, runs)) }
    },
    runs: async ({ query: { benchmark, system, status, limit, offset } }) => {
      const wanted = (await archive.runs())
        .filter((run) => benchmark === undefined || run.benchmarkId === benchmark)
        .filter((run) => system === undefined || run.system?.name === system)
        .filter((run) => status === undefined || status.includes(run.status))
      return { items: wanted.slice(offset, offset + limit).map(listedRun), total: wanted.length }
    },
    startRun: async ({ body: { pack } }) => {
      const found = (await archive.packs()).find(({ id }) => id === pack)
      if (found === undefined || !isRunnable(found)) {
        const hint = 'GET evals/packs lists them.'
        throw new MemoryError('not_found', `There is no pack "${pack}" that can be run.`, { hint })
      }
      return deps.background.startRun(pack)
    },
    run: async ({ params: { id } }) => {
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
        problems: problems.slice(0, mostItems),
        history: history.slice(0, longestHistory).reverse().map(listedRun),
      }
    },
    cases: async ({ params: { id }, query: { verdict, text, limit, offset } }) => {
      const run = await archive.run(id)
      const prompts = promptsOf(await archive.manifest(run.benchmarkId))
      const needle = text?.toLowerCase()
      const wanted = (await archive.cases(id)).records
        .filter((record) => verdict === undefined || verdict.includes(record.verdict))
        .filter((record) => needle === undefined || textOf(record, prompts).includes(needle))
        .sort(worstFirst)
      const items = wanted.slice(offset, offset + limit).map((record) => listedCase(record, prompts))
      return { items, total: wanted.length }
    },
    case: async ({ params: { id, caseId } }) => {
      const run = await archive.run(id)
      const records = (await archive.cases(id)).records.filter((record) => record.caseId === caseId)
      if (records.length === 0) {
        const hint = 'GET evals/runs/:id/cases lists them.'
        throw new MemoryError('not_found', `The run "${id}" has no case "${caseId}".`, { hint })
      }
      const manifest = await archive.manifest(run.benchmarkId)
      const described = manifest?.cases.find((one) => one.id === caseId)
      const { prompt = null, expectedSignals = [], notes = null } = described ?? {}
      return { run, prompt, expectedSignals, notes, records: records.slice(0, mostItems) }
    },
    compareRuns: ({ query }) => compareRuns(root, archive, query),
    baselines: async () => ({ items: (await archive.baselines()).slice(0, mostItems).map(listedBaseline) }),
    shadow: async () => ({ ...(await shadows()), isRecording: deps.isRecordingShadows }),
  }
}

/** A run of all cases: a part of them says nothing about the benchmark. */
const isWhole = ({ status, filter, shard }: RunSummary): boolean =>
  status === 'completed' && filter === undefined && shard === undefined

const listedRun = (run: RunSummary): ListedRun => ({
  run,
  passRate: run.totalCases === 0 ? null : run.passedCases / run.totalCases,
  passInterval: wilsonInterval(run.passedCases, run.totalCases),
})

/** Benchmarks that have runs but no pack here: tasks, and results made elsewhere. */
const packsOfRuns = (runs: readonly RunSummary[], packs: readonly FoundPack[]): readonly FoundPack[] => {
  const known = new Set(packs.map(({ id }) => id))
  const ids = new Set(runs.map(({ benchmarkId }) => benchmarkId).filter((id) => !known.has(id)))
  return [...ids].map((id) => ({ id, source: 'store', manifest: null, problem: null }))
}

const runners: readonly unknown[] = ['retrieval', 'session', 'calibration', 'learning', 'task']

const isRunnable = ({ manifest }: FoundPack): boolean => runners.includes(manifest?.runner)

/** The systems that packs are run on by default. */
const ownSystems: readonly unknown[] = ['bm25', 'learn:rules', 'reference']

/** The verdict is about our own system if it was run, else about the system of the latest run. `runs` are newest first. */
function listedPack(pack: FoundPack, runs: readonly RunSummary[]): ListedPack {
  const { id, source, manifest, problem } = pack
  const own = runs.filter((run) => run.benchmarkId === id && counts(run))
  const main = own.find(({ system }) => ownSystems.includes(system?.name)) ?? own[0]
  const family = own.filter(({ system }) => system?.name === main?.system?.name)
  const deciding = family.length === 0 ? undefined : chosenOf(family).run
  const latest = family.find(isWhole)
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
    problem,
  }
}

function verdictOf(run: RunSummary | undefined): ListedPack['verdict'] {
  if (run === undefined) return 'not run'
  if (run.status !== 'completed') return 'unfinished'
  return run.passedCases === run.totalCases ? 'passed' : 'failed'
}

const promptsOf = (manifest: Manifest | null): ReadonlyMap<string, string> =>
  new Map(manifest?.cases.map(({ id, prompt }) => [id, prompt]))

const textOf = ({ caseId, failures, error, returned }: CaseRecord, prompts: ReadonlyMap<string, string>): string =>
  [caseId, prompts.get(caseId) ?? '', ...failures, error?.message ?? '', ...returned.map(({ id }) => id)]
    .join('\n')
    .toLowerCase()

const verdictOrder: readonly CaseRecord['verdict'][] = ['error', 'fail', 'unjudged', 'skipped', 'pass']

const worstFirst = (one: CaseRecord, other: CaseRecord): number =>
  verdictOrder.indexOf(one.verdict) - verdictOrder.indexOf(other.verdict) ||
  (one.caseId < other.caseId ? -1 : one.caseId > other.caseId ? 1 : one.repeat - other.repeat)

function listedCase(record: CaseRecord, prompts: ReadonlyMap<string, string>): ListedCase {
  const { caseId, repeat, verdict, failures, scores } = record
  const [prompt, error] = [prompts.get(caseId) ?? null, record.error?.message ?? null]
  const totalMs = Object.values(record.timings).reduce((sum, ms) => sum + ms, 0)
  return { caseId, repeat, verdict, prompt, failures, error, returned: record.returned.length, scores, totalMs }
}

async function compareRuns(
  root: string,
  archive: EvalArchive,
  { before, after }: { readonly before: string; readonly after: string },
): Promise<Answer<'compareRuns'>> {
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
  const cut = <Item>(items: readonly Item[]): readonly Item[] => items.slice(0, mostItems)
  return {
    before: listedRun(base),
    after: listedRun(candidate),
    notes: [...new Set([...otherPacks, ...diff.notes, ...(comparison?.notes ?? [])])],
    figures: (comparison?.figures ?? []).map(({ figure, base, candidate, delta, verdict, sense, test }) => {
      const { adjustedP = null, interval = null } = test ?? {}
      return { figure, base, candidate, delta, verdict, direction: sense.direction, adjustedP, interval }
    }),
    broken: cut(broken),
    fixed: cut(fixed),
    stillFailing: cut(stillFailing),
    changed: cut(changed),
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

function listedBaseline(snapshot: BaselineSnapshot): ListedBaseline {
  const { snapshotId, createdAt, acceptedLower } = snapshot
  const benchmarks = snapshot.benchmarks.map(({ benchmarkId, runId, passRate, metrics = {}, ...rest }) => {
    const { totalCases = null, passedCases = null, system } = rest
    return { benchmarkId, runId, passRate, totalCases, passedCases, metrics, system: system?.name ?? null }
  })
  const [notes, gitRef] = [snapshot.notes ?? null, snapshot.gitRef ?? null]
  return { snapshotId, createdAt, notes, gitRef, benchmarks, acceptedLower }
}

/** Figures of live recalls, in total and by day. */
async function shadowReport(root: string): Promise<Omit<Answer<'shadow'>, 'isRecording'>> {
  const { byDay: _counts, ...summary } = await summariseShadows(root)
  const days = new Map<string, { records: number; empty: number; durations: Histogram }>()
  await scan(root, 'shadow', ({ checked }) => {
    if (!checked.ok) return
    const { recordedAt, injected, durationMs } = checked.value
    const day = days.get(dayOf(recordedAt)) ?? { records: 0, empty: 0, durations: new Histogram() }
    days.set(dayOf(recordedAt), day)
    day.records += 1
    if (!injected) day.empty += 1
    day.durations.add(durationMs)
  })
  return {
    ...summary,
    days: [...days]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([day, { records, empty, durations }]) => {
        const durationMs = { mean: durations.mean(), p50: durations.percentile(50), p95: durations.percentile(95) }
        return { day, records, empty, emptyRate: empty / records, durationMs }
      }),
  }
}
