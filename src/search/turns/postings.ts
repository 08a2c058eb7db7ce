import type { TermPostings, TurnPostings, TurnUnit } from './turn-index.ts'

/** A term of a question, with its weight and its occurrences. */
export type WeightedTerm = { readonly term: string; readonly weight: number; readonly postings: TermPostings }

/** Each repetition of a term counts less than the one before: n occurrences weigh n / (n + `saturation`). */
const saturation = 0.9

/**
 * Max occurrences to read when looking for candidates, starting with the rarest terms. At least `minTerms` terms are
 * read.
 */
const maxOccurrences = 20_000
const minTerms = 3

/** The terms by which candidates are found. In a large store, the most frequent terms are left out, because they distinguish few turns. */
function tellingTerms(terms: readonly WeightedTerm[]): readonly WeightedTerm[] {
  const rarestFirst = [...terms].sort((a, b) => a.postings.rows.length - b.postings.rows.length)
  let occurrences = 0
  return rarestFirst.filter(({ postings }, place) => {
    occurrences += postings.rows.length
    return place < minTerms || occurrences <= maxOccurrences
  })
}

/**
 * Returns a function that runs `work` with a table of at least `size` zeros. `work` must leave only zeros. The table is reused
 * by the next search, because allocating it takes longer than using it.
 */
function scratch<Table extends Float32Array | Int32Array | Uint8Array>(make: (size: number) => Table) {
  let kept: Table | null = null
  return <Result>(size: number, work: (table: Table) => Result): Result => {
    const table = kept !== null && kept.length >= size ? kept : make(size)
    // Not reused after an error, because it may contain values other than zero.
    kept = null
    const result = work(table)
    if (table.length <= maxKept) kept = table
    return result
  }
}

/** Max entries of a table that is kept for the next search. */
const maxKept = 4_000_000

const withTotals = scratch((size) => new Float32Array(size))
const withOffered = scratch((size) => new Uint8Array(size))
const withPlaces = scratch((size) => new Int32Array(size))

/** The `limit` rows in view with the highest total weight of the terms that they contain themselves, in no particular order. */
export function findHeaviestRows(
  all: readonly WeightedTerm[],
  inView: TurnPostings['inView'],
  limit: number,
): readonly number[] {
  const terms = tellingTerms(all)
  const { lowest, size } = rangeOf(terms.map(({ postings }) => postings.rows))
  return withTotals(size, (totals) =>
    withOffered(size, (offered) => {
      for (const { weight, postings } of terms) addWeights(totals, postings, lowest, weight)
      /** The heaviest rows so far, lightest first. Of two equally heavy rows, the later one counts as heavier. */
      const heaviest: number[] = []
      let lightest = Number.NEGATIVE_INFINITY
      const isLess = (a: number, b: number): boolean => {
        const difference = (totals[a] as number) - (totals[b] as number)
        return difference < 0 || (difference === 0 && a < b)
      }
      const offer = (at: number): void => {
        let low = 0
        let high = heaviest.length
        while (low < high) {
          const middle = (low + high) >> 1
          if (isLess(heaviest[middle] as number, at)) low = middle + 1
          else high = middle
        }
        heaviest.splice(low, 0, at)
        if (heaviest.length > limit) heaviest.shift()
        if (heaviest.length === limit) lightest = totals[heaviest[0] as number] as number
      }
      const seen: number[] = []
      for (const { postings } of terms) {
        const { rows } = postings
        for (let place = 0; place < rows.length; place += 1) {
          const at = (rows[place] as number) - lowest
          // Most rows are lighter than `lightest`, and are skipped quickly.
          if ((totals[at] as number) < lightest || offered[at] === 1) continue
          offered[at] = 1
          seen.push(at)
          if (totals[at] !== 0 && (inView === null || inView.has(at + lowest))) offer(at)
        }
      }
      for (const at of seen) offered[at] = 0
      for (const { postings } of terms)
        for (let place = 0; place < postings.rows.length; place += 1)
          totals[(postings.rows[place] as number) - lowest] = 0
      return heaviest.map((at) => at + lowest)
    }),
  )
}

/** The weights of counts below this are computed in advance, because most terms occur fewer times in a unit. */
const maxFastCount = 16

function addWeights(totals: Float32Array, { rows, counts }: TermPostings, lowest: number, weight: number): void {
  const worthOf = (count: number): number => (weight * count) / (count + saturation)
  const worths = new Float64Array(maxFastCount)
  for (let count = 1; count < maxFastCount; count += 1) worths[count] = worthOf(count)
  for (let at = 0; at < rows.length; at += 1) {
    const row = (rows[at] as number) - lowest
    const count = counts[at] as number
    totals[row] = (totals[row] as number) + (count < maxFastCount ? (worths[count] as number) : worthOf(count))
  }
}

/** The frequency of each term in each unit: `counts[term][unit]`. */
export function countsIn(terms: readonly WeightedTerm[], units: readonly TurnUnit[]): readonly Uint8Array[] {
  const unitRows = Int32Array.from(units, ({ row }) => row)
  const { lowest, size } = rangeOf([unitRows])
  return withPlaces(size, (places) => {
    // Starts at 1, because 0 means that the row is not a unit.
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
 * The range of positions in `units` of those that are at most `reach` turns away from the unit at `at`, in the same session.
 * Includes the unit itself and other passages of its turn.
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
