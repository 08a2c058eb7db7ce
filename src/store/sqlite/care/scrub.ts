import { MemoryError } from '../../../errors.ts'
import type { Connection } from '../connection.ts'
import { sizeOf } from '../store-file.ts'

/** The last event whose forgotten text may still be in unused parts of the file, or null. */
export const findRemains = (connection: Connection): number | null =>
  connection.value<number>('SELECT event FROM remains') ?? null

/** Records, in the transaction that forgets, that the file must be scrubbed. */
export function noteRemains(connection: Connection, event: number): void {
  connection.run('INSERT OR REPLACE INTO remains (id, event) VALUES (1, ?)', [event])
}

/** Max size of a file that is rewritten immediately, which takes a second or two. */
const maxQuickBytes = 100 * 1000 * 1000

/**
 * Removes forgotten text from unused parts of the file: SQLite rewrites the whole file without them and empties the log. Returns whether
 * nothing is left. Text remains while another process reads an older state, and in a large file if `ifSmall` is set; the record stays
 * then.
 */
export async function scrub(connection: Connection, { ifSmall = false } = {}): Promise<boolean> {
  const event = connection.read(() => findRemains(connection))
  if (event === null) return true
  if (ifSmall && sizeOf(connection.file) > maxQuickBytes) {
    connection.emptyLog()
    return false
  }
  if (!(await connection.rewrite(mergeFullText))) return false
  // A later forget has another number and a separate scrub.
  await connection.writeInTurn(() => connection.run('DELETE FROM remains WHERE event = ?', [event]))
  return true
}

/**
 * Rewrites the full-text index. FTS5 stores the beginning of a term for each page of its index, even after the term was deleted. It
 * merges an index of one segment only after an insert.
 */
const mergeFullText = [
  `BEGIN IMMEDIATE`,
  `INSERT INTO texts (rowid, name) VALUES (0, 'merged')`,
  `INSERT INTO texts (texts) VALUES ('optimize')`,
  `INSERT INTO texts (texts, rowid, name) VALUES ('delete', 0, 'merged')`,
  `COMMIT`,
]

/**
 * Scrubs right after a forget. If it fails because the disk is full or failing, or other processes are busy, the record stays. No read
 * returns the forgotten text in either case.
 */
export async function scrubSoon(connection: Connection, { ifSmall = true } = {}): Promise<void> {
  try {
    await scrub(connection, { ifSmall })
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error
    // The log still contains older pages.
    connection.emptyLog()
  }
}
