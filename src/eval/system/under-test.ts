import { createHash } from 'node:crypto'
import { type Budget, defaultBudget } from '../../memory/recall/context.ts'
import type { BeliefRecord } from '../../memory/transfer/belief-record.ts'
import type { Expectations } from '../runners/retrieval/expectations.ts'
import { Corpus } from './corpus.ts'
import {
  type AnswerHit,
  type BeliefUpdate,
  capabilities,
  type System,
  type SystemAnswer,
  type SystemQuery,
  type SystemTurn,
} from './system.ts'

/** A monotonic clock in milliseconds. */
export type Clock = () => number

export type Timed<Value> = { readonly value: Value; readonly ms: number }

/** The system under test: a `System` that cannot see the cases, or the oracle. Only the oracle sees expectations. */
export type SystemUnderTest = Readonly<ReturnType<typeof underTest>>

type GivenCorpus = {
  readonly beliefs: readonly BeliefRecord[]
  readonly turns?: readonly SystemTurn[]
  readonly idsToCome: readonly string[]
  readonly salt: string
}

/**
 * Hides the cases from a system: ids are replaced by opaque ones and mapped back, and only the query of a case is passed. A system
 * that finds only relevant beliefs gets the other tiers from `ours`, Credence's own recall.
 */
export function underTest(system: System, { ours, clock }: { readonly ours: () => System; readonly clock: Clock }) {
  let screen = opaqueIds([], '')
  let said: ReadonlyMap<string, string> = new Map()
  /** A system that only searches returns turns as hits; here they become quotes. */
  const turnsAsQuotes = ({ relevant, quotes = [], ...answer }: SystemAnswer): SystemAnswer => {
    const found = relevant.flatMap(({ id }) => (said.has(id) ? [{ turn: id, text: said.get(id) ?? '' }] : []))
    return { ...answer, relevant: relevant.filter(({ id }) => !said.has(id)), quotes: [...quotes, ...found] }
  }
  const supplier = system.tiers === 'all' ? null : tierSupplier(ours())
  const { name, version, description, notes = [], offers = capabilities } = system
  const missing = capabilities.filter((capability) => !offers.includes(capability))
  const claims = `${name} claims ${offers.join(', ') || 'no capability'}. Not offered: ${missing.join(', ')}.`
  return {
    name,
    version,
    description,
    notes: missing.length === 0 ? notes : [...notes, claims],
    offers,
    /** Whether the harness added prelude, pins and questions to the system's results. */
    hasSuppliedTiers: supplier !== null,
    /** Empties the system and gives it the corpus. `idsToCome` are the ids of beliefs that will be created during the run. */
    begin: async ({ beliefs, turns = [], idsToCome, salt }: GivenCorpus): Promise<Timed<readonly string[]>> => {
      screen = opaqueIds([...[...beliefs, ...turns].map(({ id }) => id), ...idsToCome], salt)
      said = new Map(turns.map(({ id, text }) => [id, text]))
      const hidden = beliefs.map(screen.hideBelief)
      await supplier?.begin(hidden)
      await system.reset()
      if (turns.length > 0) await system.hear?.(turns.map(screen.hideTurn))
      return measureTime(clock, () => system.ingest(hidden))
    },
    change: async (update: BeliefUpdate): Promise<void> => {
      const hidden = { ...update, belief: screen.hideBelief(update.belief) }
      await supplier?.change(hidden)
      await system.update(hidden)
    },
    answer: async (query: SystemQuery, _expect: Expectations): Promise<Timed<SystemAnswer>> => {
      const { value, ms } = await measureTime(clock, () => system.recall(query))
      const whole = supplier === null ? value : await supplier.complete(query, value)
      const answer = screen.revealAnswer(whole)
      return { value: said.size === 0 ? answer : turnsAsQuotes(answer), ms }
    },
    close: async (): Promise<void> => {
      await supplier?.close()
      await system.close()
    },
  }
}

/** Adds prelude, pins and questions to an answer, and fits the result into the budget. */
export function tierSupplier(ours: System) {
  let corpus = new Corpus()
  return {
    begin: async (beliefs: readonly BeliefRecord[]) => {
      corpus = new Corpus(beliefs)
      await ours.reset()
      await ours.ingest(beliefs)
    },
    change: async (update: BeliefUpdate) => {
      corpus.put(update.belief)
      await ours.update(update)
    },
    complete: async (query: SystemQuery, found: SystemAnswer): Promise<SystemAnswer> => {
      const { prelude, pinned, questions } = await ours.recall({ ...query, message: '' })
      const pinnedIds = corpus.pinnedIds(query)
      const unpinned = found.relevant.filter(({ id }) => !pinnedIds.has(id))
      const relevant = fitBudget(corpus, query.budget, { pinned, questions, hits: unpinned })
      return { ...found, prelude, pinned, questions, relevant }
    },
    close: () => ours.close(),
  }
}

