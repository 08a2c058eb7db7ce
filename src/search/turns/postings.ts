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

/** The rows in view whose own words weigh most, at most `most` of them, in no particular order. */
export function heaviestRows(
  all: readonly WeightedTerm[],
  inView: TurnPostings['inView'],
  most: number,
): readonly number[] {
  const terms = tellingTerms(all)
  const { lowest, size } = rangeOf(terms)
  const totals = new Float32Array(size)
  for (const { weight, postings } of terms) {
    const { rows, counts } = postings
    for (let at = 0; at < rows.length; at += 1) {
      const row = (rows[at] as number) - lowest
      const count = counts[at] as number
      totals[row] = (totals[row] as number) + (weight * count) / (count + saturation)
    }
  }
  const heap: number[] = []
  const isLess = (one: number, other: number): boolean => {
    const difference = (totals[one] as number) - (totals[other] as number)
    return difference < 0 || (difference === 0 && one < other)
  }
  const offer = (at: number): void => {
    if (heap.length < most) {
      heap.push(at)
      if (heap.length === most) for (let node = (most >> 1) - 1; node >= 0; node -= 1) sink(heap, node, isLess)
    } else if (isLess(heap[0] as number, at)) {
      heap[0] = at
      sink(heap, 0, isLess)
    }
  }
  // Only rows that hold a term are looked at, each once.
  const seen = new Uint8Array(size)
  for (const { postings } of terms) {
    const { rows } = postings
    for (let place = 0; place < rows.length; place += 1) {
      const at = (rows[place] as number) - lowest
      if (seen[at] === 1) continue
      seen[at] = 1
      // Most rows are no match for the lightest of those taken so far, and are done with at a glance.
      if (heap.length === most && (totals[at] as number) < (totals[heap[0] as number] as number)) continue
      if (totals[at] !== 0 && (inView === null || inView.has(at + lowest))) offer(at)
    }
  }
  return heap.map((at) => at + lowest)
}

/** How often each term occurs in each of the units: `counts[term][unit]`. */
export function countsIn(terms: readonly WeightedTerm[], units: readonly TurnUnit[]): readonly Uint8Array[] {
  const { lowest, size } = rangeOf(terms)
  const placeOf = new Int32Array(size).fill(-1)
  for (const [place, { row }] of units.entries())
    if (row >= lowest && row < lowest + size) placeOf[row - lowest] = place
  return terms.map(({ postings }) => {
    const found = new Uint8Array(units.length)
    for (let at = 0; at < postings.rows.length; at += 1) {
      const place = placeOf[(postings.rows[at] as number) - lowest] as number
      if (place >= 0) found[place] = postings.counts[at] as number
    }
    return found
  })
}

/** Another unit of the same session: where it is in the list, and how many turns later it was said. */
export type Neighbour = { readonly at: number; readonly unit: TurnUnit; readonly distance: number }

/** The units at most `reach` turns away in the same session, passages of the same turn included. */
export function neighboursOf(units: readonly TurnUnit[], at: number, reach: number): readonly Neighbour[] {
  const own = units[at] as TurnUnit
  const near: Neighbour[] = []
  for (const step of [-1, 1]) {
    for (let other = at + step; ; other += step) {
      const unit = units[other]
      if (unit === undefined || unit.session !== own.session) break
      const distance = unit.place - own.place
      if (Math.abs(distance) > reach) break
      near.push({ at: other, unit, distance })
    }
  }
  return near
}

function rangeOf(terms: readonly WeightedTerm[]): { readonly lowest: number; readonly size: number } {
  let lowest = Number.MAX_SAFE_INTEGER
  let highest = -1
  for (const { postings } of terms) {
    const { rows } = postings
    for (let at = 0; at < rows.length; at += 1) {
      const row = rows[at] as number
      if (row < lowest) lowest = row
      if (row > highest) highest = row
    }
  }
  return highest < 0 ? { lowest: 0, size: 0 } : { lowest, size: highest - lowest + 1 }
}

/** Restores the order of a binary heap below one node. */
function sink(heap: number[], from: number, isLess: (one: number, other: number) => boolean): void {
  for (let at = from; ; ) {
    const left = 2 * at + 1
    let least = at
    if (left < heap.length && isLess(heap[left] as number, heap[least] as number)) least = left
    if (left + 1 < heap.length && isLess(heap[left + 1] as number, heap[least] as number)) least = left + 1
    if (least === at) return
    const held = heap[at] as number
    heap[at] = heap[least] as number
    heap[least] = held
    at = least
  }
}
