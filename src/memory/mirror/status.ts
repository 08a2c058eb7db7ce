import type { Ports } from '../ports.ts'
import { listUndecidedEdits } from './merge/waiting.ts'
import { readLiveFile, signatureAt } from './parse/read-file.ts'
import { conflictFiles } from './state/copies.ts'
import { loadState, mirrorFile, mirrorPaths, rebuildState } from './state/state.ts'
import { MirrorDocument } from './write/document.ts'

export type MirrorStatus = Awaited<ReturnType<typeof mirrorStatus>>

/** Reads the state of a mirror without changing anything. */
export async function mirrorStatus({ store }: Pick<Ports, 'store'>, dir: string) {
  const paths = mirrorPaths(dir)
  const { file } = paths
  const loaded = loadState(paths)
  if (loaded === null) return { exists: false, file } as const
  const isDamaged = loaded === 'damaged'
  const state = isDamaged ? { ...rebuildState(paths, ''), files: {} } : loaded
  const events = isDamaged ? [] : await store.events(state.user, { limit: 1_000 })
  const pendingEvents = events.filter(({ number }) => number > state.watermark).length
  const mirror = readLiveFile(file)
  const document = new MirrorDocument(mirror.kind === 'read' ? mirror.text : '')
  const known = state.files[mirrorFile]
  const isUnchanged =
    known === undefined ||
    known.signature === signatureAt(file) ||
    (mirror.kind === 'read' && mirror.hash === known.hash)
  const editedFiles = isUnchanged ? [] : [mirrorFile]
  const conflicts = conflictFiles(paths)
  const undecided = await listUndecidedEdits(store, state.user)
  const problem = isDamaged
    ? 'The records of the mirror cannot be read; `credence mirror sync` creates them again.'
    : null
  const hasWork = [pendingEvents, editedFiles.length, conflicts.length, undecided.length].some((count) => count > 0)
  return {
    exists: true,
    file,
    user: state.user,
    /** Whether store and file agree and nothing waits for a person. */
    isInSync: !hasWork && state.held === null && problem === null,
    items: known?.items ?? 0,
    /** Whether MEMORY.md shows only some of the beliefs, because not all of them fit. */
    isPartial: document.blocks.some(({ kind }) => kind === 'note'),
    syncedAt: state.syncedAt,
    /** The number of changes to the store that the file does not show yet. */
    pendingEvents,
    /** Files that were changed since the last sync. */
    editedFiles,
    /** The number of list items in MEMORY.md outside the managed sections. */
    leftAlone: isDamaged ? 0 : document.countOwnItems(),
    /** Edits to the file that wait for a person to accept or reject them. */
    undecided,
    held: state.held,
    conflicts,
    /** Lines that could not become beliefs. */
    refused: state.refused,
    /** Beliefs from MEMORY.md that no person has confirmed. At most 1000. */
    unconfirmed: await listUnconfirmed({ store }, state.user),
    problem,
    /** Whether other users of this machine may write to MEMORY.md. */
    isWritableByOthers: mirror.kind === 'read' && (mirror.mode & 0o002) !== 0,
  } as const
}

async function listUnconfirmed({ store }: Pick<Ports, 'store'>, user: string) {
  const { items } = await store.list({ user, statuses: ['inferred'], current: true }, { limit: 1_000, offset: 0 })
  return items
    .filter(({ provenance }) => provenance.actor === 'document' && provenance.origin === 'file')
    .map(({ id, name, content, provenance }) => ({ id, name, content, at: provenance.at }))
}
