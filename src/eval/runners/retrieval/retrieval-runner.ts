import { isCurrent } from '../../../beliefs/belief.ts'
import { manifestOf, packHashOf } from '../../pack/manifest.ts'
import { type CaseOutcome, type ExecutionRequest, slug } from '../../run/run.ts'
import { type BeliefUpdate, type Capability, emptyAnswer, type SystemAnswer } from '../../system/system.ts'
import type { SystemUnderTest, Timed } from '../../system/under-test.ts'
import {
  brokenOutcome,
  defineRunner,
  executeInOrder,
  type Observer,
  type RunnablePack,
  type Runner,
} from '../runner.ts'
import {
  checkExpectations,
  driftScore,
  type Expectations,
  measureAnswer,
  type Outcome,
  type PassType,
  passTypeOf,
} from './expectations.ts'
import { type AskedCase, contentOf, createdIn, type Pack, readFolder, recallRunnerNames } from './pack.ts'

type OpenSystemByName = (system: string) => Promise<SystemUnderTest>

/** The runners for packs that ask a memory for the context of a message. */
export const recallRunners = (open: OpenSystemByName): readonly Runner[] =>
  recallRunnerNames.map((name) => recallRunner(name, open))

const recallRunner = (name: string, open: OpenSystemByName) =>
  defineRunner({
    name,
    defaultSystem: 'bm25',
    read: (place) => contentOf(readFolder(place).pack),
    open,
    ablate: {
      'recall off': (tested) => mapAnswers(tested, () => emptyAnswer),
      'search off': (tested) => mapAnswers(tested, (answer) => ({ ...answer, relevant: [], quotes: [] })),
    },
    execute: ({ pack }, tested, request, observer) => executeRecall(pack, tested, request, observer),
  })

/** Makes a loaded pack runnable. It comes from a folder, or from two files without a manifest (`directory` is null). */
export async function recallPack(pack: Pack, directory: string | null, open: OpenSystemByName): Promise<RunnablePack> {
  const read = recallRunner(pack.kind, open).over(contentOf(pack))
  const manifest = directory === null ? null : manifestOf(directory)
  if (directory === null || manifest === null) {
    const cases = read.cases.map(({ id, prompt }) => ({ id, prompt }))
    const benchmarkId = slug(pack.id, 100) || 'cases'
    return { ...read, manifest: { benchmarkId, cases }, packFiles: { pack: `sha256:${pack.hash}` } }
  }
  const { packFiles } = await packHashOf(directory, manifest)
  // With recall options other than the pack's own, the figures are not comparable, so the hash covers the options too.
  const isOwn = pack.recall.editedPins === manifest.recall?.editedPins
  const places = [directory]
  return { ...read, places, manifest, packFiles: isOwn ? packFiles : { ...packFiles, recall: `sha256:${pack.hash}` } }
}

const mapAnswers = (tested: SystemUnderTest, change: (answer: SystemAnswer) => SystemAnswer): SystemUnderTest => ({
  ...tested,
  answer: async (query, expect) => {
    const { value, ms } = await tested.answer(query, expect)
    return { value: change(value), ms }
  },
})

/** Asks a system the wanted cases of a pack. A case that breaks becomes an outcome with the verdict `error`. */
export async function* executeRecall(
  pack: Pack,
  tested: SystemUnderTest,
  request: ExecutionRequest,
  observer: Observer,
): AsyncGenerator<CaseOutcome> {
  const asking = await ingestCorpus(pack, tested, request.seed, observer)
  if (pack.kind === 'retrieval') {
    const byId = new Map(pack.cases.map((asked) => [asked.id, asked]))
    const wanted = [...request.wanted].flatMap((id) => byId.get(id) ?? [])
    yield* executeInOrder(wanted, request, asking.ask)
    return
  }
  // All sessions of a pack share one store, because a later session may use beliefs of an earlier one. So a turn that is not wanted must
  // still change the store for later turns.
  for (const turn of pack.cases) {
    if (request.signal.aborted) return
    if (request.wanted.has(turn.id)) yield await asking.ask(turn)
    for (const update of turn.updates) await asking.change(turn.id, update)
  }
}

