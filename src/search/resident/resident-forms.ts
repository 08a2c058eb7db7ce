import type { BeliefType, Subtype } from '../../beliefs/belief.ts'
import { compareText } from '../../beliefs/identity.ts'
import type { Posting } from '../form-index.ts'
import { IntList, WordIndex } from './word-index.ts'

/** The fields that all postings of a belief share, besides its id. */
export type BeliefKind = { readonly type: BeliefType; readonly subtype: Subtype | null; readonly pinned: boolean }

/** Where a belief is: one scope, and the agent that it belongs to or null. */
export type Place = { readonly scope: string; readonly agent: string | null; readonly current: boolean }

/** One form key of a belief in one place. */
export type ResidentForm = {
  readonly key: string
  readonly beliefId: string
  readonly place: Place
  readonly kind: BeliefKind
  readonly ordinal: number
  readonly breaks: number
  readonly reinforcedAt: number
}

/** An id, its place in the map and in the lists, roughly. */
const bytesPerBelief = 120

/**
 * The forms of one user in memory: a tree of words, whose nodes have the beliefs that are called so. Numbers are kept in
 * typed arrays, which take a tenth of the memory of objects and leave the garbage collector nothing to look at. Words and
 * nodes of beliefs that were removed stay, and are found no more.
 */
