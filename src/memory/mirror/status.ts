import { join } from 'node:path'
import { MemoryError } from '../../errors.ts'
import { refuseSecret } from '../markdown/refuse-secret.ts'
import type { Ports } from '../ports.ts'
import { readNewLine } from './merge/apply.ts'
import { type OpenConflict, openConflicts } from './merge/conflicts.ts'
import { type Edit, openEdited, planMerge } from './merge/plan.ts'
import { readLiveFile, signatureAt } from './parse/read-file.ts'
import {
  loadProblem,
  loadState,
  type MirrorPaths,
  type MirrorProblem,
  type MirrorState,
  mirrorFile,
  mirrorPaths,
  rebuildState,
} from './state/state.ts'
import { MirrorDocument } from './write/document.ts'

/** How many edits of the files the next sync would take in. */
export type WaitingEdits = { readonly added: number; readonly changed: number; readonly removed: number }

export type MirrorStatus =
  | { readonly exists: false; readonly file: string }
  | {
      readonly exists: true
      readonly file: string
      readonly user: string
      /** Whether store and files say the same and nothing waits for a person. */
      readonly isInStep: boolean
      readonly items: number
      /** Files beside MEMORY.md that hold what does not fit there. */
      readonly topicFiles: readonly string[]
      readonly syncedAt: string | null
      /** Changes of the store that the files do not show yet. */
      readonly pendingEvents: number
      /** Files that were changed since the last sync. */
      readonly editedFiles: readonly string[]
      readonly waiting: WaitingEdits
      /** List items of MEMORY.md outside of the managed sections. */
      readonly leftAlone: number
      readonly held: MirrorState['held']
      readonly conflicts: readonly OpenConflict[]
      /** Lines that could not become beliefs. */
      readonly refused: MirrorState['refused']
      /** Beliefs that came from the files and that no person has confirmed. At most 1000. */
      readonly unconfirmed: readonly {
        readonly id: string
        readonly name: string
        readonly content: string
        readonly at: string
      }[]
      readonly problem: MirrorProblem | null
      /** Whether other users of this machine may write to MEMORY.md. */
      readonly isWritableByOthers: boolean
    }

/** Reads the state of a mirror, and changes nothing. */
export async function mirrorStatus(ports: Pick<Ports, 'store'>, dir: string): Promise<MirrorStatus> {
  const { store } = ports
  const paths = mirrorPaths(dir)
  const file = join(dir, mirrorFile)
  const loaded = loadState(paths)
  if (loaded === null) return { exists: false, file }
  const isDamaged = loaded === 'damaged'
  const state = isDamaged ? { ...rebuildState(paths, ''), files: {} } : loaded
  const events = isDamaged ? [] : await store.events(state.user, { limit: 1_000 })
  const pendingEvents = events.filter(({ number }) => number > state.watermark).length
  const names = Object.keys(state.files)
  const mirror = readLiveFile(file)
  const editedFiles = names.filter((name) => isEdited(dir, name, state))
  const conflicts = await openConflicts(store, paths, state)
  const problem = isDamaged
    ? { at: '', message: 'The records of the mirror cannot be read; `credence mirror sync` makes them anew.' }
    : loadProblem(paths)
  return {
    exists: true,
    file,
    user: state.user,
    isInStep:
      [pendingEvents, editedFiles.length, conflicts.length].every((count) => count === 0) &&
      state.held === null &&
      problem === null,
    items: Object.values(state.files).reduce((sum, { items }) => sum + items, 0),
    topicFiles: names.filter((name) => name !== mirrorFile).sort(),
    syncedAt: state.syncedAt,
    pendingEvents,
    editedFiles,
    waiting: await waitingEdits(ports, paths, state.user, editedFiles),
    leftAlone: mirror.kind === 'read' && !isDamaged ? new MirrorDocument(mirror.text).countOwnItems() : 0,
    held: state.held,
    conflicts,
    refused: state.refused,
    unconfirmed: await unconfirmedOf(ports, state.user),
    problem,
    isWritableByOthers: mirror.kind === 'read' && (mirror.mode & 0o002) !== 0,
  }
}

function isEdited(dir: string, name: string, { files }: MirrorState): boolean {
  const path = join(dir, name)
  if (files[name]?.signature === signatureAt(path)) return false
  const live = readLiveFile(path)
  return live.kind !== 'read' || live.hash !== files[name]?.hash
}

/** Plans the merge of the edited files without carrying it out. */
async function waitingEdits(
  { store }: Pick<Ports, 'store'>,
  paths: MirrorPaths,
  user: string,
  editedFiles: readonly string[],
): Promise<WaitingEdits> {
  const live = editedFiles.flatMap((name) => {
    const read = readLiveFile(join(paths.dir, name))
    return read.kind === 'read' ? [{ name, text: read.text }] : []
  })
  const present = new Set(live.flatMap(({ text }) => new MirrorDocument(text).ids()))
  const files = live.map(({ name, text }) => openEdited(paths, name, text, present))
  const { edits, removed } = await planMerge({ store, user }, files)
  const counts = { added: 0, changed: 0, removed: removed.length }
  for (const { edit } of edits) {
    const change = await changeOf({ store }, user, edit)
    if (change !== null) counts[change] += 1
  }
  return counts
}

/** Null for an edit that will be refused or says nothing new. */
async function changeOf(ports: Pick<Ports, 'store'>, user: string, edit: Edit): Promise<'added' | 'changed' | null> {
  if (edit.kind === 'duplicate') return null
  try {
    if (edit.kind !== 'add') {
      refuseSecret(edit.fields, edit.kind === 'correct' ? edit.old : edit.current)
      return 'changed'
    }
    const { outcome } = await readNewLine(ports, user, edit)
    return { known: null, corrected: 'changed' as const, added: 'added' as const }[outcome]
  } catch (error) {
    if (error instanceof MemoryError && error.code !== 'unavailable') return null
    throw error
  }
}

async function unconfirmedOf({ store }: Pick<Ports, 'store'>, user: string) {
  const { items } = await store.list({ user, statuses: ['inferred'], current: true }, { limit: 1_000, offset: 0 })
  return items
    .filter(({ provenance }) => provenance.actor === 'import' && provenance.origin === 'file')
    .map(({ id, name, content, provenance }) => ({ id, name, content, at: provenance.at }))
}
