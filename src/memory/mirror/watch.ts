import { type FSWatcher, watch as watchDirectory } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { Ports } from '../ports.ts'
import { type MirrorRequest, type Synced, syncMirror } from './sync.ts'

export type WatchRequest = Pick<MirrorRequest, 'dir' | 'user' | 'authority'> & { readonly signal: AbortSignal }

/** How often to sync without a file event. */
const pollMs = 2_000
/** How long to wait for more file events after the first. */
const quietMs = 120

/**
 * Syncs a mirror until the signal: whenever a file in the directory changes and, since file events get lost and the
 * store sends none, at intervals. A sync without changes costs a few milliseconds. Yields every sync that changed
 * something or what waits for a person, and every error.
 */
export async function* watchMirror(ports: Ports, { signal, ...request }: WatchRequest): AsyncGenerator<Synced | Error> {
  let wake: () => void = () => {}
  const watcher = watching(request.dir, () => wake())
  let reported = waitingText({ held: null, refused: [], undecided: [], conflicts: [] })
  try {
    while (!signal.aborted) {
      const synced = await syncMirror(ports, { ...request, settle: true }).catch((error: unknown) =>
        error instanceof Error ? error : new Error(String(error)),
      )
      const waiting = synced instanceof Error ? reported : waitingText(synced)
      if (synced instanceof Error || didSomething(synced) || waiting !== reported) yield synced
      reported = waiting
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

const didSomething = ({ written, taken }: Synced): boolean =>
  written.length > 0 || Object.values(taken).some((count) => count > 0)

type Waiting = Pick<Synced, 'held' | 'refused' | 'undecided' | 'conflicts'>

/** The waiting decisions, as text that can be compared. */
const waitingText = ({ held, refused, undecided, conflicts }: Waiting): string =>
  JSON.stringify([held?.file, held?.reason, refused, undecided.map(({ proposal }) => proposal.id), conflicts])

/** Null where the system has no file events; then the interval must do. */
function watching(dir: string, onEvent: () => void): FSWatcher | null {
  try {
    const watcher = watchDirectory(dir, { persistent: false }, (_event, name) => {
      if (name === null || name.endsWith('.md')) onEvent()
    })
    return watcher.on('error', () => {})
  } catch {
    return null
  }
}