export class ResidentForms {
  readonly words: WordIndex
  /** The node of each word as the first word of a form. 0 for none: node 0 is the root. */
  readonly #firstNode = new IntList()
  readonly #parent = new IntList()
  readonly #word = new IntList()
  /** One more than the first posting of each node, 0 for none. */
  readonly #first = new IntList()
  /** Nodes below the first words, by parent and word, with open addressing. */
  #table: Int32Array
  #inTable = 0
  /** Postings. `next` leads to the next of the node, `sibling` to the next of the belief; both are one more, 0 ends. */
  readonly #posting = {
    belief: new IntList(),
    ordinal: new IntList(),
    breaks: new IntList(),
    place: new IntList(),
    node: new IntList(),
    next: new IntList(),
    sibling: new IntList(),
  }
  /** One more than the first posting that is free to be used again. */
  #free = 0
  readonly #beliefIds: string[] = []
  readonly #beliefs = new Map<string, number>()
  readonly #beliefKind = new IntList()
  readonly #beliefFirst = new IntList()
  readonly #reinforcedAt: number[] = []
  readonly #kinds = new Interned<BeliefKind>(({ type, subtype, pinned }) => `${type} ${subtype} ${pinned}`)
  readonly #places = new Interned<Place>(({ scope, agent, current }) => JSON.stringify([scope, agent, current]))

  /** Room for `expected` beliefs is made at once, because to make a table anew takes long where there are many. */
  constructor(expected = 0) {
    this.words = new WordIndex(expected * 2)
    this.#table = new Int32Array(2 ** Math.ceil(Math.log2(Math.max(1_024, expected * 12))))
    this.#addNode(-1, -1)
  }

  /** An estimate of the memory taken. */
  get bytes(): number {
    const lists = [...Object.values(this.#posting), this.#firstNode, this.#parent, this.#word, this.#first]
    const numbers = [...lists, this.#beliefKind, this.#beliefFirst].reduce((sum, { bytes }) => sum + bytes, 0)
    return numbers + this.#table.byteLength + this.words.bytes + this.#beliefIds.length * bytesPerBelief
  }

  add(form: ResidentForm): void {
    let node = 0
    for (const text of form.key.split(' ')) {
      const word = this.words.add(text)
      if (word === this.#firstNode.length) this.#firstNode.push(0)
      node = this.#childOrNew(node, word)
    }
    const belief = this.#beliefOf(form)
    const posting = this.#newPosting()
    const { belief: beliefs, ordinal, breaks, place, node: nodes, next, sibling } = this.#posting
    beliefs.set(posting, belief)
    ordinal.set(posting, form.ordinal)
    breaks.set(posting, form.breaks)
    place.set(posting, this.#places.indexOf(form.place))
    nodes.set(posting, node)
    next.set(posting, this.#first.at(node))
    sibling.set(posting, this.#beliefFirst.at(belief))
    this.#first.set(node, posting + 1)
    this.#beliefFirst.set(belief, posting + 1)
  }

  remove(beliefId: string): void {
    const belief = this.#beliefs.get(beliefId)
    if (belief === undefined) return
    const { node, next, sibling } = this.#posting
    for (let at = this.#beliefFirst.at(belief); at > 0; ) {
      const posting = at - 1
      at = sibling.at(posting)
      this.#unlink(node.at(posting), posting)
      next.set(posting, this.#free)
      this.#free = posting + 1
    }
    this.#beliefFirst.set(belief, 0)
  }

  /** The node of a word as the first of a form, 0 for none. */
  firstNode(word: number): number {
    return this.#firstNode.at(word)
  }

  /** The node that a word leads to, 0 for none. */
  child(parent: number, word: number): number {
    const table = this.#table
    const parents = this.#parent.numbers
    const words = this.#word.numbers
    const mask = table.length - 1
    for (let slot = mix(parent, word) & mask; ; slot = (slot + 1) & mask) {
      const node = table[slot] as number
      if (node === 0 || (parents[node] === parent && words[node] === word)) return node
    }
  }

  /** Whether a form of any belief ends here, in whatever place. */
  isForm(node: number): boolean {
    return this.#first.at(node) !== 0
  }

  /** The node of a whole key, 0 when it is no form. */
  nodeOf(key: string): number {
    let node = 0
    for (const text of key.split(' ')) {
      const word = this.words.idOf(text)
      if (word < 0) return 0
      node = node === 0 ? this.firstNode(word) : this.child(node, word)
      if (node === 0) return 0
    }
    return this.isForm(node) ? node : 0
  }

  /** For each place whether current beliefs there are in view. Valid until a form is added. */
  visibleFrom({ agent, scopes }: { readonly agent: string | null; readonly scopes: readonly string[] }): Uint8Array {
    const inView = new Set(scopes)
    return Uint8Array.from(this.#places.values, (place) =>
      Number(place.current && inView.has(place.scope) && (place.agent === null || place.agent === agent)),
    )
  }

  /** The postings of a node in view, each belief once, by id. */
  postingsAt(node: number, visible: Uint8Array): readonly Posting[] {
    const { belief: beliefs, ordinal, breaks, place, next } = this.#posting
    const found: Posting[] = []
    for (let at = this.#first.at(node); at > 0; at = next.at(at - 1)) {
      if (visible[place.at(at - 1)] !== 1) continue
      const belief = beliefs.at(at - 1)
      const { type, subtype, pinned } = this.#kinds.values[this.#beliefKind.at(belief)] as BeliefKind
      found.push({
        beliefId: this.#beliefIds[belief] as string,
        ordinal: ordinal.at(at - 1),
        breaks: breaks.at(at - 1),
        type,
        subtype,
        pinned,
        reinforcedAt: this.#reinforcedAt[belief] as number,
      })
    }
    if (found.length < 2) return found
    // A belief in several places in view has equal postings.
    const once = new Map(found.map((posting) => [posting.beliefId, posting]))
    return [...once.values()].sort((one, other) => compareText(one.beliefId, other.beliefId))
  }

  #beliefOf({ beliefId, kind, reinforcedAt }: ResidentForm): number {
    const known = this.#beliefs.get(beliefId)
    const belief = known ?? this.#beliefIds.push(beliefId) - 1
    if (known === undefined) {
      this.#beliefs.set(beliefId, belief)
      this.#beliefKind.push(0)
      this.#beliefFirst.push(0)
    }
    this.#beliefKind.set(belief, this.#kinds.indexOf(kind))
    this.#reinforcedAt[belief] = reinforcedAt
    return belief
  }

  #newPosting(): number {
    const posting = this.#free - 1
    if (posting >= 0) {
      this.#free = this.#posting.next.at(posting)
      return posting
    }
    let index = 0
    for (const list of Object.values(this.#posting)) index = list.push(0)
    return index
  }

  #unlink(node: number, posting: number): void {
    const { next } = this.#posting
    let at = this.#first.at(node)
    if (at === posting + 1) {
      this.#first.set(node, next.at(posting))
      return
    }
    while (next.at(at - 1) !== posting + 1) at = next.at(at - 1)
    next.set(at - 1, next.at(posting))
  }

  #childOrNew(parent: number, word: number): number {
    const known = parent === 0 ? this.firstNode(word) : this.child(parent, word)
    if (known !== 0) return known
    const node = this.#addNode(parent, word)
    if (parent === 0) this.#firstNode.set(word, node)
    else this.#enter(node)
    return node
  }

  #addNode(parent: number, word: number): number {
    this.#parent.push(parent)
    this.#word.push(word)
    return this.#first.push(0)
  }

  #enter(node: number): void {
    this.#inTable += 1
    if (this.#inTable * 5 > this.#table.length * 3) {
      this.#table = new Int32Array(this.#table.length * 2)
      for (let one = 1; one < node; one += 1) if (this.#parent.at(one) !== 0) this.#place(one)
    }
    this.#place(node)
  }

  #place(node: number): void {
    const mask = this.#table.length - 1
    let slot = mix(this.#parent.at(node), this.#word.at(node)) & mask
    while (this.#table[slot] !== 0) slot = (slot + 1) & mask
    this.#table[slot] = node
  }
}

/** Equal values once, numbered. */
class Interned<Value extends object> {
  readonly values: Value[] = []
  readonly #indexes = new Map<string, number>()
  /** Callers mostly pass the same object again. */
  readonly #seen = new WeakMap<Value, number>()
  readonly #keyOf: (value: Value) => string

  constructor(keyOf: (value: Value) => string) {
    this.#keyOf = keyOf
  }

  indexOf(value: Value): number {
    const seen = this.#seen.get(value)
    if (seen !== undefined) return seen
    const key = this.#keyOf(value)
    const index = this.#indexes.get(key) ?? this.values.push(value) - 1
    this.#indexes.set(key, index)
    this.#seen.set(value, index)
    return index
  }
}

const mix = (one: number, other: number): number => {
  let hash = Math.imul(one, 0x9e3779b1) ^ Math.imul(other, 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return (hash ^ (hash >>> 13)) >>> 0
}
