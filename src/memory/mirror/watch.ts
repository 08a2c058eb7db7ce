import { type FSWatcher, watch as watchDirectory } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { Ports } from '../change/transaction.ts'
import { type MirrorRequest, type Synced, syncMirror } from './sync.ts'

export type WatchOptions = Pick<MirrorRequest, 'dir' | 'user'> & {
  readonly signal: AbortSignal
  /** Told of every sync that did something, and of the first that finds what waits for somebody, or finds it gone. */
  readonly onSync: (synced: Synced) => void
  readonly onProblem: (problem: unknown) => void
  /** How often to look without being told. Default 2000. */
  readonly pollMs?: number
  /** How long to wait for more after the first sign of a change. Default 120. */
  readonly quietMs?: number
}

/**
 * Keeps a mirror in step until the signal: when a file in the directory changes, and, since such signs get lost and
 * the store gives none, by looking again and again. A look that finds nothing costs a few milliseconds.
 */
export async function watchMirror(ports: Ports, options: WatchOptions): Promise<void> {
  const { dir, signal, pollMs = 2_000, quietMs = 120 } = options
  let wake: () => void = () => {}
  const watcher = watching(dir, () => wake())
  let told = standing({ held: null, refused: [], conflicts: [] })
  try {
    while (!signal.aborted) {
      const synced = await syncOnce(ports, options)
      if (synced !== null) {
        const now = standing(synced)
        if (didSomething(synced) || now !== told) options.onSync(synced)
        told = now
      }
      const woken = new Promise<void>((resolve) => {
        wake = resolve
      })
      await Promise.race([woken, pause(pollMs, undefined, { signal, ref: true }).catch(() => {})])
      if (!signal.aborted) await pause(quietMs, undefined, { signal }).catch(() => {})
    }
  } finally {
    watcher?.close()
  }
}

async function syncOnce(ports: Ports, { dir, user, onProblem }: WatchOptions): Promise<Synced | null> {
  try {
    return await syncMirror(ports, { dir, user, settle: true })
  } catch (error) {
    onProblem(error)
    return null
  }
}

const didSomething = ({ written, taken }: Synced): boolean =>
  written.length > 0 || Object.values(taken).some((count) => count > 0)

/** What waits for somebody. It is said when it comes and when it goes, and not all the time. */
const standing = ({ held, refused, conflicts }: Pick<Synced, 'held' | 'refused' | 'conflicts'>): string =>
  JSON.stringify([held?.file, held?.reason, refused, conflicts])

/** Null where the system gives no signs; then looking has to do. */
function watching(dir: string, onSign: () => void): FSWatcher | null {
  try {
    const watcher = watchDirectory(dir, { persistent: false }, (_event, name) => {
      if (name === null || name.endsWith('.md')) onSign()
    })
    watcher.on('error', () => {})
    return watcher
  } catch {
    return null
  }
}
