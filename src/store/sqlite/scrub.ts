import { MemoryError } from '../../errors.ts'
import type { Connection } from './connection.ts'
import { sizeOf } from './store-file.ts'

/** A store up to this size is written anew in about a second, which nobody who forgets something minds. */
const quicklyWrittenBytes = 128 * 1024 * 1024

/** The last event whose forgotten text may still lie in unused parts of the file, or null. */
export const remainsOf = (connection: Connection): number | null =>
  connection.statement<[], { event: number }>('SELECT event FROM remains').get()?.event ?? null

/** Notes, inside the transaction that forgets, that there is something to scrub. */
export function noteRemains(connection: Connection, event: number): void {
  connection.statement<[number]>('INSERT OR REPLACE INTO remains (id, event) VALUES (1, ?)').run(event)
}

/**
 * Writes the whole file anew. SQLite overwrites rows that are deleted, but not the copies of them it left in the gaps of
 * pages it once split, and the full-text index keeps words to find its own pages by. Stays noted as undone while another
 * process is reading what was there before.
 */
export function scrub(connection: Connection): void {
  const event = connection.read(() => remainsOf(connection))
  if (event === null) return
  connection.write(() => rewriteTexts(connection))
  connection.alone(() => vacuum(connection))
  if (!connection.emptyLog()) return
  // Another process may have forgotten something since; that is for it to scrub.
  connection.write(() => connection.statement<[number]>('DELETE FROM remains WHERE event <= ?').run(event))
}

/**
 * Scrubs right after something was forgotten, if that is quick. What could not be done now, for want of space or
 * because others are busy, remains noted; what was forgotten is out of every read path all the same.
 */
export function scrubSoon(connection: Connection): void {
  try {
    if (sizeOf(connection.file) <= quicklyWrittenBytes) scrub(connection)
    else connection.emptyLog()
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error
  }
}

/** The index is only written anew when there are two parts to merge, so it is given a second one for the moment. */
function rewriteTexts(connection: Connection): void {
  connection.statement<[]>(`INSERT INTO texts (rowid, name) VALUES (-1, '-')`).run()
  connection.statement<[]>(`INSERT INTO texts (texts) VALUES ('optimize')`).run()
  connection
    .statement<[]>(
      `INSERT INTO texts (texts, rowid, name, aliases, content, why) VALUES ('delete', -1, '-', '', '', '')`,
    )
    .run()
}

/** A copy is made on the way. A big one is better kept in a file than in memory. */
function vacuum(connection: Connection): void {
  const isBig = sizeOf(connection.file) > quicklyWrittenBytes
  if (isBig) connection.statement<[]>('PRAGMA temp_store = file').run()
  try {
    connection.statement<[]>('VACUUM').run()
  } finally {
    if (isBig) connection.statement<[]>('PRAGMA temp_store = memory').run()
  }
}
