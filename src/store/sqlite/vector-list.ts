import { compareWith } from '../../search/turns/cosines.ts'
import type { MessageVectors } from '../../search/turns/turn-index.ts'

/** All items of a list are compared if there are at most this many. */
export const maxCompared = 1_024

/** The number of 32-bit words of a code that are read together. */
const codeStep = 3

/** A row of the store, and its turn or belief. */
type SampledRow = { readonly number: number; readonly item: number; readonly vectors: Int8Array }
/** Replaces the number of a deleted row. */
const deleted = -1

/**
 * The vectors of one list in process memory, reduced to what a search needs: the sign of each dimension of each sentence, and the whole
 * vectors of a sample. Ordering sentences by the number of different signs approximates the order by cosine, at a fraction of the time
 * and memory; the vectors of the nearest items are then read from the store.
 */
export class VectorList {
  /** The highest number that was added. */
  last = 0
  #size = 0
  #sentences = 0
  #numbers = new Int32Array(64)
  #items = new Int32Array(64)
  /** For each item, the number of sentences in the list up to and including its own. */
  #ends = new Int32Array(64)
  #codes = new Uint32Array(64)
  #codeLength = 0
  /** Every `stride`-th item; all items if there are at most `maxCompared`. */
  #sample: SampledRow[] = []
  #stride = 1

  get size(): number {
    return this.#size
  }

  /** Adds a row. `vectors` may belong to the caller: they are copied. */
  add(number: number, item: number, vectors: Int8Array, dimensions: number): void {
    this.last = number
    this.#codeLength = codeLengthOf(dimensions)
    const sentences = Math.floor(vectors.length / dimensions)
    this.#numbers = withRoom(this.#numbers, this.#size + 1)
    this.#items = withRoom(this.#items, this.#size + 1)
    this.#ends = withRoom(this.#ends, this.#size + 1)
    this.#codes = withRoom(this.#codes, (this.#sentences + sentences) * this.#codeLength)
    for (let sentence = 0; sentence < sentences; sentence += 1) {
      const start = (this.#sentences + sentence) * this.#codeLength
      writeCode(vectors, sentence * dimensions, dimensions, this.#codes.subarray(start, start + this.#codeLength))
    }
    this.#sentences += sentences
    this.#numbers[this.#size] = number
    this.#items[this.#size] = item
    this.#ends[this.#size] = this.#sentences
    if (this.#size % this.#stride === 0) this.#sample.push({ number, item, vectors: vectors.slice() })
    this.#size += 1
    if (this.#sample.length <= maxCompared) return
    this.#sample = this.#sample.filter((_, place) => place % 2 === 0)
    this.#stride *= 2
  }

  /** Excludes rows that are no longer in the store. */
  drop(numbers: readonly number[]): void {
    for (const number of numbers) {
      const at = this.#numbers.indexOf(number)
      this.#numbers[at] = deleted
      this.#codes.fill(0, (this.#ends[at - 1] ?? 0) * this.#codeLength, (this.#ends[at] as number) * this.#codeLength)
    }
  }

  /** Whether the sample is the whole list. */
  get isSmall(): boolean {
    return this.#stride === 1
  }

  /** Compares the sample with a message. */
  compareSample(message: MessageVectors): readonly { readonly item: number; readonly cosine: number }[] {
    const cosineOf = compareWith(message)
    return this.#sample.map(({ item, vectors }) => ({ item, cosine: cosineOf(vectors) }))
  }

  get sampledNumbers(): readonly number[] {
    return this.#sample.map(({ number }) => number)
  }

  /** The numbers of about `limit` rows that are probably nearest to a message; if `among` is given, only of its items. */
  nearest(
    { vectors, dimensions }: MessageVectors,
    limit: number,
    among: ReadonlySet<number> | null,
  ): readonly number[] {
    const distances = new Uint16Array(this.#sentences).fill(dimensions)
    const asked = new Uint32Array(this.#codeLength)
    for (let from = 0; from + dimensions <= vectors.length; from += dimensions) {
      writeCode(vectors, from, dimensions, asked)
      this.#measure(asked, distances)
    }
    const isAsked = (at: number): boolean =>
      this.#numbers[at] !== deleted && (among === null || among.has(this.#items[at] as number))
    const best = new Uint16Array(this.#size)
    const counts = new Uint32Array(dimensions + 1)
    let sentence = 0
    for (let at = 0; at < this.#size; at += 1) {
      let min = dimensions
      for (; sentence < (this.#ends[at] as number); sentence += 1)
        if ((distances[sentence] as number) < min) min = distances[sentence] as number
      best[at] = min
      if (isAsked(at)) counts[min] = (counts[min] as number) + 1
    }
    let max = 0
    for (let found = counts[0] as number; found < limit && max < dimensions; ) {
      max += 1
      found += counts[max] as number
    }
    const numbers: number[] = []
    for (let at = 0; at < this.#size; at += 1)
      if ((best[at] as number) <= max && isAsked(at)) numbers.push(this.#numbers[at] as number)
    return numbers
  }

  /** Lowers each distance to the number of signs in which the sentence differs from a code, if that is less. */
  #measure(asked: Uint32Array, distances: Uint16Array): void {
    const codes = this.#codes
    const length = this.#codeLength
    for (let sentence = 0, at = 0; sentence < this.#sentences; sentence += 1) {
      let differing = 0
      for (let word = 0; word < length; word += codeStep, at += codeStep) {
        const a = (codes[at] as number) ^ (asked[word] as number)
        const b = (codes[at + 1] as number) ^ (asked[word + 1] as number)
        const c = (codes[at + 2] as number) ^ (asked[word + 2] as number)
        // Bitwise adders: count the ones and twos of three words together.
        const odd = a ^ b
        const ones = pairs(odd ^ c)
        const twos = pairs((a & b) | (odd & c))
        const bytes = ((ones + (ones >>> 4)) & 0x0f0f0f0f) + 2 * ((twos + (twos >>> 4)) & 0x0f0f0f0f)
        differing += Math.imul(bytes, 0x01010101) >>> 24
      }
      if (differing < (distances[sentence] as number)) distances[sentence] = differing
    }
  }
}

/** Counts the ones in each group of four bits. */
const pairs = (bits: number): number => {
  const twos = bits - ((bits >>> 1) & 0x55555555)
  return (twos & 0x33333333) + ((twos >>> 2) & 0x33333333)
}

const codeLengthOf = (dimensions: number): number => Math.ceil(dimensions / (32 * codeStep)) * codeStep

/** Writes the signs of a vector, one bit for each dimension. */
function writeCode(vectors: Int8Array, from: number, dimensions: number, code: Uint32Array): void {
  code.fill(0)
  for (let word = 0, at = 0; at < dimensions; word += 1) {
    let bits = 0
    for (const end = Math.min(at + 32, dimensions); at < end; at += 1)
      // A number is positive if its negative has the sign bit.
      bits = (bits << 1) | (-(vectors[from + at] as number) >>> 31)
    code[word] = bits
  }
}

/** The same array, or a longer copy of it. */
function withRoom<Numbers extends Int32Array | Uint32Array>(numbers: Numbers, length: number): Numbers {
  if (length <= numbers.length) return numbers
  const longer = new (numbers.constructor as new (size: number) => Numbers)(Math.max(length, 2 * numbers.length))
  longer.set(numbers)
  return longer
}
