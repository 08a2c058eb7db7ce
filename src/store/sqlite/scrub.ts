import { MemoryError } from '../../errors.ts'
import type { Connection } from './connection.ts'
import { sizeOf } from './store-file.ts'

/** A file up to this size is rewritten in about a second, which is acceptable right after a forget. */
const quicklyWrittenBytes = 128 * 1024 * 1024

/** The last event whose forgotten text may still lie in unused parts of the file, or null. */
export const remainsOf = (connection: Connection): number | null =>
  connection.value<number>('SELECT event FROM remains') ?? null

/** Notes, inside the transaction that forgets, that there is something to scrub. */
export function noteRemains(connection: Connection, event: number): void {
  connection.run('INSERT OR REPLACE INTO remains (id, event) VALUES (1, ?)', [event])
}

/**
 * Rewrites the whole file. SQLite overwrites deleted rows, but not the copies that it left in unused parts of pages it
 * once split, and the full-text index keeps words as separators of its pages. The note of what is to be scrubbed stays
 * while another process reads a state from before.
 */
export function scrub(connection: Connection): void {
  const event = connection.read(() => remainsOf(connection))
  if (event === null) return
  connection.write(() => rewriteTexts(connection))
  connection.outsideTransaction(() => vacuum(connection))
  if (!connection.emptyLog()) return
  // Another process may have forgotten something in the meantime, which it scrubs itself.
  connection.write(() => connection.run('DELETE FROM remains WHERE event <= ?', [event]))
}

/**
 * Scrubs right after something was forgotten, if that is quick. The note stays when it fails, because the disk is full or
 * other processes are busy. No read returns the forgotten text in either case.
 */
export function scrubSoon(connection: Connection): void {
  try {
    if (sizeOf(connection.file) <= quicklyWrittenBytes) scrub(connection)
    else connection.emptyLog()
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error
  }
}

/** FTS5 rewrites its index only when there are two segments to merge, so a second one is added for the moment. */
function rewriteTexts(connection: Connection): void {
  connection.run(`INSERT INTO texts (rowid, name) VALUES (-1, '-')`)
  connection.run(`INSERT INTO texts (texts) VALUES ('optimize')`)
  connection.run(`INSERT INTO texts (texts, rowid, name, aliases, content, why) VALUES ('delete', -1, '-', '', '', '')`)
}

/** VACUUM makes a temporary copy, which is kept in a file instead of memory when it is big. */
function vacuum(connection: Connection): void {
  const isBig = sizeOf(connection.file) > quicklyWrittenBytes
  if (isBig) connection.run('PRAGMA temp_store = file')
  try {
    connection.run('VACUUM')
  } finally {
    if (isBig) connection.run('PRAGMA temp_store = memory')
  }
}