/** Cuts hits off at the limits of our own recall. An unknown belief counts for the number of beliefs, but has no length. */
function fitBudget(
  corpus: Corpus,
  budget: Partial<Budget>,
  { pinned, questions, hits }: { pinned: readonly string[]; questions: readonly string[]; hits: readonly AnswerHit[] },
): readonly AnswerHit[] {
  const { maxBeliefs, maxCharacters } = { ...defaultBudget, ...budget }
  const lengthOf = (id: string): number => {
    const belief = corpus.get(id)
    return belief === undefined ? 0 : belief.name.length + belief.content.length + belief.why.length
  }
  let places = maxBeliefs - pinned.length
  let characters = maxCharacters - [...pinned, ...questions].reduce((total, id) => total + lengthOf(id), 0)
  return hits.filter(({ id }) => {
    if (places <= 0 || lengthOf(id) > characters) return false
    places -= 1
    characters -= lengthOf(id)
    return true
  })
}

async function measureTime<Value>(clock: Clock, run: () => Promise<Value>): Promise<Timed<Value>> {
  const start = clock()
  const value = await run()
  return { value, ms: clock() - start }
}

/** Maps ids to hashes and back, because ids in fixtures reveal the subject of a belief. The system under test must not see `salt`. */
export function opaqueIds(ids: Iterable<string>, salt: string) {
  const hash = (text: string): string =>
    `m-${createHash('sha256').update(`${salt}\n${text}`).digest('hex').slice(0, 20)}`
  const hidden = new Map([...ids].map((id) => [id, hash(id)]))
  const revealed = new Map([...hidden].map(([id, opaque]) => [opaque, id]))
  const hide = (id: string): string => hidden.get(id) ?? hash(`stranger\n${id}`)
  const hideOrNull = (id: string | null): string | null => (id === null ? null : hide(id))
  // Without the prefix, an id that was never given out could equal the id of a belief.
  const reveal = (id: string): string => revealed.get(id) ?? `unknown:${id}`
  const revealAll = (all: readonly string[]): readonly string[] => [...new Set(all)].map(reveal)
  // A human-readable reason may name another belief, so ids in it are mapped back too.
  const revealIn = (text: string): string => text.replace(/\bm-[0-9a-f]{20}\b/gu, (id) => revealed.get(id) ?? id)

  const hideBelief = (belief: BeliefRecord): BeliefRecord => ({
    ...belief,
    id: hide(belief.id),
    supersededBy: hideOrNull(belief.supersededBy),
    proposedFor: hideOrNull(belief.proposedFor),
    resolvedBy: hideOrNull(belief.resolvedBy),
    // A participant may be a name instead of an id; names are kept.
    participants: belief.participants.map((participant) => hidden.get(participant) ?? participant),
    // The origin of a belief would reveal files, sessions and turns of the fixture.
    provenance: { ...belief.provenance, origin: 'corpus', sourceId: null },
  })

  return {
    hideBelief,
    hideTurn: (turn: SystemTurn): SystemTurn => ({ ...turn, id: hide(turn.id) }),
    revealAnswer: ({ nearMisses, quotes, ...answer }: SystemAnswer): SystemAnswer => ({
      ...answer,
      ...(quotes && { quotes: quotes.map((quote) => ({ ...quote, turn: reveal(quote.turn) })) }),
      pinned: revealAll(answer.pinned),
      questions: revealAll(answer.questions),
      relevant: withoutRepeats(answer.relevant).map((hit) => ({ ...hit, id: reveal(hit.id) })),
      ...(nearMisses && {
        nearMisses: nearMisses.map(({ id, reason }) => ({ id: reveal(id), reason: revealIn(reason) })),
      }),
    }),
  }
}

/** Keeps the first of several hits with the same id. */
export function withoutRepeats<Hit extends { readonly id: string }>(hits: readonly Hit[]): readonly Hit[] {
  const seen = new Set<string>()
  return hits.filter(({ id }) => !seen.has(id) && seen.add(id) !== null)
}
