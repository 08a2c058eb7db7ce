import { existsSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { conflict } from '../errors.ts'

const pollMs = 8

/** https://sqlite.org/rescode.html */
const sqliteBusy = 5
const sqliteNotADatabase = 26

/** By path: resolves when the last caller in this process has released the lock, so that callers get it in the order of their calls. */
const queues = new Map<string, Promise<void>>()

/**
 * Takes a lock and returns a function that releases it. `what` names the protected thing in the error message. Without `waitMs`, a lock in
 * use is an error at once. The lock is SQLite's exclusive lock on an empty file: the operating system releases it even if the process
 * crashes, so there are no stale locks and no process ids to compare. It also excludes other callers in this process. The file is never
 * removed: a new file would let a second process take the lock.
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
  // Uses the monotonic clock, so that setting the system clock neither shortens nor prolongs the wait.
  const deadline = performance.now() + waitMs
  for (;;) {
    const release = tryLock(path)
    if (release !== null) return release
    if (performance.now() >= deadline)
      throw conflict(`${what} is in use by another process.`, 'Try again when that process has finished.')
    await pause(pollMs)
  }
}

/** Null if another connection holds the lock, in this process or a different one. */
function tryLock(path: string): (() => void) | null {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  // Must not open an existing file with `fs`, because closing it would release this process's SQLite lock on it.
  if (!existsSync(path)) writeFileSync(path, '', { mode: 0o600 })
  const db = new DatabaseSync(path, { timeout: 0 })
  try {
    db.exec('BEGIN EXCLUSIVE')
    // Does nothing the second time, because a caller may release the lock twice.
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
