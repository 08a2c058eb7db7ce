import { type IndexedUnit, mostOccurrences } from '../../search/turns/passages.ts'
import type { TermPostings } from '../../search/turns/turn-index.ts'
import type { Connection } from './connection.ts'

/** Rows are kept in blocks of this many, so that adding to a common term rewrites little. */
const blockBits = 12
const blockMask = (1 << blockBits) - 1
const entryBytes = 3

type Entries = Map<string, Map<number, number[]>>

/** Collects the postings of new turns, so that each term is written once. */
export class PostingsDraft {
  readonly #scopes = new Map<number, Entries>()

  /** `row` is that of the first unit. */
  add(scope: number, row: number, units: readonly IndexedUnit[]): void {
    const terms = this.#scopes.get(scope) ?? new Map<string, Map<number, number[]>>()
    this.#scopes.set(scope, terms)
    for (const [passage, { counts }] of units.entries()) {
      const block = (row + passage) >> blockBits
      const place = (row + passage) & blockMask
      for (const [term, count] of counts) {
        const blocks = terms.get(term) ?? new Map<number, number[]>()
        terms.set(term, blocks)
        const bytes = blocks.get(block) ?? []
        blocks.set(block, bytes)
        bytes.push(place & 0xff, place >> 8, Math.min(count, mostOccurrences))
      }
    }
  }

  write(connection: Connection): void {
    const append = connection.statement(
      `INSERT INTO turn_postings (scope, term, block, entries) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET entries = CAST(entries || excluded.entries AS BLOB)`,
    )
    for (const [scope, terms] of this.#scopes) {
      // In the order of the table, so that neighbouring pages are written one after the other.
      for (const term of [...terms.keys()].sort())
        for (const [block, bytes] of terms.get(term) ?? []) append.run(scope, term, block, Buffer.from(bytes))
    }
    this.#scopes.clear()
  }
}

/** Removes the postings of one turn. A block that becomes empty is deleted. */
export function removePostings(
  connection: Connection,
  scope: number,
  row: number,
  units: readonly IndexedUnit[],
): void {
  const where = 'WHERE scope = ? AND term = ? AND block = ?'
  for (const [passage, { counts }] of units.entries()) {
    const block = (row + passage) >> blockBits
    const place = (row + passage) & blockMask
    for (const term of counts.keys()) {
      const key = [scope, term, block]
      const entries = connection.value<Buffer>(`SELECT entries FROM turn_postings ${where}`, key)
      if (entries === undefined) continue
      const kept: Buffer[] = []
      for (let at = 0; at < entries.length; at += entryBytes) {
        if (entries.readUInt16LE(at) !== place) kept.push(entries.subarray(at, at + entryBytes))
      }
      if (kept.length === 0) connection.run(`DELETE FROM turn_postings ${where}`, key)
      else connection.run(`UPDATE turn_postings SET entries = ? ${where}`, [Buffer.concat(kept), ...key])
    }
  }
}

/** The postings of a term in the scopes; null when there are none. */
export function readPostings(connection: Connection, scopes: readonly number[], term: string): TermPostings | null {
  const inScope = 'SELECT block, entries FROM turn_postings WHERE scope = ? AND term = ?'
  const found = scopes.flatMap((scope) => connection.all<{ block: number; entries: Buffer }>(inScope, [scope, term]))
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
