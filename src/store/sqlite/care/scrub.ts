import { MemoryError } from '../../../errors.ts'
import type { Connection } from '../connection.ts'
import { clearUnusedSpace, WrittenPages } from './unused-space.ts'

/** The last event whose forgotten text may still lie in unused parts of the file, or null. */
export const remainsOf = (connection: Connection): number | null =>
  connection.value<number>('SELECT event FROM remains') ?? null

/** Notes, inside the transaction that forgets, that there is something to scrub. */
export function noteRemains(connection: Connection, event: number): void {
  connection.run('INSERT OR REPLACE INTO remains (id, event) VALUES (1, ?)', [event])
}

/** The pages that connections have written since they last cleared the unused space of the file. */
const written = new WeakMap<Connection, WrittenPages>()

/** Between emptying the log and taking the lock another process may write. */
const mostAttempts = 5

/**
 * Overwrites the copies of rows in unused parts of pages, and removes the log. The first time a connection does so for the
 * whole file, then only for the pages that it has written since, unless another process wrote. The note of what is to be
 * scrubbed stays while another process reads a state from before.
 */
export function scrub(connection: Connection): void {
  for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
    if (connection.read(() => remainsOf(connection)) === null) return
    if (!connection.emptyLog()) return
    // To lose the removal of the note means only to scrub again.
    const outcome = connection.write(() => clear(connection), { isSynced: false })
    if (outcome === 'log in use') continue
    // This connection would write the copies in its cached pages again. Other connections read the pages anew.
    if (outcome === 'cleared') connection.releaseCache()
    return
  }
}

function clear(connection: Connection): 'log in use' | 'cleared' | 'was clear' {
  if (connection.logSize > 0) return 'log in use'
  const known = written.get(connection)
  const outcome = clearUnusedSpace(connection.file, known?.pages ?? null) ? 'cleared' : 'was clear'
  connection.run('DELETE FROM remains')
  const pages = known ?? new WrittenPages(connection.file)
  pages.restart()
  if (known !== undefined) return outcome
  written.set(connection, pages)
  connection.onForeignChange(() => pages.giveUp())
  connection.onWritten(() => pages.follow())
  return outcome
}

/**
 * Scrubs right after something was forgotten. The note stays when it fails, because the disk fails or other processes are
 * busy. No read returns the forgotten text in either case.
 */
export function scrubSoon(connection: Connection): void {
  try {
    scrub(connection)
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error
    // The log holds pages from before.
    connection.emptyLog()
  }
}
