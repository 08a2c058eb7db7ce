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
export function hashOf(text: string, from = 0, to = text.length, seed = 0x811c9dc5): number {
  let hash = seed
  for (let at = from; at < to; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return hash ^ (hash >>> 12)
}
