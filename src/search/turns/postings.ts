import type { TermPostings, TurnPostings, TurnUnit } from './turn-index.ts'

/** A term of a question with what each occurrence of it is worth. */
export type WeightedTerm = { readonly term: string; readonly weight: number; readonly postings: TermPostings }

/** Occurrences in a row count less each time. */
const saturation = 0.9

/** So many occurrences are looked at to find candidates, those of the rarest terms first, and of at least so many terms. */
const mostOccurrences = 20_000
const fewestTerms = 3

/** The terms that candidates are found by: in a large store, a word that stands everywhere does not tell one turn from another. */
function tellingTerms(terms: readonly WeightedTerm[]): readonly WeightedTerm[] {
  const rarestFirst = [...terms].sort((one, other) => one.postings.rows.length - other.postings.rows.length)
  let occurrences = 0
  return rarestFirst.filter(({ postings }, place) => {
    occurrences += postings.rows.length
    return place < fewestTerms || occurrences <= mostOccurrences
  })
}

/** A table for each row of the store, which is kept from one search to the next: to make one takes longer than to use it. */
class Scratch<Table extends Float32Array | Int32Array | Uint8Array> {
  readonly #make: (size: number) => Table
  #table: Table | null = null

  constructor(make: (size: number) => Table) {
    this.#make = make
  }

  /** Calls `work` with a table of zeros, which has to leave zeros behind. */
  use<Result>(size: number, work: (table: Table) => Result): Result {
    const table = this.#table !== null && this.#table.length >= size ? this.#table : this.#make(size)
    // Not given back after an error, since it may hold anything then.
    this.#table = null
    const result = work(table)
    if (table.length <= mostKept) this.#table = table
    return result
  }
}

/** Larger tables are not kept. */
const mostKept = 4_000_000

const totalsOfRows = new Scratch((size) => new Float32Array(size))
const offeredRows = new Scratch((size) => new Uint8Array(size))
const placesOfRows = new Scratch((size) => new Int32Array(size))

/** The rows in view whose own words weigh most, at most `most` of them, in no particular order. */
export function heaviestRows(
  all: readonly WeightedTerm[],
  inView: TurnPostings['inView'],
  most: number,
): readonly number[] {
  const terms = tellingTerms(all)
  const { lowest, size } = rangeOf(terms.map(({ postings }) => postings.rows))
  return totalsOfRows.use(size, (totals) =>
    offeredRows.use(size, (offered) => {
      for (const { weight, postings } of terms) addWeights(totals, postings, lowest, weight)
      const heap = new Heaviest(totals, most)
      const seen: number[] = []
      for (const { postings } of terms) {
        const { rows } = postings
        for (let place = 0; place < rows.length; place += 1) {
          const at = (rows[place] as number) - lowest
          // Most rows are no match for the lightest of those taken so far, and are done with at a glance.
          if ((totals[at] as number) < heap.lightest || offered[at] === 1) continue
          offered[at] = 1
          seen.push(at)
          if (totals[at] !== 0 && (inView === null || inView.has(at + lowest))) heap.offer(at)
        }
      }
      const rows = heap.places.map((at) => at + lowest)
      for (const at of seen) offered[at] = 0
      for (const { postings } of terms)
        for (let place = 0; place < postings.rows.length; place += 1)
          totals[(postings.rows[place] as number) - lowest] = 0
      return rows
    }),
  )
}

/** Terms mostly occur fewer times than this in a unit. */
const fewTimes = 16

function addWeights(totals: Float32Array, { rows, counts }: TermPostings, lowest: number, weight: number): void {
  const worthOf = (count: number): number => (weight * count) / (count + saturation)
  const worths = new Float64Array(fewTimes)
  for (let count = 1; count < fewTimes; count += 1) worths[count] = worthOf(count)
  for (let at = 0; at < rows.length; at += 1) {
    const row = (rows[at] as number) - lowest
    const count = counts[at] as number
    totals[row] = (totals[row] as number) + (count < fewTimes ? (worths[count] as number) : worthOf(count))
  }
}

/** The places with the largest totals, at most `most` of them; of equal ones the later. */
class Heaviest {
  readonly #totals: Float32Array
  readonly #most: number
  /** A binary heap with the lightest on top, once it is full. */
  readonly places: number[] = []
  /** What a place has to reach to be among them. */
  lightest = Number.NEGATIVE_INFINITY

  constructor(totals: Float32Array, most: number) {
    this.#totals = totals
    this.#most = most
  }

  offer(at: number): void {
    const { places } = this
    if (places.length < this.#most) {
      places.push(at)
      if (places.length < this.#most) return
      for (let node = (this.#most >> 1) - 1; node >= 0; node -= 1) this.#sink(node)
    } else if (this.#isLess(places[0] as number, at)) {
      places[0] = at
      this.#sink(0)
    }
    this.lightest = this.#totals[places[0] as number] as number
  }

  #isLess(one: number, other: number): boolean {
    const difference = (this.#totals[one] as number) - (this.#totals[other] as number)
    return difference < 0 || (difference === 0 && one < other)
  }

  /** Restores the order of the heap below one node. */
  #sink(from: number): void {
    const { places } = this
    for (let at = from; ; ) {
      const left = 2 * at + 1
      let least = at
      if (left < places.length && this.#isLess(places[left] as number, places[least] as number)) least = left
      if (left + 1 < places.length && this.#isLess(places[left + 1] as number, places[least] as number))
        least = left + 1
      if (least === at) return
      const held = places[at] as number
      places[at] = places[least] as number
      places[least] = held
      at = least
    }
  }
}

/** How often each term occurs in each of the units: `counts[term][unit]`. */
export function countsIn(terms: readonly WeightedTerm[], units: readonly TurnUnit[]): readonly Uint8Array[] {
  const unitRows = Int32Array.from(units, ({ row }) => row)
  const { lowest, size } = rangeOf([unitRows])
  return placesOfRows.use(size, (places) => {
    // From 1 on, because 0 stands for a row that is none of the units.
    for (const [place, row] of unitRows.entries()) places[row - lowest] = place + 1
    const counts = terms.map(({ postings }) => {
      const found = new Uint8Array(units.length)
      const { rows, counts } = postings
      for (let at = 0; at < rows.length; at += 1) {
        const place = places[(rows[at] as number) - lowest]
        if (place !== undefined && place > 0) found[place - 1] = counts[at] as number
      }
      return found
    })
    for (const row of unitRows) places[row - lowest] = 0
    return counts
  })
}

/**
 * Where the units begin and end, in the list, that are at most `reach` turns away from one of them in the same session;
 * passages of the same turn and the unit itself included.
 */
export function reachOf(units: readonly TurnUnit[], at: number, reach: number): readonly [from: number, to: number] {
  const own = units[at] as TurnUnit
  const isNear = (unit: TurnUnit | undefined): boolean =>
    unit !== undefined && unit.session === own.session && Math.abs(unit.place - own.place) <= reach
  let from = at
  let to = at
  while (isNear(units[from - 1])) from -= 1
  while (isNear(units[to + 1])) to += 1
  return [from, to]
}

function rangeOf(lists: readonly Int32Array[]): { readonly lowest: number; readonly size: number } {
  let lowest = Number.MAX_SAFE_INTEGER
  let highest = -1
  for (const rows of lists) {
    for (let at = 0; at < rows.length; at += 1) {
      const row = rows[at] as number
      if (row < lowest) lowest = row
      if (row > highest) highest = row
    }
  }
  return highest < 0 ? { lowest: 0, size: 0 } : { lowest, size: highest - lowest + 1 }
}
