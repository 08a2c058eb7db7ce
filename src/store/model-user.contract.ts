import { type Belief, isCurrent } from '../beliefs/belief.ts'
import { compareText } from '../beliefs/identity.ts'
import { type IndexEntries, indexEntries } from '../search/forms.ts'
import { typoKeys } from '../search/typo.ts'
import { nameKeyInScope } from './belief-row.ts'
import type { CheckedChange } from './checked-commit.ts'
import { countTerms, type TextTerms, textTerms } from './text-terms.ts'

type StoredBelief = IndexEntries & {
  readonly belief: Belief
  readonly identities: readonly string[]
  text?: BeliefText
}

type BeliefText = { readonly beliefId: string; readonly length: number; readonly terms: TextTerms }

/** The beliefs of one user in a store in memory, with their indexes. */
export class UserBeliefs {
  readonly #held = new Map<string, StoredBelief>()
  /** Null after a change, until the next use. */
  #forms: ReturnType<typeof formsOf> | null = null

  all(): readonly Belief[] {
    return [...this.#held.values()].map(({ belief }) => belief)
  }

  get(id: string): Belief | null {
    return this.#held.get(id)?.belief ?? null
  }

  holders(name: string, scopes: readonly string[]): Belief[] {
    const wanted = new Set(scopes.map((scope) => identity(scope, name)))
    const holding = [...this.#held.values()].filter(({ identities }) => identities.some((one) => wanted.has(one)))
    return holding.map(({ belief }) => belief)
  }

  /** Whether every name would still have one holder after the changes. */
  canHold(changes: readonly CheckedChange[]): boolean {
    const changed = new Set(changes.map(({ beliefId }) => beliefId))
    const others = [...this.#held.values()].filter(({ belief }) => !changed.has(belief.id))
    const taken = new Set(others.flatMap(({ identities }) => identities))
    const wanted = changes.flatMap(({ after }) => (after === null ? [] : identitiesOf(after)))
    return new Set(wanted).size === wanted.length && !wanted.some((one) => taken.has(one))
  }

  /** The forms with this key, each with its belief, in the order of the beliefs' ids. */
  withKey(key: string) {
    this.#forms ??= formsOf([...this.#held.values()])
    return this.#forms.byKey.get(key) ?? []
  }

  formLengths(firstWord: string): readonly number[] {
    this.#forms ??= formsOf([...this.#held.values()])
    const lengths = this.#forms.byFirstWord.get(firstWord)?.map(({ words }) => words.length)
    return [...new Set(lengths)].sort((a, b) => a - b)
  }

  wordsWithTypoKey(key: string): readonly string[] {
    this.#forms ??= formsOf([...this.#held.values()])
    return this.#forms.byTypoKey.get(key)?.map(({ word }) => word) ?? []
  }

  /** The words of a stored belief. Derived on the first call, because most memories are never searched by text. */
  textOf(id: string): BeliefText {
    const held = this.#held.get(id)
    if (held === undefined) throw new Error(`The belief ${id} is not held.`)
    if (held.text === undefined) {
      const terms = textTerms(held.belief)
      held.text = { beliefId: id, length: countTerms(terms), terms }
    }
    return held.text
  }

  apply(changes: readonly CheckedChange[]): void {
    this.#forms = null
    for (const { beliefId, after } of changes) {
      this.#held.delete(beliefId)
      if (after === null) continue
      this.#held.set(beliefId, { belief: after, identities: identitiesOf(after), ...indexEntries(after) })
    }
  }
}

const identity = (scope: string, name: string): string => JSON.stringify([scope, nameKeyInScope(name)])

/** Only a current belief reserves its name. */
const identitiesOf = (belief: Belief): readonly string[] =>
  isCurrent(belief) ? [...new Set(belief.scopes)].map((scope) => identity(scope, belief.name)) : []

function formsOf(held: readonly StoredBelief[]) {
  const byId = held.toSorted((a, b) => compareText(a.belief.id, b.belief.id))
  const forms = byId.flatMap(({ belief, forms }) => forms.map((form) => ({ belief, ...form })))
  const words = [...new Set(held.flatMap(({ typoTargets }) => typoTargets))]
  const typos = words.flatMap((word) => typoKeys(word).map((key) => ({ key, word })))
  return {
    byKey: Map.groupBy(forms, ({ key }) => key),
    byFirstWord: Map.groupBy(forms, ({ words }) => words[0] ?? ''),
    byTypoKey: Map.groupBy(typos, ({ key }) => key),
  }
}
