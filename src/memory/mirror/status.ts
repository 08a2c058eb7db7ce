import { join } from 'node:path'
import type { Ports } from '../change/transaction.ts'
import { MirrorDocument } from './document.ts'
import { bytesHash, readLive, signatureAt } from './live-file.ts'
import { type OpenConflict, openConflicts } from './open-conflicts.ts'
import { mirrorFile, mirrorPlaces } from './places.ts'
import { loadProblem, loadState, type MirrorProblem, type MirrorState } from './state.ts'
import { nothingWaiting, type WaitingEdits, waitingEdits } from './waiting-edits.ts'

/** How a mirror stands, as plain values. */
export type MirrorStatus =
  | { readonly exists: false; readonly file: string }
  | {
      readonly exists: true
      readonly file: string
      readonly user: string
      /** Whether store and files say the same and nothing waits for anybody. */
      readonly isInStep: boolean
      readonly items: number
      /** Files beside MEMORY.md that hold what does not fit there. */
      readonly topicFiles: readonly string[]
      readonly syncedAt: string | null
      /** Changes of the store that the files do not show yet. */
      readonly pendingEvents: number
      /** Files that somebody changed since the last sync. */
      readonly editedFiles: readonly string[]
      /** What a sync would make of them. */
      readonly waiting: WaitingEdits
      /** List items of MEMORY.md outside of our sections, which are left alone. */
      readonly leftAlone: number
      readonly held: MirrorState['held']
      readonly conflicts: readonly OpenConflict[]
      /** Lines that could not be taken in. */
      readonly refused: MirrorState['refused']
      /** What came in through the files and nobody has confirmed. At most 1000 of them. */
      readonly unconfirmed: readonly {
        readonly id: string
        readonly name: string
        readonly content: string
        readonly at: string
      }[]
      readonly problem: MirrorProblem | null
      /** Whether others on this machine may write to the file. */
      readonly isWritableByOthers: boolean
    }

/** Looks, and changes nothing. */
export async function mirrorStatus(ports: Pick<Ports, 'store'>, dir: string): Promise<MirrorStatus> {
  const { store } = ports
  const places = mirrorPlaces(dir)
  const file = join(dir, mirrorFile)
  const state = await loadState(places)
  if (state === null) return { exists: false, file }
  if (state === 'damaged') return damaged(file)
  const pendingEvents = (await store.events(state.user, { limit: 1_000 })).filter(
    ({ number }) => number > state.watermark,
  ).length
  const names = Object.keys(state.files)
  const mirror = readLive(file)
  const editedFiles = names.filter((name) => isEdited(dir, name, state))
  const conflicts = await openConflicts(store, places, state)
  const problem = await loadProblem(places)
  const isInStep =
    pendingEvents === 0 && editedFiles.length === 0 && state.held === null && conflicts.length === 0 && problem === null
  return {
    exists: true,
    file,
    user: state.user,
    isInStep,
    items: Object.values(state.files).reduce((sum, { items }) => sum + items, 0),
    topicFiles: names.filter((name) => name !== mirrorFile).sort(),
    syncedAt: state.syncedAt,
    pendingEvents,
    editedFiles,
    waiting: await waitingEdits(ports, places, state, editedFiles),
    leftAlone: mirror.kind === 'read' ? new MirrorDocument(mirror.text).outsideItems() : 0,
    held: state.held,
    conflicts,
    refused: state.refused,
    unconfirmed: await unconfirmedOf({ store }, state.user),
    problem,
    isWritableByOthers: mirror.kind === 'read' && (mirror.mode & 0o002) !== 0,
  }
}

/** A file that looks as it did when we last saw it is not read. */
function isEdited(dir: string, name: string, { key, files }: MirrorState): boolean {
  const path = join(dir, name)
  if (files[name]?.signature === signatureAt(path)) return false
  const live = readLive(path)
  return live.kind !== 'read' || bytesHash(key, live.bytes) !== files[name]?.hash
}

const damaged = (file: string): MirrorStatus => ({
  exists: true,
  file,
  user: '',
  isInStep: false,
  items: 0,
  topicFiles: [],
  syncedAt: null,
  pendingEvents: 0,
  editedFiles: [],
  waiting: nothingWaiting,
  leftAlone: 0,
  held: null,
  conflicts: [],
  refused: [],
  unconfirmed: [],
  problem: { at: '', message: 'The records of the mirror cannot be read; `credence mirror sync` makes them anew.' },
  isWritableByOthers: false,
})

async function unconfirmedOf({ store }: Pick<Ports, 'store'>, user: string) {
  const { items } = await store.list({ user, statuses: ['inferred'], current: true }, { limit: 1_000, offset: 0 })
  return items
    .filter(({ provenance }) => provenance.actor === 'import' && provenance.origin === 'file')
    .map(({ id, name, content, provenance }) => ({ id, name, content, at: provenance.at }))
}
