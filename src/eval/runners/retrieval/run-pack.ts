import type { CaseOutcome, Ingested } from '../../run/run.ts'
import { readCaseLog } from '../../store/case-log.ts'
import { readEnvironment, requireRun } from '../../store/documents.ts'
import type { Systems } from '../../system/systems.ts'
import type { SystemUnderTest } from '../../system/under-test.ts'
import type { About, Observer } from '../runner.ts'
import type { Pack } from './pack.ts'
import { executeRecall } from './retrieval-runner.ts'

/** The answers of a system to a pack, from which `credence eval` makes tables and reports. */
export type PackRun = Readonly<Awaited<ReturnType<typeof runPack>>>

type RunOptions = {
  readonly wanted?: ReadonlySet<string> | undefined
  readonly explain?: boolean | undefined
}

/** Asks a system the cases of a pack, in order, without storing anything; for checking the pack itself. */
export async function runPack(pack: Pack, tested: SystemUnderTest, options: RunOptions = {}) {
  const { wanted = new Set(pack.cases.map(({ id }) => id)), explain = false } = options
  let ingested: Ingested = { ms: null, notices: [] }
  const onIngested: Observer['onIngested'] = (ms, notices = []) => {
    ingested = { ms, notices }
  }
  const request = { repeat: 0, seed: 0, wanted, jobs: 1, signal: new AbortController().signal, folder: null }
  const outcomes: CaseOutcome[] = []
  for await (const outcome of executeRecall(pack, tested, request, { explain, onIngested })) outcomes.push(outcome)
  const { name, version, description, notes, hasSuppliedTiers } = tested
  const { ms: ingestMs, notices } = ingested
  return { pack, system: { name, version, description, notes, hasSuppliedTiers }, ingestMs, notices, outcomes }
}

/** A stored run of a pack, in the order of the pack. */
export async function readPackRun(root: string, runId: string, pack: Pack): Promise<PackRun> {
  const { system, latency, notices = [] } = requireRun(root, runId)
  const environment = readEnvironment(root, runId)
  const {
    description = '',
    notes = [],
    hasSuppliedTiers = false,
  } = (environment?.ok ? environment.value.settings : {}) as Partial<About>
  const { records } = await readCaseLog(root, runId)
  const places = new Map(pack.cases.map(({ id }, place) => [id, place]))
  const placeIn = ({ caseId }: CaseOutcome): number => places.get(caseId) ?? 0
  return {
    pack,
    system: {
      name: system?.name ?? '',
      version: system?.version ?? '',
      description,
      notes,
      hasSuppliedTiers,
    },
    ingestMs: latency?.ingestMs ?? null,
    notices,
    // The cast is safe, because only `executeRecall` makes these records.
    outcomes: (records as CaseOutcome[]).toSorted((a, b) => placeIn(a) - placeIn(b)),
  }
}

/** Max share of its cases that empty answers may pass. Above it, a pack measures too little. */
export const maxPassedByNone = 0.6

export type PackCheck = Awaited<ReturnType<typeof checkPack>>

/** Checks that a pack separates good from bad: empty answers must not pass it, and the expected answers must be possible. */
export async function checkPack(pack: Pack, systems: Systems) {
  const none = (await runPack(pack, await systems.open('none'))).outcomes
  const oracle = (await runPack(pack, await systems.open('oracle'))).outcomes
  const passedBy = (outcomes: PackRun['outcomes']): number =>
    outcomes.filter(({ verdict }) => verdict === 'pass').length
  const passedByNone = passedBy(none)
  const passedByOracle = passedBy(oracle)
  /** Why the pack is unfit for judging a system; empty if it is fit. */
  const problems = oracle.flatMap(({ caseId, verdict, error, failures }) =>
    verdict === 'pass' ? [] : [`No memory can pass "${caseId}": ${error?.message ?? failures.join(' ')}`],
  )
  if (passedByNone > none.length * maxPassedByNone) {
    const allowed = `at most ${maxPassedByNone * 100} % are allowed`
    problems.unshift(`An empty answer passes ${passedByNone} of ${none.length} cases; ${allowed}.`)
  }
  return { pack: pack.id, cases: none.length, passedByNone, passedByOracle, problems }
}
