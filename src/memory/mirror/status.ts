import { join } from 'node:path'
import type { Ports } from '../ports.ts'
import { openConflicts } from './merge/conflicts.ts'
import { undecidedEdits } from './merge/waiting.ts'
import { readLiveFile, signatureAt } from './parse/read-file.ts'
import { loadProblem, loadState, type MirrorState, mirrorFile, mirrorPaths, rebuildState } from './state/state.ts'
import { MirrorDocument } from './write/document.ts'

export type MirrorStatus = Awaited<ReturnType<typeof mirrorStatus>>

/** Reads the state of a mirror, and changes nothing. */
export async function mirrorStatus({ store }: Pick<Ports, 'store'>, dir: string) {
  const paths = mirrorPaths(dir)
  const file = join(dir, mirrorFile)
  const loaded = loadState(paths)
  if (loaded === null) return { exists: false, file } as const
  const isDamaged = loaded === 'damaged'
  const state = isDamaged ? { ...rebuildState(paths, ''), files: {} } : loaded
  const events = isDamaged ? [] : await store.events(state.user, { limit: 1_000 })
  const pendingEvents = events.filter(({ number }) => number > state.watermark).length
  const names = Object.keys(state.files)
  const mirror = readLiveFile(file)
  const editedFiles = names.filter((name) => isEdited(dir, name, state))
  const conflicts = await openConflicts(store, paths, state)
  const undecided = await undecidedEdits(store, state)
  const problem = isDamaged
    ? { at: '', message: 'The records of the mirror cannot be read; `credence mirror sync` makes them anew.' }
    : loadProblem(paths)
  const hasWork = [pendingEvents, editedFiles.length, conflicts.length, undecided.length].some((count) => count > 0)
  return {
    exists: true,
    file,
    user: state.user,
    /** Whether store and files say the same and nothing waits for a person. */
    isInSync: !hasWork && state.held === null && problem === null,
    items: Object.values(state.files).reduce((sum, { items }) => sum + items, 0),
    /** Files beside MEMORY.md that hold what does not fit there. */
    topicFiles: names.filter((name) => name !== mirrorFile).sort(),
    syncedAt: state.syncedAt,
    /** Changes of the store that the files do not show yet. */
    pendingEvents,
    /** Files that were changed since the last sync. */
    editedFiles,
    /** List items of MEMORY.md outside of the managed sections. */
    leftAlone: mirror.kind === 'read' && !isDamaged ? new MirrorDocument(mirror.text).countOwnItems() : 0,
    /** Edits of the files that wait for a person to accept or reject them. */
    undecided,
    held: state.held,
    conflicts,
    /** Lines that could not become beliefs. */
    refused: state.refused,
    /** Beliefs that came from the files and that no person has confirmed. At most 1000. */
    unconfirmed: await unconfirmedOf({ store }, state.user),
    problem,
    /** Whether other users of this machine may write to MEMORY.md. */
    isWritableByOthers: mirror.kind === 'read' && (mirror.mode & 0o002) !== 0,
  } as const
}

function isEdited(dir: string, name: string, { files }: MirrorState): boolean {
  const path = join(dir, name)
  if (files[name]?.signature === signatureAt(path)) return false
  const live = readLiveFile(path)
  return live.kind !== 'read' || live.hash !== files[name]?.hash
}

async function unconfirmedOf({ store }: Pick<Ports, 'store'>, user: string) {
  const { items } = await store.list({ user, statuses: ['inferred'], current: true }, { limit: 1_000, offset: 0 })
  return items
    .filter(({ provenance }) => provenance.actor === 'document' && provenance.origin === 'file')
    .map(({ id, name, content, provenance }) => ({ id, name, content, at: provenance.at }))
}
