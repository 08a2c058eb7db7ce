import { type Belief, byStanding, isCurrent, isStanding, isVisibleTo } from '../../beliefs/belief.ts'
import type { Viewpoint } from '../../beliefs/belief-store.ts'
import { universalScope } from '../../beliefs/scope.ts'
import type { Posting } from '../../search/form-index.ts'
import { indexEntries } from '../../search/forms.ts'
import { isOneEditApart } from '../../search/typo.ts'
import type { Store } from '../ports.ts'

/**
 * A read-only view of the store in which one belief is replaced by a changed version of it, for a dry run of the change.
 * Its index entries are derived as a store derives them.
 */
export function storeWith(store: Store, belief: Belief): Store {
  const { id, user } = belief
  const { forms, typoTargets } = indexEntries(belief)
  const replaced = (found: Belief): Belief => (found.id === id && found.user === user ? belief : found)
  const postings = forms.map(({ key, ordinal, breaks }): Posting & { readonly key: string } => ({
    key,
    beliefId: id,
    ordinal,
    breaks,
    type: belief.type,
    subtype: belief.subtype,
    pinned: belief.pinned,
    reinforcedAt: Date.parse(belief.reinforcement.at),
  }))
  /** The values found for each key, without duplicates, with those of the belief if it is the user's. */
  const withOwn = <Value>(
    asked: string,
    keys: readonly string[],
    found: ReadonlyMap<string, readonly Value[]>,
    own: (key: string) => readonly Value[],
  ): ReadonlyMap<string, readonly Value[]> =>
    asked === user ? new Map(keys.map((key) => [key, [...new Set([...(found.get(key) ?? []), ...own(key)])]])) : found
  return {
    ...store,
    commit: () => {
      throw new Error('A dry run cannot write.')
    },
    get: async (asked, wanted) => {
      const found = await store.get(asked, wanted)
      return found && replaced(found)
    },
    getMany: async (asked, ids) => (await store.getMany(asked, ids)).map(replaced),
    pinned: async (view, options) => {
      const others = (await store.pinned(view, options)).filter((other) => other.id !== id)
      const isShown =
        isInView(belief, view) || (options.editedEverywhere && belief.editedByPerson && isVisible(belief, view))
      return belief.pinned && isCurrent(belief) && isShown ? [...others, belief] : others
    },
    standing: async (view, limit) => {
      // One more, since the belief itself may be among them.
      const others = (await store.standing(view, limit + 1)).filter((other) => other.id !== id)
      const isStandingHere = belief.scopes.some(
        (scope) => (scope === universalScope || view.scopes.includes(scope)) && isStanding(belief, scope),
      )
      const all = isStandingHere && isVisible(belief, view) ? [...others, belief].sort(byStanding) : others
      return all.slice(0, limit)
    },
    // Lengths and words of the old version stay in the answers: they only cause look-ups that find nothing.
    formLengths: async (asked, heads) =>
      withOwn(asked, heads, await store.formLengths(asked, heads), (head) =>
        forms.filter(({ words }) => words[0] === head).map(({ words }) => words.length),
      ),
    wordsNear: async (asked, words) =>
      withOwn(asked, words, await store.wordsNear(asked, words), (word) =>
        typoTargets.filter((meant) => isOneEditApart(word, meant)),
      ),
    postings: async (view, keys) => {
      const known = await store.postings(view, keys)
      const own = isCurrent(belief) && isInView(belief, view) ? postings : []
      const others = (key: string) => (known.get(key) ?? []).filter(({ beliefId }) => beliefId !== id)
      return new Map(keys.map((key) => [key, [...others(key), ...own.filter((one) => one.key === key)]]))
    },
    everyHolder: async (asked, keys) => {
      const known = await store.everyHolder(asked, keys)
      if (asked !== user) return known
      const others = (key: string) => (known.get(key) ?? []).filter((holder) => holder !== id)
      return new Map(
        keys.map((key) => [key, forms.some((form) => form.key === key) ? [...others(key), id] : others(key)]),
      )
    },
    population: async (view) => {
      const before = await store.get(user, id)
      const counted = (one: Belief | null) => Number(one !== null && isCurrent(one) && isInView(one, view))
      return (await store.population(view)) - counted(before) + counted(belief)
    },
  }
}

const isVisible = (belief: Belief, { user, agent }: Viewpoint): boolean =>
  belief.user === user && isVisibleTo(belief.agent, agent)

const isInView = (belief: Belief, view: Viewpoint): boolean =>
  isVisible(belief, view) && belief.scopes.some((scope) => view.scopes.includes(scope))
