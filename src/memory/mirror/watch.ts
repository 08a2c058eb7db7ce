import { setTimeout as pause } from 'node:timers/promises'
import type { Ports } from '../ports.ts'
import { type MirrorRequest, type Synced, syncMirror } from './sync.ts'

export type WatchRequest = Pick<MirrorRequest, 'dir' | 'user' | 'authority'> & { readonly signal: AbortSignal }

/** File events get lost and the store sends none, so both are polled. A sync without changes takes a few milliseconds. */
const pollMs = 500

/** Syncs a mirror until aborted. Yields every sync that changed the file, the store or the review list, and every error. */
export async function* watchMirror(ports: Ports, { signal, ...request }: WatchRequest): AsyncGenerator<Synced | Error> {
  let reported = waitingText({ held: null, refused: [], undecided: [], conflicts: [] })
  while (!signal.aborted) {
    const synced = await syncMirror(ports, { ...request, settle: true }).catch((error: unknown) =>
      error instanceof Error ? error : new Error(String(error)),
    )
    const waiting = synced instanceof Error ? reported : waitingText(synced)
    if (synced instanceof Error || hasEffect(synced) || waiting !== reported) yield synced
    reported = waiting
    await pause(pollMs, undefined, { signal }).catch(() => {})
  }
}

const hasEffect = ({ written, taken }: Synced): boolean =>
  written.length > 0 || Object.values(taken).some((count) => count > 0)

type Waiting = Pick<Synced, 'held' | 'refused' | 'undecided' | 'conflicts'>

/** The waiting decisions as text, for comparison. */
const waitingText = ({ held, refused, undecided, conflicts }: Waiting): string =>
  JSON.stringify([held?.file, held?.reason, refused, undecided.map(({ proposal }) => proposal.id), conflicts])
