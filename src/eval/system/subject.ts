import { type Budget, defaultBudget } from '../../memory/recall/context.ts'
import type { BeliefRecord } from '../../memory/transfer/belief-record.ts'
import type { Expectations } from '../kinds/retrieval/expectations.ts'
import { Corpus } from './corpus.ts'
import { opaqueIds } from './opaque-ids.ts'
import type { Answer, AnswerHit, BeliefUpdate, System, SystemQuery } from './system.ts'

/** Milliseconds that only ever grow. */
export type Clock = () => number

export type Timed<Value> = { readonly value: Value; readonly ms: number }

/**
 * What a run asks. Most subjects are a `System` behind a screen; the oracle is the one that sees expectations, and is
 * no system for that reason.
 */
export type Subject = {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly notes: readonly string[]
  /** Whether the harness added prelude, pins and questions to what was found. */
  readonly hasSuppliedTiers: boolean
  /** Empties the subject and gives it the corpus. `idsToCome` are beliefs that will be created on the way. */
  begin(corpus: {
    readonly beliefs: readonly BeliefRecord[]
    readonly idsToCome: readonly string[]
    readonly salt: string
  }): Promise<Timed<readonly string[]>>
  change(update: BeliefUpdate): Promise<void>
  answer(query: SystemQuery, expect: Expectations): Promise<Timed<Answer>>
  close(): Promise<void>
}

/**
 * Puts a system behind the screen: ids go in opaque and come back mapped, nothing of a case but its query goes in, and
 * a system that only finds relevant beliefs gets the other tiers from `ours`, Credence's own recall.
 */
export function systemSubject(
  system: System,
  { ours, clock }: { readonly ours: () => System; readonly clock: Clock },
): Subject {
  let screen = opaqueIds([], '')
  const supplier = system.tiers === 'all' ? null : tierSupplier(ours())
  const { name, version, description, notes = [] } = system

  return {
    name,
    version,
    description,
    notes,
    hasSuppliedTiers: supplier !== null,
    begin: async ({ beliefs, idsToCome, salt }) => {
      screen = opaqueIds([...beliefs.map(({ id }) => id), ...idsToCome], salt)
      const hidden = beliefs.map(screen.hideBelief)
      await supplier?.begin(hidden)
      await system.reset()
      return timed(clock, () => system.ingest(hidden))
    },
    change: async (update) => {
      const hidden = screen.hideUpdate(update)
      await supplier?.change(hidden)
      await system.update(hidden)
    },
    answer: async (query) => {
      const { value, ms } = await timed(clock, () => system.recall(query))
      const whole = supplier === null ? value : await supplier.complete(query, value)
      return { value: screen.revealAnswer(whole), ms }
    },
    close: async () => {
      await supplier?.close()
      await system.close()
    },
  }
}

/** Adds what every context holds whatever the message, and keeps the whole within the budget. */
export function tierSupplier(ours: System) {
  let corpus = new Corpus()
  return {
    begin: async (beliefs: readonly BeliefRecord[]) => {
      corpus = new Corpus(beliefs)
      await ours.reset()
      await ours.ingest(beliefs)
    },
    change: async (update: BeliefUpdate) => {
      corpus.apply(update)
      await ours.update(update)
    },
    complete: async (query: SystemQuery, found: Answer): Promise<Answer> => {
      const { prelude, pinned, questions } = await ours.recall({ ...query, message: '' })
      const pinnedIds = corpus.pinnedIds(query)
      const unpinned = found.relevant.filter(({ id }) => !pinnedIds.has(id))
      return {
        ...found,
        prelude,
        pinned,
        questions,
        relevant: fitBudget(corpus, query.budget, { pinned, questions, hits: unpinned }),
      }
    },
    close: () => ours.close(),
  }
}

/** Cuts hits off where our own recall would. A belief nobody knows takes a place, but has no length. */
function fitBudget(
  corpus: Corpus,
  given: Partial<Budget>,
  { pinned, questions, hits }: { pinned: readonly string[]; questions: readonly string[]; hits: readonly AnswerHit[] },
): readonly AnswerHit[] {
  const { maxBeliefs, maxCharacters } = { ...defaultBudget, ...given }
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

async function timed<Value>(clock: Clock, run: () => Promise<Value>): Promise<Timed<Value>> {
  const start = clock()
  const value = await run()
  return { value, ms: clock() - start }
}
