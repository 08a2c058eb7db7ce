import { type FSWatcher, watch as watchDirectory } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { Ports } from '../ports.ts'
import { type MirrorRequest, type Synced, syncMirror } from './sync.ts'

export type WatchOptions = Pick<MirrorRequest, 'dir' | 'user'> & {
  readonly signal: AbortSignal
  /** Called after every sync that changed something, and when the list of what waits for a person changes. */
  readonly onSync: (synced: Synced) => void
  readonly onProblem: (problem: unknown) => void
  /** How often to sync without a file event. Default 2000. */
  readonly pollMs?: number
  /** How long to wait for more file events after the first. Default 120. */
  readonly quietMs?: number
}

/**
 * Syncs a mirror until the signal: whenever a file in the directory changes and, since file events get lost and the
 * store sends none, at intervals. A sync without changes costs a few milliseconds.
 */
export async function watchMirror(ports: Ports, options: WatchOptions): Promise<void> {
  const { dir, signal, pollMs = 2_000, quietMs = 120 } = options
  let wake: () => void = () => {}
  const watcher = watching(dir, () => wake())
  let reported = waitingText({ held: null, refused: [], conflicts: [] })
  try {
    while (!signal.aborted) {
      const synced = await syncOnce(ports, options)
      if (synced !== null) {
        const now = waitingText(synced)
        if (didSomething(synced) || now !== reported) options.onSync(synced)
        reported = now
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

/** What waits for a person, as text that can be compared. */
const waitingText = ({ held, refused, conflicts }: Pick<Synced, 'held' | 'refused' | 'conflicts'>): string =>
  JSON.stringify([held?.file, held?.reason, refused, conflicts])

/** Null where the system has no file events; then the interval must do. */
function watching(dir: string, onEvent: () => void): FSWatcher | null {
  try {
    const watcher = watchDirectory(dir, { persistent: false }, (_event, name) => {
      if (name === null || name.endsWith('.md')) onEvent()
    })
    watcher.on('error', () => {})
    return watcher
  } catch {
    return null
  }
}
