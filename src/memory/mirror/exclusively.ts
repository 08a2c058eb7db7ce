import { setTimeout as pause } from 'node:timers/promises'
import { MemoryError } from '../../errors.ts'
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

async function take(lock: string, waitMs: number): Promise<() => Promise<void>> {
  for (let waited = 0; ; waited += betweenTriesMs) {
    try {
      return await takeLock(lock, 'The mirror')
    } catch (error) {
      if (!(error instanceof MemoryError) || waited >= waitMs) throw error
      await pause(betweenTriesMs)
    }
  }
}
