import type { TermPostings } from '../../../search/turns/turn-index.ts'
import { decodePostings, type PostingsDraft, withoutEntries } from '../../posting-blocks.ts'
import type { Connection } from '../connection.ts'

const postingsAtOnce = 2_000

/** Writes the postings of a draft; yields after every `postingsAtOnce` rows. */
export function* writePostings(connection: Connection, draft: PostingsDraft<number>): Generator<void, void> {
  const append = connection.statement(
    `INSERT INTO turn_postings (scope, term, block, entries) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET entries = CAST(entries || excluded.entries AS BLOB)`,
  )
  let written = 0
  for (const { scope, term, block, entries } of draft.take()) {
    append.run(scope, term, block, entries)
    written += 1
    if (written % postingsAtOnce === 0) yield
  }
}

/** Removes the postings of a draft; yields after every `postingsAtOnce` rows. A block that becomes empty is deleted. */
export function* removePostings(connection: Connection, draft: PostingsDraft<number>): Generator<void, void> {
  const where = 'WHERE scope = ? AND term = ? AND block = ?'
  let removed = 0
  for (const { scope, term, block, entries } of draft.take()) {
    const key = [scope, term, block]
    const stored = connection.value<Uint8Array>(`SELECT entries FROM turn_postings ${where}`, key)
    const kept = withoutEntries(stored ?? new Uint8Array(), entries)
    if (kept.length === 0) connection.run(`DELETE FROM turn_postings ${where}`, key)
    else connection.run(`UPDATE turn_postings SET entries = ? ${where}`, [kept, ...key])
    removed += 1
    if (removed % postingsAtOnce === 0) yield
  }
}

/** Reads the postings of a term in the scopes. Null if there are none. */
export function readPostings(connection: Connection, scopes: readonly number[], term: string): TermPostings | null {
  const inScope = 'SELECT block, entries FROM turn_postings WHERE scope = ? AND term = ?'
  const ofScope = (scope: number) => connection.all<{ block: number; entries: Uint8Array }>(inScope, [scope, term])
  return decodePostings(scopes.flatMap(ofScope))
}
