import { type Belief, isCurrent } from '../beliefs/belief.ts'
import type { FormKeyOf } from '../search/forms.ts'
import { indexEntries } from '../search/forms.ts'
import { deletions } from '../search/typo.ts'
import type { CheckedChange } from './checked-commit.ts'
import { heldName } from './standing.ts'
import { compareText } from './text-order.ts'
import { countTerms, type TextTerms, textTerms } from './text-terms.ts'

type Held = { readonly belief: Belief; readonly forms: readonly FormKeyOf[]; readonly typoTargets: readonly string[] }

export type BeliefText = { readonly beliefId: string; readonly length: number; readonly terms: TextTerms }

/** The beliefs of one user, and what they can be found by. */
export class UserBeliefs {
  readonly #held = new Map<string, Held>()
  readonly #holders = new Map<string, string>()
  readonly #texts = new Map<string, BeliefText>()
  readonly #byKey = new Groups()
  readonly #slips = new Groups()
  readonly #words = new Counts<string>()
  readonly #heads = new Map<string, Counts<number>>()

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
  withKey(key: string): readonly Held[] {
    return [...this.#byKey.of(key)].sort(compareText).flatMap((id) => this.#held.get(id) ?? [])
  }

  formLengths(head: string): readonly number[] {
    return [...(this.#heads.get(head)?.values() ?? [])].sort((one, other) => one - other)
  }

  wordsWithSlip(slip: string): readonly string[] {
    return [...this.#slips.of(slip)]
  }

  /** The words of a belief that is held. Worked out when first asked for: most memories are never searched by text. */
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

  /** All removals come before the first addition, so that a name can be handed over within one commit. */
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
    this.#count(held, -1)
  }

  #add(belief: Belief): void {
    const held = { belief, ...indexEntries(belief) }
    this.#held.set(belief.id, held)
    for (const name of identities(belief)) this.#holders.set(name, belief.id)
    this.#count(held, 1)
  }

  #count({ belief, forms, typoTargets }: Held, step: 1 | -1): void {
    for (const { key, words } of forms) {
      this.#byKey.change(key, belief.id, step)
      const head = words[0] ?? ''
      const lengths = this.#heads.get(head) ?? new Counts()
      this.#heads.set(head, lengths)
      lengths.change(words.length, step)
    }
    for (const word of typoTargets) {
      const isFirstOrLast = this.#words.change(word, step) === (step === 1 ? 1 : 0)
      if (isFirstOrLast) for (const slip of deletions(word)) this.#slips.change(slip, word, step)
    }
  }
}

const identity = (scope: string, name: string): string => JSON.stringify([scope, heldName(name)])

/** Only what is current holds its name. */
const identities = (belief: Belief): readonly string[] =>
  isCurrent(belief) ? [...new Set(belief.scopes)].map((scope) => identity(scope, belief.name)) : []

/** Sets of texts by key. */
class Groups {
  readonly #groups = new Map<string, Set<string>>()

  of(key: string): ReadonlySet<string> {
    return this.#groups.get(key) ?? new Set()
  }

  change(key: string, member: string, step: 1 | -1): void {
    const group = this.#groups.get(key) ?? new Set()
    if (step === 1) group.add(member)
    else group.delete(member)
    if (group.size === 0) this.#groups.delete(key)
    else this.#groups.set(key, group)
  }
}

/** How often each value is there; those that are not are not kept. */
class Counts<Value> {
  readonly #counts = new Map<Value, number>()

  values(): Iterable<Value> {
    return this.#counts.keys()
  }

  change(value: Value, step: 1 | -1): number {
    const count = (this.#counts.get(value) ?? 0) + step
    if (count === 0) this.#counts.delete(value)
    else this.#counts.set(value, count)
    return count
  }
}
