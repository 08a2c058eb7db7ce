import { compareText } from '../../beliefs/identity.ts'
import { singular } from '../singular.ts'
import { isForgivable, isOneEditApart, isPlausibleTypo, isTypoTarget } from '../typo.ts'

/** A list of whole numbers that grows, four bytes each. */
export class IntList {
  numbers = new Int32Array(256)
  length = 0

  push(value: number): number {
    if (this.length === this.numbers.length) {
      const larger = new Int32Array(Math.ceil(this.length * 1.5))
      larger.set(this.numbers)
      this.numbers = larger
    }
    this.numbers[this.length] = value
    this.length += 1
    return this.length - 1
  }

  at(index: number): number {
    return this.numbers[index] as number
  }

  set(index: number, value: number): void {
    this.numbers[index] = value
  }

  /** Sets a number, or adds it at the end. */
  put(index: number, value: number): void {
    if (index < this.length) this.set(index, value)
    else this.push(value)
  }

  get bytes(): number {
    return this.numbers.byteLength
  }
}

/** What is known of a word of a message. Numbers are -1 for words that no form has. */
type KnownWord = {
  readonly id: number
  /** Null where it is the word itself, or no form has either. */
  readonly singular: string | null
  readonly singularId: number
  /** The words of forms that it may be a typo for. */
  readonly meant: readonly string[]
}

/** Most words of messages have nothing to do with any form, and share this. */
const unknownWord: KnownWord = { id: -1, singular: null, singularId: -1, meant: [] }
/** Words of messages that are kept; more than a person uses. */
const mostAsked = 50_000

/** Where a half is in the list of halves: its hash, the word, the letters of the word, and one more than the next half of the chain. */
const half = { hash: 0, word: 1, letters: 2, next: 3, size: 4 } as const

/** The words of all forms, numbered, and found by a typo through the halves of each word. */
export class WordIndex {
  readonly #table: WordTable
  /** One more than the first half of each chain, by hash; 0 for none. */
  #chains: Int32Array
  /** All that is known of a half is side by side: what takes the time is each place in memory that is looked at. */
  readonly #halves = new IntList()
  /** Words of messages, and what is known of each. */
  #asked = new WordTable()
  #known: KnownWord[] = []

  /** `expected` words fit before the tables are made anew, which takes long where there are many. */
  constructor(expected = 0) {
    this.#table = new WordTable(expected)
    this.#chains = new Int32Array(2 ** Math.ceil(Math.log2(Math.max(1_024, expected * 2))))
  }

  get bytes(): number {
    return this.#table.bytes + this.#chains.byteLength + this.#halves.bytes + this.#asked.bytes
  }

  get size(): number {
    return this.#table.words.length
  }

  /** The number of a word, -1 for one that no form has. */
  idOf(word: string): number {
    return this.#table.idOf(word)
  }

  add(word: string): number {
    const { size } = this
    const id = this.#table.add(word)
    if (id < size) return id
    if (isTypoTarget(word)) {
      const [cut, letters] = [cutOf(word.length), lettersOf(word)]
      this.#addHalf(firstHash(word, cut, word.length), id, letters)
      this.#addHalf(secondHash(word, cut, word.length), id, letters)
    }
    if (this.#known.length > 0) this.#forgetAsked()
    return id
  }

  /** What is known of a word of a message, which is looked up once. */
  know(word: string): KnownWord {
    const asked = this.#asked.idOf(word)
    if (asked >= 0) return this.#known[asked] as KnownWord
    const known = this.#lookUp(word)
    if (word.length > longestKept) return known
    if (this.#known.length >= mostAsked) this.#forgetAsked()
    this.#known[this.#asked.add(word)] = known
    return known
  }

  #forgetAsked(): void {
    this.#asked = new WordTable()
    this.#known = []
  }

  #lookUp(word: string): KnownWord {
    const id = this.idOf(word)
    const one = singular(word)
    const singularId = one === word ? id : this.idOf(one)
    const meant = isForgivable(word) ? this.#near(word).filter((other) => isPlausibleTypo(word, other)) : []
    if (id < 0 && singularId < 0 && meant.length === 0) return unknownWord
    return { id, singular: one === word ? null : one, singularId, meant }
  }

