import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { conflict } from '../../errors.ts'
import { sweepLeftovers } from '../../files/leftovers.ts'
import { takeLock } from '../../files/lock.ts'
import { checkOwn, ownDirectory, ownPath } from '../../files/own-files.ts'
import type { Ports } from '../ports.ts'
import { changesSince, readFiles } from './changes.ts'
import { applyPlan, type EditCounts, fileAuthors, type MirrorAuthority } from './merge/apply.ts'
import {
  conflictText,
  forgetInConflicts,
  type OpenConflict,
  openConflicts,
  writeConflictFile,
} from './merge/conflicts.ts'
import { planMerge } from './merge/plan.ts'
import { settleWaiting, type UndecidedEdit, undecidedEdits, withdrawOutdated } from './merge/waiting.ts'
import { signatureAt } from './parse/read-file.ts'
import { forgetInBases, loadBase } from './state/bases.ts'
import {
  type Held,
  loadState,
  type MirrorPaths,
  type MirrorState,
  mirrorFile,
  mirrorPaths,
  rebuildState,
  saveProblem,
  saveState,
} from './state/state.ts'
import { type MirrorFile, openLayout } from './write/layout.ts'
import { displacedFiles, hasDisplaced, settleDisplaced, settleMs, writeFiles } from './write/swap.ts'

export type MirrorRequest = {
  readonly dir: string
  readonly user: string
  /** The author of edits of the file. Default `document`. */
  readonly authority?: MirrorAuthority
  /** Carries out a removal that would be held for review. */
  readonly accept?: boolean
  /** How long to wait for another sync of the same mirror. Default 2000. */
  readonly waitMs?: number
  /** Whether to wait until no program can be writing to a displaced file. Otherwise the next sync reads it again. */
  readonly settle?: boolean
}

export type Synced = {
  readonly outcome: 'synced' | 'held'
  readonly held: Held | null
  /** The path of MEMORY.md. */
  readonly file: string
  /** Names of the files that were written. */
  readonly written: readonly string[]
  /** How many changes came out of the files. */
  readonly taken: Readonly<EditCounts>
  readonly refused: MirrorState['refused']
  /** Edits of the files that wait for a person to accept or reject them. */
  readonly undecided: readonly UndecidedEdit[]
  /** Conflicts, new or old, that wait for a decision. */
  readonly conflicts: readonly OpenConflict[]
  /** List items of MEMORY.md outside of the managed sections. */
  readonly leftAlone: number
}

/** A file may change so often during a sync before the rest is left to the next one. */
const mostRounds = 8
const mostRestlessWaits = 5
const mostConflicts = 200

/**
 * Merges store and files, in both directions. Makes the mirror when there is none.
 *
 * The data path of one round: read the files that changed; find the base of each, the text written last; plan the merge
 * of base, file and store, item by item; commit the edits of the file to the store; update the items that the store
 * changed; write the files; keep their texts as the next bases.
 */
export async function syncMirror(ports: Ports, request: MirrorRequest): Promise<Synced> {
  const paths = mirrorPaths(request.dir)
  ownDirectory(paths.dir, paths.displaced)
  for (const folder of [paths.bases, paths.where]) checkOwn(paths.dir, folder)
  const release = await takeLock(ownPath(paths.dir, paths.lock), 'The mirror', request.waitMs ?? 2_000)
  try {
    const loaded = loadState(paths)
    const state = loaded === null || loaded === 'damaged' ? rebuildState(paths, request.user) : loaded
    if (state.user !== request.user)
      throw conflict(
        `The mirror in ${paths.dir} shows the memory of "${state.user}", not of "${request.user}".`,
        `Use --user ${state.user}, or another directory.`,
      )
    // Drafts of processes that died are rare, so only a sync that may take its time looks for them.
    if (request.settle === true) await sweepLeftovers(paths.dir)
    return await runSync(ports, paths, state, request)
  } finally {
    release()
  }
}

/** Syncs after another operation, which must not fail because of it: errors are recorded and returned. */
export async function syncQuietly(ports: Ports, request: MirrorRequest) {
  const paths = mirrorPaths(request.dir)
  try {
    const state = loadState(paths)
    // A directory has one mirror, which shows the memory of one user.
    if (state !== null && state !== 'damaged' && state.user !== request.user)
      return { synced: null, error: null, hasDisplaced: false }
    const synced = await syncMirror(ports, request)
    return { synced, error: null, hasDisplaced: hasDisplaced(paths) }
  } catch (cause) {
    const error = cause instanceof Error ? cause : new Error(String(cause))
    try {
      saveProblem(paths, { at: ports.now().toISOString(), message: error.message })
    } catch {
      // A disk that refuses the mirror refuses this record too; the error is returned all the same.
    }
    return { synced: null, error, hasDisplaced: false }
  }
}

