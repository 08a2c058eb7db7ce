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

/** What there is to know of a word of a message, whoever asks. */
type MessageWord = {
  readonly text: string
  readonly hash: number
  readonly singular: string
  readonly singularHash: number
  readonly letters: number
  /** The hashes that the halves of a word may have for which this one is a typo. Null where it is none. */
  readonly probes: readonly number[] | null
}

/** Where a half is in the list of halves: its hash, the word, the letters of the word, and one more than the next half of the chain. */
const half = { hash: 0, word: 1, letters: 2, next: 3, size: 4 } as const

/** The words of all forms, numbered, and found by a typo through the halves of each word. */
export class WordIndex {
  readonly #table: WordTable
  /** One more than the first half of each chain, by hash; 0 for none. */
  #chains: Int32Array
  /** All that is known of a half is side by side: what takes the time is each place in memory that is looked at. */
  readonly #halves = new IntList()

  /** `expected` words fit before the tables are made anew, which takes long where there are many. */
  constructor(expected = 0) {
    this.#table = new WordTable(expected)
    this.#chains = new Int32Array(2 ** Math.ceil(Math.log2(Math.max(1_024, expected * 2))))
  }

  get bytes(): number {
    return this.#table.bytes + this.#chains.byteLength + this.#halves.bytes
  }

  get size(): number {
    return this.#table.words.length
  }

  /** The number of a word, -1 for one that no form has. */
  idOf(word: string, hash = hashOf(word)): number {
    return this.#table.idOf(word, hash)
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
    return id
  }

  /** The words of forms that a word of a message may be a typo for. */
  meantBy(word: MessageWord): readonly string[] {
    const { text, letters, probes } = word
    if (probes === null) return none
    let found: string[] | null = null
    for (const hash of probes) found = this.#collect(hash, letters, text, found)
    if (found === null) return none
    return [...new Set(found)].sort(compareText).filter((meant) => isPlausibleTypo(text, meant))
  }

  /** Adds the words one edit apart that have a half with this hash. */
  #collect(hash: number, letters: number, written: string, before: string[] | null): string[] | null {
    let found = before
    const halves = this.#halves.numbers
    let at = this.#chains[hash & (this.#chains.length - 1)] as number
    for (; at > 0; at = halves[at - 1 + half.next] as number) {
      const from = at - 1
      if (halves[from + half.hash] !== hash || !mayBeOneEdit(letters, halves[from + half.letters] as number)) continue
      const word = this.#table.words[halves[from + half.word] as number] as string
      if (!isOneEditApart(written, word)) continue
      found ??= []
      found.push(word)
    }
    return found
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
const none: readonly string[] = []

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
  idOf(word: string, hash = hashOf(word)): number {
    const at = this.#placeOf(word, hash)
    return (this.#pairs[at + 1] as number) - 1
  }

  /** The number of a word, which is added where it is not there. */
  add(word: string, hash = hashOf(word)): number {
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

/** Words of messages that are kept; more than a person uses. */
const mostSeen = 50_000
let seen = new WordTable()
let seenWords: MessageWord[] = []

/** Users share most of their words, and what a dictionary says of one takes long to find out. */
export function messageWord(text: string): MessageWord {
  const hash = hashOf(text)
  const known = seen.idOf(text, hash)
  if (known >= 0) return seenWords[known] as MessageWord
  if (text.length > longestKept) return describeWord(text, hash)
  if (seenWords.length >= mostSeen) {
    seen = new WordTable()
    seenWords = []
  }
  const at = seen.add(text, hash)
  const word = describeWord(seen.words[at] as string, hash)
  seenWords[at] = word
  return word
}

function describeWord(text: string, hash: number): MessageWord {
  const one = singular(text)
  const singularHash = one === text ? hash : hashOf(one)
  const probes = isForgivable(text) ? probesOf(text) : null
  return { text, hash, singular: one, singularHash, letters: lettersOf(text), probes }
}

/** See `typoProbes`, which asks a store for the same keys. */
function probesOf(written: string): readonly number[] {
  const probes: number[] = []
  for (let length = written.length - 1; length <= written.length + 1; length += 1) {
    const cut = cutOf(length)
    probes.push(firstHash(written, cut, length), secondHash(written, written.length - (length - cut), length))
    if (length === written.length && written[cut - 1] !== written[cut])
      probes.push(firstHash(written.slice(0, cut - 1) + written[cut], cut, length))
  }
  return probes
}
