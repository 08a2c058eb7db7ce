import { linkSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { MemoryError } from '../../errors.ts'
import { leftoverName } from '../../files/leftovers.ts'
import { takeLock } from '../../files/lock.ts'
import type { MirrorPlaces } from './places.ts'

/** Of one process only one works on a mirror at a time: the lock file tells processes apart, not what runs in one. */
const working = new Map<string, Promise<unknown>>()

const betweenTriesMs = 8

/** Runs `work` while nobody else works on the mirror, in this process or another. Waits for its turn, not for ever. */
export async function exclusively<Result>(
  { lock }: MirrorPlaces,
  waitMs: number,
  work: () => Promise<Result>,
): Promise<Result> {
  const before = working.get(lock) ?? Promise.resolve()
  const mine = before.then(
    () => locked(lock, waitMs, work),
    () => locked(lock, waitMs, work),
  )
  working.set(lock, mine)
  try {
    return await mine
  } finally {
    if (working.get(lock) === mine) working.delete(lock)
  }
}

async function locked<Result>(lock: string, waitMs: number, work: () => Promise<Result>): Promise<Result> {
  const release = await take(lock, waitMs)
  try {
    return await work()
  } finally {
    await release()
  }
}

async function take(lock: string, waitMs: number): Promise<() => void | Promise<void>> {
  for (let waited = 0; ; waited += betweenTriesMs) {
    if (takeFree(lock)) return () => rmSync(lock, { force: true })
    try {
      return await takeLock(lock, 'The mirror')
    } catch (error) {
      if (!(error instanceof MemoryError) || waited >= waitMs) throw error
      await pause(betweenTriesMs)
    }
  }
}

/** Takes a lock nobody has, which is nearly always so, without waiting for anything. */
function takeFree(lock: string): boolean {
  const temporary = join(dirname(lock), leftoverName('tmp', basename(lock)))
  try {
    writeFileSync(temporary, `${process.pid}\n`, { flag: 'wx', mode: 0o600 })
    linkSync(temporary, lock)
    return true
  } catch {
    // Whatever it is, the slower way finds out and says so.
    return false
  } finally {
    rmSync(temporary, { force: true })
  }
}
