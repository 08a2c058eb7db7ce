import { type IndexedUnit, maxOccurrences } from '../search/turns/passages.ts'
import type { TermPostings } from '../search/turns/turn-index.ts'

/** Rows per block, as a power of two. Blocks are small, so that adding a posting to a common term rewrites little. */
const blockBits = 12
const blockMask = (1 << blockBits) - 1
const entryBytes = 3

/** The entries of one term in one block of rows. Three bytes each: two for the unit's place in the block, one for the frequency. */
type PostingBlock = { readonly term: string; readonly block: number; readonly entries: Uint8Array }

/** Collects the postings of new turns by scope, so that each term is written once. */
export class PostingsDraft<Scope> {
  readonly #scopes = new Map<Scope, Map<string, Map<number, number[]>>>()

  /** `row` is the row of the first unit. */
  add(scope: Scope, row: number, units: readonly IndexedUnit[]): void {
    const terms = this.#scopes.get(scope) ?? new Map<string, Map<number, number[]>>()
    this.#scopes.set(scope, terms)
    for (const { term, block, place, count } of postingEntriesOf(row, units)) {
      const blocks = terms.get(term) ?? new Map<number, number[]>()
      terms.set(term, blocks)
      const bytes = blocks.get(block) ?? []
      blocks.set(block, bytes)
      bytes.push(place & 0xff, place >> 8, Math.min(count, maxOccurrences))
    }
  }

  /** Takes out the collected postings, in the order of the table, so that neighbouring pages are written in sequence. */
  *take(): Generator<PostingBlock & { readonly scope: Scope }> {
    for (const [scope, terms] of this.#scopes)
      for (const term of [...terms.keys()].sort())
        for (const [block, bytes] of terms.get(term) ?? []) yield { scope, term, block, entries: Buffer.from(bytes) }
    this.#scopes.clear()
  }
}

/** The block, place and frequency of each term in each unit of a turn. */
function* postingEntriesOf(
  row: number,
  units: readonly IndexedUnit[],
): Generator<{ readonly term: string; readonly block: number; readonly place: number; readonly count: number }> {
  for (const [passage, { counts }] of units.entries()) {
    const block = (row + passage) >> blockBits
    const place = (row + passage) & blockMask
    for (const [term, count] of counts) yield { term, block, place, count }
  }
}

/** Removes from the entries of a block those of units that also occur in `others`. */
export function withoutEntries(entries: Uint8Array, others: Uint8Array): Uint8Array {
  const isRemoved = new Uint8Array(blockMask + 1)
  for (let at = 0; at < others.length; at += entryBytes) isRemoved[placeAt(others, at)] = 1
  return entries.filter((_, at) => isRemoved[placeAt(entries, at - (at % entryBytes))] === 0)
}

const placeAt = (entries: Uint8Array, at: number): number =>
  (entries[at] as number) | ((entries[at + 1] as number) << 8)

/** Decodes the postings of a term from its blocks. Null if there are none. */
export function decodePostings(found: readonly Pick<PostingBlock, 'block' | 'entries'>[]): TermPostings | null {
  const size = found.reduce((total, { entries }) => total + entries.length / entryBytes, 0)
  if (size === 0) return null
  const rows = new Int32Array(size)
  const counts = new Uint8Array(size)
  let to = 0
  for (const { block, entries } of found) {
    const base = block << blockBits
    for (let at = 0; at < entries.length; at += entryBytes) {
      rows[to] = base + ((entries[at] as number) | ((entries[at + 1] as number) << 8))
      counts[to] = entries[at + 2] as number
      to += 1
    }
  }
  return { rows, counts }
}