/** Gives the system the whole corpus. After an error, every later case fails with it, because the store is no longer as expected. */
async function ingestCorpus(pack: Pack, tested: SystemUnderTest, seed: number, observer: Observer) {
  const created = createdIn(pack)
  let broken: string | null = null
  /** The capability that the system lacked for an update. The update was skipped, so the store is not as later turns expect it. */
  let missing: Capability | null = null
  try {
    // Systems do not see the case file that the salt is derived from, so they cannot reverse opaque ids.
    const { beliefs, turns = [] } = pack
    const corpus = { beliefs, turns, idsToCome: created.map(({ id }) => id), salt: `${pack.hash}:${seed}` }
    const { value, ms } = await tested.begin(corpus)
    observer.onIngested(ms, value)
  } catch (error) {
    observer.onIngested(null)
    broken = `The corpus could not be stored: ${messageOf(error)}`
  }
  const isPinned = (belief: (typeof created)[number]) => belief.pinned && isCurrent({ ...belief, version: 1 })
  const pinned = new Set([...pack.beliefs, ...created].filter(isPinned).map(({ id }) => id))
  return {
    ask: async (asked: AskedCase): Promise<CaseOutcome> => {
      const needed = requiredCapability(asked) ?? missing
      if (needed !== null && !tested.offers.includes(needed)) return unsupportedOutcome(asked, tested.name, needed)
      if (broken !== null) return failedOutcome(asked, broken)
      const { user, scopes, message, budget, saidInAll, expect } = asked
      const explain = observer.explain ? { explain: true } : {}
      try {
        const query = { user, scopes, message, budget, saidInAll, recall: pack.recall, ...explain }
        return caseOutcome(asked, await tested.answer(query, expect), pinned)
      } catch (error) {
        return failedOutcome(asked, messageOf(error))
      }
    },
    change: async (id: string, update: BeliefUpdate): Promise<void> => {
      if (update.kind === 'replace' && !tested.offers.includes('updates')) missing = 'updates'
      if (broken !== null || missing !== null) return
      try {
        await tested.change(update)
      } catch (error) {
        broken = `The store could not be changed after ${id}: ${messageOf(error)}`
      }
    },
  }
}

/** How an answer was computed, stage by stage; a diff finds the first stage that differs. */
export type RecallExplanation = {
  readonly group: string | null
  readonly passType: PassType | null
  readonly query: string
  readonly prelude: string | null
  readonly matches: SystemAnswer['relevant']
  readonly nearMisses?: SystemAnswer['nearMisses']
}

/** Outcomes of these packs come only from `executeRecall`, which explains every one. */
export const explanationOf = ({ explanation }: CaseOutcome): RecallExplanation => explanation as RecallExplanation

export const idsIn = ({ returned }: CaseOutcome, tier: string): readonly string[] =>
  returned.filter((item) => item.tier === tier).map(({ id }) => id)

function caseOutcome(
  { id: caseId, turnIndex, group, message, expect }: AskedCase,
  { value: answer, ms }: Timed<SystemAnswer>,
  pinnedInCorpus: ReadonlySet<string>,
): CaseOutcome {
  const { prelude, pinned, relevant, questions, quotes = [], nearMisses } = answer
  const outcome: Outcome = { prelude, pinned, relevant: relevant.map(({ id }) => id), questions, quotes }
  const failures = checkExpectations(expect, outcome)
  const metrics = measureAnswer(expect, outcome, pinnedInCorpus)
  const isTurn = turnIndex !== null
  const drift = namesNoise(expect) ? driftScore(expect, outcome) : null
  const explanation: RecallExplanation = {
    group,
    passType: failures.length === 0 ? passTypeOf(isTurn ? null : group, metrics, expect) : null,
    query: message,
    prelude,
    matches: relevant,
    ...(nearMisses && { nearMisses }),
  }
  const tier = (name: string, ids: readonly string[]): CaseOutcome['returned'] =>
    ids.map((id, index) => ({ id, score: null, rank: index + 1, tier: name }))
  return {
    caseId,
    verdict: failures.length === 0 ? 'pass' : 'fail',
    // Only turns of sessions have a drift score.
    scores: { ...metrics, ...(isTurn ? { driftScore: drift } : {}) },
    returned: [
      ...tier('pinned', pinned),
      ...relevant.map(({ id, score }, index) => ({ id, score, rank: index + 1, tier: 'relevant' })),
      ...tier('question', questions),
      ...tier(
        'quote',
        quotes.map(({ turn }) => turn),
      ),
    ],
    failures: [...failures],
    timings: { recall: ms },
    explanation,
  }
}

const failedOutcome = ({ id, group, message: query }: AskedCase, message: string): CaseOutcome => ({
  ...brokenOutcome(id, { class: 'system', message }),
  explanation: { group, passType: null, query, prelude: null, matches: [] },
})

/** The capability that a case tests, derived from its category; a system without this capability skips the case. */
function requiredCapability({ group, turnIndex }: AskedCase): Capability | null {
  if (turnIndex !== null) return null
  const about = { scopes: /^scope disambiguation/iu, supersession: /^supersession/iu, users: /^cross-user/iu } as const
  const found = Object.entries(about).find(([, category]) => category.test(group ?? ''))
  return (found?.[0] as Capability | undefined) ?? null
}

function unsupportedOutcome(asked: AskedCase, system: string, needed: Capability): CaseOutcome {
  const { error: _, ...outcome } = failedOutcome(asked, '')
  return { ...outcome, verdict: 'skipped', failures: [`Not offered: ${system} does not claim ${needed}.`] }
}

export const namesNoise = ({ noiseCheck }: Expectations): boolean => (noiseCheck?.mustNotSurface ?? []).length > 0

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
