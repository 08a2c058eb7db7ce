import { type Belief, isCurrent } from '../beliefs/belief.ts'
import { compareText } from '../beliefs/identity.ts'
import { type IndexEntries, indexEntries } from '../search/forms.ts'
import { typoKeys } from '../search/typo.ts'
import { heldName } from './belief-row.ts'
import type { CheckedChange } from './checked-commit.ts'
import { countTerms, type TextTerms, textTerms } from './text-terms.ts'

type StoredBelief = IndexEntries & { readonly belief: Belief }

type BeliefText = { readonly beliefId: string; readonly length: number; readonly terms: TextTerms }

/** The beliefs of one user in a store in memory, with their indexes. */
export class UserBeliefs {
  readonly #held = new Map<string, StoredBelief>()
  readonly #holders = new Map<string, string>()
  readonly #texts = new Map<string, BeliefText>()
  /** Belief ids by form key. */
  readonly #byKey = new Groups()
  /** Form keys by first word. A key whose beliefs are gone may stay; look-ups skip it. */
  readonly #byFirstWord = new Groups()
  /** Belief ids by word of a form, and words by typo key. A word whose beliefs are gone may stay in the latter. */
  readonly #byWord = new Groups()
  readonly #byTypoKey = new Groups()

  all(): readonly Belief[] {
    return [...this.#held.values()].map(({ belief }) => belief)
  }

  get(id: string): Belief | null {
    return this.#held.get(id)?.belief ?? null
  }

  holders(name: string, scopes: readonly string[]): Belief[] {
    const ids = new Set(scopes.map((scope) => this.#holders.get(identity(scope, name))))
    return [...ids].flatMap((id) => (id === undefined ? [] : (this.get(id) ?? [])))
  }

  /** Whether every name would still have one holder after the changes. */
  canHold(changes: readonly CheckedChange[]): boolean {
    const changed = new Set(changes.map(({ beliefId }) => beliefId))
    const taken = new Set<string>()
    return changes
      .flatMap(({ after }) => (after === null ? [] : identities(after)))
      .every((name) => {
        const holder = this.#holders.get(name)
        if (taken.has(name) || (holder !== undefined && !changed.has(holder))) return false
        taken.add(name)
        return true
      })
  }

  /** Beliefs with this key, by id. */
  withKey(key: string): readonly StoredBelief[] {
    return [...this.#byKey.of(key)].sort(compareText).flatMap((id) => this.#held.get(id) ?? [])
  }

  formLengths(firstWord: string): readonly number[] {
    const keys = [...this.#byFirstWord.of(firstWord)].filter((key) => this.#byKey.of(key).size > 0)
    return [...new Set(keys.map((key) => key.split(' ').length))].sort((one, other) => one - other)
  }

  wordsWithTypoKey(key: string): readonly string[] {
    return [...this.#byTypoKey.of(key)].filter((word) => this.#byWord.of(word).size > 0)
  }

  /** The words of a belief that is held. Derived on the first call: most memories are never searched by text. */
  textOf(id: string): BeliefText {
    const known = this.#texts.get(id)
    if (known !== undefined) return known
    const belief = this.get(id)
    if (belief === null) throw new Error(`The belief ${id} is not held.`)
    const terms = textTerms(belief)
    const text = { beliefId: id, length: countTerms(terms), terms }
    this.#texts.set(id, text)
    return text
  }

  /** All removals come before the first addition, so that one commit can hand a name over. */
  apply(changes: readonly CheckedChange[]): void {
    for (const { beliefId } of changes) this.#remove(beliefId)
    for (const { after } of changes) if (after !== null) this.#add(after)
  }

  #remove(id: string): void {
    const held = this.#held.get(id)
    if (held === undefined) return
    this.#held.delete(id)
    this.#texts.delete(id)
    for (const name of identities(held.belief)) this.#holders.delete(name)
    for (const { key } of held.forms) this.#byKey.delete(key, id)
    for (const word of held.typoTargets) this.#byWord.delete(word, id)
  }

  #add(belief: Belief): void {
    const held = { belief, ...indexEntries(belief) }
    this.#held.set(belief.id, held)
    for (const name of identities(belief)) this.#holders.set(name, belief.id)
    for (const { key, words } of held.forms) {
      this.#byKey.add(key, belief.id)
      this.#byFirstWord.add(words[0] ?? '', key)
    }
    for (const word of held.typoTargets) {
      if (this.#byWord.of(word).size === 0) for (const key of typoKeys(word)) this.#byTypoKey.add(key, word)
      this.#byWord.add(word, belief.id)
    }
  }
}

const identity = (scope: string, name: string): string => JSON.stringify([scope, heldName(name)])

/** Only a current belief holds its name. */
const identities = (belief: Belief): readonly string[] =>
  isCurrent(belief) ? [...new Set(belief.scopes)].map((scope) => identity(scope, belief.name)) : []

const none: ReadonlySet<string> = new Set()

/** Sets of strings by key. */
class Groups {
  readonly #groups = new Map<string, Set<string>>()

  of(key: string): ReadonlySet<string> {
    return this.#groups.get(key) ?? none
  }

  add(key: string, member: string): void {
    const group = this.#groups.get(key)
    if (group === undefined) this.#groups.set(key, new Set([member]))
    else group.add(member)
  }

  delete(key: string, member: string): void {
    const group = this.#groups.get(key)
    group?.delete(member)
    if (group?.size === 0) this.#groups.delete(key)
  }
}
