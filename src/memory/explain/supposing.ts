import { type Belief, byStanding, isCurrent, isStanding, isVisibleTo } from '../../beliefs/belief.ts'
import type { Viewpoint } from '../../beliefs/belief-store.ts'
import { universalScope } from '../../beliefs/scope.ts'
import type { Posting } from '../../search/form-index.ts'
import { type IndexEntries, indexEntries } from '../../search/forms.ts'
import { isOneEditApart } from '../../search/typo.ts'
import type { Store } from '../store.ts'

/**
 * The same store as it would read if one belief said something else, so that a change can be tried out without being
 * made. What a belief is found by is derived as a store derives it. For reading only.
 */
export function supposing(store: Store, belief: Belief): Store {
  const { id, user } = belief
  const entries = indexEntries(belief)
  const isOurs = (asked: string): boolean => asked === user
  const instead = (found: Belief): Belief => (found.id === id && isOurs(found.user) ? belief : found)
  const refuse = (): never => {
    throw new Error('What is only supposed cannot be written.')
  }
  return {
    ...store,
    commit: refuse,
    get: async (asked, wanted) => {
      const found = await store.get(asked, wanted)
      return found === null ? null : instead(found)
    },
    getMany: async (asked, ids) => (await store.getMany(asked, ids)).map(instead),
    pinned: async (view, options) => {
      const others = (await store.pinned(view, options)).filter((other) => other.id !== id)
      const isShown =
        inView(belief, view) || (options.editedEverywhere && belief.editedByPerson && isSeen(belief, view))
      return belief.pinned && isCurrent(belief) && isShown ? [...others, belief] : others
    },
    standing: async (view, limit) => {
      // One more, since the one that is taken out may have been among them.
      const others = (await store.standing(view, limit + 1)).filter((other) => other.id !== id)
      const stands = belief.scopes.some(
        (scope) => (scope === universalScope || view.scopes.includes(scope)) && isStanding(belief, scope),
      )
      return (stands && isSeen(belief, view) ? [...others, belief].sort(byStanding) : others).slice(0, limit)
    },
    secondWords: async () => new Map(),
    formLengths: async (asked, heads) =>
      withLengths(await store.formLengths(asked, heads), isOurs(asked), heads, entries),
    postings: async (view, keys) => {
      const known = await store.postings(view, keys)
      return withPostings(known, keys, isCurrent(belief) && inView(belief, view) ? postingsOf(belief, entries) : [], id)
    },
    everyHolder: async (asked, keys) => {
      const known = await store.everyHolder(asked, keys)
      if (!isOurs(asked)) return known
      return new Map(
        keys.map((key) => {
          const others = (known.get(key) ?? []).filter((holder) => holder !== id)
          return [key, entries.forms.some((form) => form.key === key) ? [...others, id] : others]
        }),
      )
    },
    wordsNear: async (asked, words) => {
      const known = await store.wordsNear(asked, words)
      if (!isOurs(asked)) return known
      const near = (word: string) => entries.typoTargets.filter((meant) => isOneEditApart(word, meant))
      return new Map(words.map((word) => [word, [...new Set([...(known.get(word) ?? []), ...near(word)])]]))
    },
    population: async (view) => {
      const before = await store.get(user, id)
      const counted = (one: Belief | null) => Number(one !== null && isCurrent(one) && inView(one, view))
      return (await store.population(view)) - counted(before) + counted(belief)
    },
  }
}

const isSeen = (belief: Belief, { user, agent }: Viewpoint): boolean =>
  belief.user === user && isVisibleTo(belief.agent, agent)

const inView = (belief: Belief, view: Viewpoint): boolean =>
  isSeen(belief, view) && belief.scopes.some((scope) => view.scopes.includes(scope))

/** More lengths than there are forms only make for more looking. */
function withLengths(
  known: ReadonlyMap<string, readonly number[]>,
  isOurs: boolean,
  heads: readonly string[],
  { forms }: IndexEntries,
): ReadonlyMap<string, readonly number[]> {
  if (!isOurs) return known
  return new Map(
    heads.map((head) => {
      const own = forms.filter(({ words }) => words[0] === head).map(({ words }) => words.length)
      return [head, [...new Set([...(known.get(head) ?? []), ...own])]]
    }),
  )
}

const postingsOf = (belief: Belief, { forms }: IndexEntries): readonly (Posting & { readonly key: string })[] =>
  forms.map(({ key, ordinal, breaks }) => ({
    key,
    beliefId: belief.id,
    ordinal,
    breaks,
    type: belief.type,
    subtype: belief.subtype,
    pinned: belief.pinned,
    reinforcedAt: Date.parse(belief.reinforcement.at),
  }))

const withPostings = (
  known: ReadonlyMap<string, readonly Posting[]>,
  keys: readonly string[],
  own: readonly (Posting & { readonly key: string })[],
  id: string,
): ReadonlyMap<string, readonly Posting[]> =>
  new Map(
    keys.map((key) => [
      key,
      [...(known.get(key) ?? []).filter(({ beliefId }) => beliefId !== id), ...own.filter((one) => one.key === key)],
    ]),
  )