  /** The words one edit apart. See `typoProbes`, which asks a store for the same keys. */
  #near(written: string): readonly string[] {
    const found: string[] = []
    const letters = lettersOf(written)
    for (let length = written.length - 1; length <= written.length + 1; length += 1) {
      const cut = cutOf(length)
      this.#collect(firstHash(written, cut, length), letters, written, found)
      this.#collect(secondHash(written, written.length - (length - cut), length), letters, written, found)
      if (length === written.length && written[cut - 1] !== written[cut])
        this.#collect(firstHash(written.slice(0, cut - 1) + written[cut], cut, length), letters, written, found)
    }
    return found.length > 1 ? [...new Set(found)].sort(compareText) : found
  }

  #collect(hash: number, letters: number, written: string, found: string[]): void {
    const halves = this.#halves.numbers
    let at = this.#chains[hash & (this.#chains.length - 1)] as number
    for (; at > 0; at = halves[at - 1 + half.next] as number) {
      const from = at - 1
      if (halves[from + half.hash] !== hash || !mayBeOneEdit(letters, halves[from + half.letters] as number)) continue
      const word = this.#table.words[halves[from + half.word] as number] as string
      if (isOneEditApart(written, word)) found.push(word)
    }
  }

  #addHalf(hash: number, id: number, letters: number): void {
    if (this.#halves.length >= this.#chains.length * half.size) this.#grow()
    const from = this.#halves.length
    for (const number of [hash, id, letters, 0]) this.#halves.push(number)
    this.#link(from)
  }

  #link(from: number): void {
    const chain = this.#halves.at(from + half.hash) & (this.#chains.length - 1)
    this.#halves.set(from + half.next, this.#chains[chain] as number)
    this.#chains[chain] = from + 1
  }

  #grow(): void {
    this.#chains = new Int32Array(this.#chains.length * 2)
    for (let from = 0; from < this.#halves.length; from += half.size) this.#link(from)
  }
}

/** Longer words hardly occur twice. */
const longestKept = 40

/** A bit for each letter that a word has; letters of other alphabets share bits. */
function lettersOf(word: string): number {
  let letters = 0
  for (let at = 0; at < word.length; at += 1) letters |= 1 << (word.charCodeAt(at) & 31)
  return letters
}

/** One edit takes away one letter and brings another at most. Tells most words apart without looking at them. */
function mayBeOneEdit(letters: number, others: number): boolean {
  const differing = letters ^ others
  const allButOne = differing & (differing - 1)
  return (allButOne & (allButOne - 1)) === 0
}

const cutOf = (length: number): number => (length + 1) >> 1

const firstHash = (word: string, cut: number, length: number): number => hashOf(word, 0, cut, 0x811c9dc5 ^ length)

/** The first two letters are never wrong, so they belong to the key of the second half too. */
const secondHash = (word: string, from: number, length: number): number =>
  hashOf(
    word,
    from,
    word.length,
    Math.imul(length * 0x10001 + word.charCodeAt(0) * 31 + word.charCodeAt(1), 0x9e3779b1),
  )

/**
 * Words, numbered in the order in which they were added. A `Map` is two to three times slower for the words of a message: it has to
 * hash each new string first, and then looks at more places in memory.
 */
export class WordTable {
  readonly words: string[] = []
  /** Pairs of the hash of a word and one more than its number, with open addressing; at most half are in use. */
  #pairs: Int32Array

  /** `expected` words fit before the table is made anew, which takes long where there are many. */
  constructor(expected = 0) {
    this.#pairs = new Int32Array(2 ** Math.ceil(Math.log2(Math.max(64, expected)) + 2))
  }

  get bytes(): number {
    return this.#pairs.byteLength + this.words.length * bytesPerWord
  }

  /** The number of a word, -1 for one that is not there. */
  idOf(word: string): number {
    const hash = hashOf(word)
    const at = this.#placeOf(word, hash)
    return (this.#pairs[at + 1] as number) - 1
  }

  /** The number of a word, which is added where it is not there. */
  add(word: string): number {
    const hash = hashOf(word)
    const at = this.#placeOf(word, hash)
    const known = (this.#pairs[at + 1] as number) - 1
    if (known >= 0) return known
    this.#pairs[at] = hash
    this.#pairs[at + 1] = this.words.push(copyOf(word))
    if (this.words.length * 4 > this.#pairs.length) this.#grow()
    return this.words.length - 1
  }

  /** Where the pair of a word is, or has to be put. */
  #placeOf(word: string, hash: number): number {
    const pairs = this.#pairs
    const mask = pairs.length - 1
    for (let at = (hash * 2) & mask; ; at = (at + 2) & mask) {
      const number = pairs[at + 1] as number
      if (number === 0 || (pairs[at] === hash && this.words[number - 1] === word)) return at
    }
  }

  #grow(): void {
    const pairs = new Int32Array(this.#pairs.length * 2)
    const mask = pairs.length - 1
    for (let from = 0; from < this.#pairs.length; from += 2) {
      const hash = this.#pairs[from] as number
      let at = (hash * 2) & mask
      while (pairs[at + 1] !== 0) at = (at + 2) & mask
      pairs[at] = hash
      pairs[at + 1] = this.#pairs[from + 1] as number
    }
    this.#pairs = pairs
  }
}

/** A word and its place in the list, roughly. */
const bytesPerWord = 50

/** A part of a text of this length or more is not copied by V8, and would keep the whole text in memory. */
const shortestSlice = 13
const copyOf = (word: string): string =>
  word.length < shortestSlice ? word : Buffer.from(word, 'utf16le').toString('utf16le')

/** FNV-1a over the characters from one place to another, mixed so that the low bits depend on all of them. */
function hashOf(text: string, from = 0, to = text.length, seed = 0x811c9dc5): number {
  let hash = seed
  for (let at = from; at < to; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return hash ^ (hash >>> 12)
}
