import { existsSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { conflict } from '../errors.ts'

const pollMs = 8

/** https://sqlite.org/rescode.html */
const sqliteBusy = 5
const sqliteNotADatabase = 26

/** The last caller of this process that waits for each lock, so that waiting callers get it in the order of asking. */
const queues = new Map<string, Promise<void>>()

/**
 * Takes a lock and returns its release. `what` is the thing the lock protects, as the subject of the error message;
 * without `waitMs` a lock in use is an error at once. The lock is SQLite's exclusive lock on an empty file: the
 * operating system releases it when the process ends, however it ends, so there are no stale locks and no process ids
 * to compare. It keeps out other callers of this process, too. The file stays: removing it would let two holders in.
 */
export async function takeLock(path: string, what: string, waitMs = 0): Promise<() => void> {
  if (waitMs === 0) return pollLock(path, what, 0)
  const before = queues.get(path)
  const { promise: isReleased, resolve: next } = Promise.withResolvers<void>()
  queues.set(path, isReleased)
  const end = (): void => {
    if (queues.get(path) === isReleased) queues.delete(path)
    next()
  }
  await before
  try {
    const release = await pollLock(path, what, waitMs)
    return () => {
      release()
      end()
    }
  } catch (error) {
    end()
    throw error
  }
}

async function pollLock(path: string, what: string, waitMs: number): Promise<() => void> {
  // Monotonic: setting the system clock neither shortens nor prolongs the wait.
  const deadline = performance.now() + waitMs
  for (;;) {
    const release = tryLock(path)
    if (release !== null) return release
    if (performance.now() >= deadline)
      throw conflict(`${what} is in use by another process.`, 'Try again when that process has finished.')
    await pause(pollMs)
  }
}

/** Null when the lock is held by another connection, of this process or another. */
function tryLock(path: string): (() => void) | null {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  // An existing file is never opened with `fs`: closing it would drop the lock that SQLite holds on it in this process.
  if (!existsSync(path)) writeFileSync(path, '', { mode: 0o600 })
  const db = new DatabaseSync(path, { timeout: 0 })
  try {
    db.exec('BEGIN EXCLUSIVE')
    // A lock may be released twice.
    return () => {
      if (db.isOpen) db.close()
    }
  } catch (error) {
    db.close()
    const code = error instanceof Error && 'errcode' in error ? error.errcode : null
    if (code === sqliteBusy) return null
    if (code !== sqliteNotADatabase) throw error
    // Earlier versions wrote a process id into the file.
    truncateSync(path)
    return tryLock(path)
  }
}
