import { takeLock } from '../../files/lock.ts'
import type { MirrorPlaces } from './places.ts'

/** Runs `work` while nobody else works on the mirror, in this process or another. */
export async function exclusively<Result>(
  { lock }: MirrorPlaces,
  waitMs: number,
  work: () => Promise<Result>,
): Promise<Result> {
  const release = await takeLock(lock, 'The mirror', waitMs)
  try {
    return await work()
  } finally {
    release()
  }
}