async function runSync(ports: Ports, paths: MirrorPaths, state: MirrorState, request: MirrorRequest): Promise<Synced> {
  const writtenNames = new Set<string>()
  const taken: EditCounts = { corrected: 0, added: 0, retired: 0, conflicts: 0, proposed: 0, restored: 0 }
  let leftAlone = 0
  let hasForgotten = false
  let restlessWaits = 0

  async function runRound(hasWaited: boolean): Promise<'done' | 'again' | 'held'> {
    const { store } = ports
    const { user } = state
    const displaced = displacedFiles(paths)
    const read = readFiles(paths, state, {
      displaced,
      acceptsEmpty: request.accept === true,
      onTorn: (late) => writeConflict(late, []),
    })
    if ('reason' in read) return read.kind === 'removal' && (await isRestless(read.read)) ? 'again' : hold(read)

    const layout = openLayout(paths, state, read)
    const edited = read.filter(({ isChanged }) => isChanged)
    leftAlone = read.find(({ name }) => name === mirrorFile)?.document.countOwnItems() ?? 0
    // Beliefs that our last version showed, so that old copies get them back.
    const unseen = edited.flatMap(({ name }) => loadBase(paths, name)?.ids() ?? [])
    const settled = await settleWaiting(store, state, layout, edited)
    const plan = await planMerge({ store, user }, edited, settled.waiting)
    const isRemoval = plan.removed.length > 0 || plan.massRemoval !== null
    if (isRemoval && (await isRestless(read))) return 'again'
    if (plan.massRemoval !== null && request.accept !== true) return hold({ kind: 'removal', ...plan.massRemoval })

    const author = fileAuthors[request.authority ?? 'document']
    await withdrawOutdated(ports, author, settled.outdated)
    const applied = await applyPlan({ ports, user, author, layout }, plan)
    taken.restored += settled.restored
    for (const kind of Object.keys(taken) as (keyof EditCounts)[]) taken[kind] += applied.counts[kind]
    if (applied.clashes.length > 0) {
      const beliefs = applied.clashes.flatMap(({ said }) => said?.id ?? [])
      writeConflict(conflictText(applied.clashes), beliefs)
    }
    const news = await changesSince(store, user, state.watermark)
    const isNew = state.watermark === 0 || read.some(({ name, live }) => name === mirrorFile && live === null)
    const changed = [...plan.touched, ...unseen, ...settled.shown, ...applied.ids, ...(news.ids ?? [])]
    const left = new Map([...settled.left, ...applied.left])
    const waiting = [...settled.waiting, ...applied.waiting]
    await layout.update(store, isNew || news.ids === null ? 'all' : changed, {
      blocks: new Set(left.keys()),
      absent: new Set(waiting.flatMap(({ target, inPlace }) => (inPlace && target !== null ? [target] : []))),
    })
    if (news.forgotten.length > 0) {
      hasForgotten = true
      forgetInConflicts(paths, news.forgotten)
      forgetInBases(paths, news.forgotten, layout.forget(news.forgotten))
    }
    const written = await writeFiles({ paths, state, now: ports.now }, layout.files(), left)
    for (const name of written) writtenNames.add(name)
    await layout.save()
    const documents = new Map(layout.files().map(({ name, document }) => [name, document]))
    const refused = applied.refused.map(({ file, block, reason }) => {
      return { file, line: documents.get(file)?.lineOf(block) ?? 0, reason }
    })
    const begun = applied.waiting.map((edit) => ({ ...edit, version: documents.get(edit.file)?.version() ?? 0 }))
    state.waiting = [...settled.waiting, ...begun]
    const isEdited = (name: string): boolean => edited.some((file) => file.name === name)
    state.refused = [...state.refused.filter(({ file }) => !isEdited(file)), ...refused]
    state.conflicts = state.conflicts.slice(-mostConflicts)
    state.watermark = Math.max(state.watermark, news.head)
    state.held = null
    state.syncedAt = ports.now().toISOString()
    saveProblem(paths, null)
    saveState(paths, state)
    const now = ports.now().getTime()
    settleDisplaced(paths, displaced, (at) => hasWaited || now - at >= settleMs)
    return applied.isStale || displacedFiles(paths).some(({ late }) => late !== null) ? 'again' : 'done'
  }

  /** Whether a file with missing lines was written so lately that its writer may not have finished. */
  async function isRestless(read: readonly Pick<MirrorFile, 'name' | 'live'>[]): Promise<boolean> {
    if (restlessWaits >= mostRestlessWaits) return false
    restlessWaits += 1
    await pause(settleMs)
    return read.some(({ name, live }) => signatureAt(join(paths.dir, name)) !== (live?.signature ?? null))
  }

  function hold({ kind, file, reason }: Pick<Held, 'kind' | 'file' | 'reason'>): 'held' {
    const { held } = state
    const since = held?.reason === reason ? held.since : ports.now().toISOString()
    const signature = signatureAt(join(paths.dir, mirrorFile)) ?? ''
    state.held = { kind, file, reason, since, signature }
    saveState(paths, state)
    return 'held'
  }

  function writeConflict(content: string | Buffer, beliefs: string[]): void {
    const at = ports.now()
    const file = writeConflictFile(paths, at, content)
    state.conflicts.push({ at: at.toISOString(), file, beliefs })
  }

  let outcome = await runRound(false)
  for (let round = 1; round < mostRounds && outcome === 'again'; round += 1) outcome = await runRound(false)
  const mustSettle = request.settle === true || hasForgotten
  for (let round = 0; round < mostRounds && mustSettle && hasDisplaced(paths); round += 1) {
    if (outcome === 'held') break
    await pause(settleMs + 10)
    outcome = await runRound(true)
  }
  const { held, refused } = state
  return {
    outcome: held === null ? 'synced' : 'held',
    held,
    file: join(paths.dir, mirrorFile),
    written: [...writtenNames],
    taken,
    refused,
    undecided: await undecidedEdits(ports.store, state),
    conflicts: await openConflicts(ports.store, paths, state),
    leftAlone,
  }
}
