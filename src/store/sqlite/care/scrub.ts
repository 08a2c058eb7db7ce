import { MemoryError } from '../../../errors.ts'
import type { Connection } from '../connection.ts'
import { sizeOf } from '../store-file.ts'

/** The last event whose forgotten text may still be in unused parts of the file, or null. */
export const findRemains = (connection: Connection): number | null =>
  connection.value<number>('SELECT event FROM remains') ?? null

/** Records that the file must be scrubbed. Called in the transaction that forgets. */
export function noteRemains(connection: Connection, event: number): void {
  connection.run('INSERT OR REPLACE INTO remains (id, event) VALUES (1, ?)', [event])
}

/** Max size of a file that is rewritten immediately, which takes a second or two. */
const maxQuickBytes = 100 * 1000 * 1000

/**
 * Removes forgotten text from unused parts of the file. SQLite rewrites the file without these parts and empties the log. Returns false
 * if text remains, because another process is reading an older snapshot, or because the file is large and `ifSmall` is set. Then the record
 * in `remains` stays, too.
 */
export async function scrub(connection: Connection, { ifSmall = false } = {}): Promise<boolean> {
  const event = connection.read(() => findRemains(connection))
  if (event === null) return true
  if (ifSmall && sizeOf(connection.file) > maxQuickBytes) {
    connection.emptyLog()
    return false
  }
  if (!(await connection.rewrite(mergeFullText))) return false
  // If something else was forgotten meanwhile, the record has a later event and stays.
  await connection.writeInTurn(() => connection.run('DELETE FROM remains WHERE event = ?', [event]))
  return true
}

/**
 * Rewrites the full-text index. FTS5 stores the beginning of a term for each page of its index, even after the term was deleted. After an
 * insert, it merges even an index that has a single segment, so a row is inserted and deleted again.
 */
const mergeFullText = [
  `BEGIN IMMEDIATE`,
  `INSERT INTO texts (rowid, name) VALUES (0, 'merged')`,
  `INSERT INTO texts (texts) VALUES ('optimize')`,
  `INSERT INTO texts (texts, rowid, name) VALUES ('delete', 0, 'merged')`,
  `COMMIT`,
]

/**
 * Scrubs right after a forget. If that fails because the disk is full or failing, or other processes are busy, the record stays, but no
 * query returns the forgotten text.
 */
export async function scrubSoon(connection: Connection, { ifSmall = true } = {}): Promise<void> {
  try {
    await scrub(connection, { ifSmall })
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error
    // The log still contains older pages, so at least these are removed.
    connection.emptyLog()
  }
}
