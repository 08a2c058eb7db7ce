import { MemoryError } from '../../../errors.ts'
import type { Connection } from '../connection.ts'
import { sizeOf } from '../store-file.ts'

/** The last event whose forgotten text may still be in unused parts of the file, or null. */
export const remainsOf = (connection: Connection): number | null =>
  connection.value<number>('SELECT event FROM remains') ?? null

/** Notes, inside the transaction that forgets, that there is something to scrub. */
export function noteRemains(connection: Connection, event: number): void {
  connection.run('INSERT OR REPLACE INTO remains (id, event) VALUES (1, ?)', [event])
}

/** A vacuum of a larger file takes more than a second or two. */
const maxQuickBytes = 100 * 1000 * 1000

/**
 * Removes forgotten text from unused parts of the file: SQLite writes the whole file again, without them, and empties the
 * log. Returns whether nothing is left. Some is left while another process reads an older state, and in a large file if
 * `ifSmall` is set; the note stays then.
 */
export function scrub(connection: Connection, { ifSmall = false } = {}): boolean {
  const event = connection.read(() => remainsOf(connection))
  if (event === null) return true
  const isLater = ifSmall && sizeOf(connection.file) > maxQuickBytes
  if (!isLater) {
    connection.write(() => mergeFullText(connection))
    connection.vacuum()
  }
  if (!connection.emptyLog() || isLater) return false
  // A later forget has another number, and its own scrub.
  connection.write(() => connection.run('DELETE FROM remains WHERE event = ?', [event]))
  return true
}

/**
 * Writes the full-text index again. FTS5 keeps the beginning of a term for each page of its index, to find the page by, also
 * after the term was deleted. It merges an index of one part only after something was added.
 */
function mergeFullText(connection: Connection): void {
  const row = [0, 'merged']
  connection.run('INSERT INTO texts (rowid, name) VALUES (?, ?)', row)
  connection.run(`INSERT INTO texts (texts) VALUES ('optimize')`)
  connection.run(`INSERT INTO texts (texts, rowid, name) VALUES ('delete', ?, ?)`, row)
}

/**
 * Scrubs right after something was forgotten. The note stays when it fails, because the disk is full or fails, or other
 * processes are busy. No read returns the forgotten text in either case.
 */
export function scrubSoon(connection: Connection, { ifSmall = true } = {}): void {
  try {
    scrub(connection, { ifSmall })
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error
    // The log has pages from before.
    connection.emptyLog()
  }
}
