import { readFile, rename, rm } from 'node:fs/promises'
import { MemoryError } from '../errors.ts'
import { writeAtomically } from './atomic-write.ts'
import { codeOf, isRunning } from './leftovers.ts'

const mostAttempts = 20

/**
 * Takes a lock that is a file holding the owner's process id; `what` is in use while it is held. A lock whose owner is
 * gone is taken over. Returns what gives it back.
 */
export async function takeLock(path: string, what: string): Promise<() => Promise<void>> {
  for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
    if (await writeAtomically(path, `${process.pid}\n`, { existing: 'keep', durable: false })) {
      return () => rm(path, { force: true })
    }
    const owner = await ownerOf(path)
    if (owner === null) continue
    if (isRunning(owner)) {
      throw new MemoryError('conflict', `${what} is in use by process ${owner}.`, {
        hint: `Wait until it ends. If process ${owner} is another program, remove ${path}.`,
      })
    }
    await removeStale(path, owner)
  }
  throw new MemoryError('conflict', `${what} is in use by other processes.`, { hint: 'Try again.' })
}

/** Null when the lock has just been given back. */
async function ownerOf(path: string): Promise<number | null> {
  try {
    return Number.parseInt(await readFile(path, 'utf8'), 10)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}

/** Moves the lock away first: of two that find it stale only one can, and a new owner's lock is put back. */
async function removeStale(path: string, owner: number): Promise<void> {
  const aside = `${path}.stale-${process.pid}`
  try {
    await rename(path, aside)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return
    throw error
  }
  const moved = await ownerOf(aside)
  if (moved !== owner && moved !== null) await writeAtomically(path, `${moved}\n`, { existing: 'keep', durable: false })
  await rm(aside, { force: true })
}
