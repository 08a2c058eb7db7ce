import { setTimeout as pause } from 'node:timers/promises'
import type { Belief } from '../../beliefs/belief.ts'
import type { JournalEntry } from '../../beliefs/journal.ts'
import { conflict } from '../../errors.ts'
import { sweepLeftovers } from '../../files/leftovers.ts'
import { takeLock } from '../../files/lock.ts'
import { checkOwn, prepareOwnDirectory, prepareOwnPath } from '../../files/own-files.ts'
import type { Ports, Store } from '../ports.ts'
import { applyPlan, type EditCounts, fileAuthors, type MirrorAuthority } from './merge/apply.ts'
import { planMerge } from './merge/plan.ts'
import { listUndecidedEdits, type UndecidedEdit } from './merge/waiting.ts'
import type { ItemBlock } from './parse/blocks.ts'
import { contentHashOf, type LiveFile, signatureAt } from './parse/read-file.ts'
import { type OpenFile, readMirror } from './read.ts'
import { conflictFiles, forgetInCopies, removeOldRecords, saveBase, writeConflictFile } from './state/copies.ts'
import {
  type HeldMirror,
  loadState,
  type MirrorPaths,
  type MirrorState,
  mirrorFile,
  mirrorPaths,
  rebuildState,
  saveState,
} from './state/state.ts'
import { showBeliefs } from './write/shown.ts'
import { hasReplaced, readReplaced, replaceFile, settleMs, settleReplaced } from './write/swap.ts'

export type MirrorRequest = {
  readonly dir: string
  readonly user: string
  /** The author of edits in the file. Default `document`. */
  readonly authority?: MirrorAuthority
  /** Carries out a removal that would otherwise wait for a review. */
  readonly accept?: boolean
  /** How long to wait for another sync of the same mirror. Default 2000. */
  readonly waitMs?: number
  /** Whether to wait until no program can still write to the replaced file. Default true. If false, the caller must sync again. */
  readonly settle?: boolean
}

export type Synced = {
  readonly outcome: 'synced' | 'held'
  readonly held: HeldMirror | null
  /** The path of MEMORY.md. */
  readonly file: string
  /** `MEMORY.md` if it was written. */
  readonly written: readonly string[]
  /** The numbers of changes that came from the file. */
  readonly taken: Readonly<EditCounts>
  readonly refused: MirrorState['refused']
  /** Edits to the file that wait for a person to accept or reject them. */
  readonly undecided: readonly UndecidedEdit[]
  /** Names of the files with saves of other programs that could not be merged. */
  readonly conflicts: readonly string[]
  /** The number of list items in MEMORY.md outside the managed sections. */
  readonly leftAlone: number
}

/** Max rounds of a sync, and max waits for a writer to finish. If the file still changes, the next sync does the rest. */
const maxRounds = 8
const maxRestlessWaits = 5

/**
 * Merges store and file, in both directions. Creates the mirror if there is none.
 *
 * The data path of one round: read the file; find its base, the version it was made from; plan the merge of base, file
 * and store, item by item; commit the edits in the file to the store; show the beliefs of the store in the document;
 * write it; keep its text as the next base.
 */
export async function syncMirror(ports: Ports, request: MirrorRequest): Promise<Synced> {
  const paths = mirrorPaths(request.dir)
  prepareOwnDirectory(paths.dir, paths.state)
  checkOwn(paths.dir, paths.bases)
  const release = await takeLock(prepareOwnPath(paths.dir, paths.lock), 'The mirror', request.waitMs ?? 2_000)
  try {
    const loaded = loadState(paths)
    const state = loaded === null || loaded === 'damaged' ? rebuildState(paths, request.user) : loaded
    if (state.user !== request.user)
      throw conflict(
        `The mirror in ${paths.dir} shows the memory of "${state.user}", not of "${request.user}".`,
        `Use --user ${state.user}, or another directory.`,
      )
    // Drafts that killed processes left behind are rare, so only a sync that may take time looks for them.
    if (request.settle !== false) await sweepLeftovers(paths.dir)
    return await runSync(ports, paths, state, request)
  } finally {
    release()
  }
}

/** Syncs after another operation. Returns errors, because that operation must not fail if the sync does. */
export async function syncQuietly(ports: Ports, request: MirrorRequest) {
  const paths = mirrorPaths(request.dir)
  try {
    const state = loadState(paths)
    // A directory has only one mirror. This one shows another user's memory, so there is nothing to sync.
    if (state !== null && state !== 'damaged' && state.user !== request.user)
      return { synced: null, error: null, mustSettle: false }
    const synced = await syncMirror(ports, request)
    return { synced, error: null, mustSettle: hasReplaced(paths) }
  } catch (cause) {
    return { synced: null, error: cause instanceof Error ? cause : new Error(String(cause)), mustSettle: false }
  }
}

async function runSync(ports: Ports, paths: MirrorPaths, state: MirrorState, request: MirrorRequest): Promise<Synced> {
  const { store } = ports
  const { user } = state
  const isAccepted = request.accept === true
  const taken: EditCounts = { corrected: 0, added: 0, retired: 0, conflicts: 0, proposed: 0 }
  let isWritten = false
  let leftAlone = 0
  let restlessWaits = 0

  async function runRound(hasWaited: boolean): Promise<'done' | 'again' | 'held'> {
    const replaced = readReplaced(paths)
    const late = replaced.flatMap((entry) => entry.late ?? [])
    const read = readMirror(paths, state, { late, acceptsEmpty: isAccepted, onTorn: keepTorn })
    if ('reason' in read) return read.kind === 'removal' && (await isRestless(read.live)) ? 'again' : hold(read)

    const { document } = read
    leftAlone = document.countOwnItems()
    const plan = await planMerge({ store, user }, read)
    const isRemoval = plan.removed.length > 0 || plan.massRemoval !== null
    if (isRemoval && (await isRestless(read.live))) return 'again'
    if (plan.massRemoval !== null && !isAccepted)
      return hold({ kind: 'removal', file: mirrorFile, reason: plan.massRemoval })

    const author = fileAuthors[request.authority ?? 'document']
    const applied = await applyPlan({ ports, user, author, document, isAccepted }, plan)
    for (const kind of Object.keys(taken) as (keyof EditCounts)[]) taken[kind] += applied.counts[kind]
    const events = await eventsSince(store, user, state.watermark)
    const left = new Map(applied.refused.map(({ block, stored }) => [block, stored]))
    if (read.isChanged || read.live === null || state.watermark === 0 || events.length > 0)
      await showBeliefs(store, user, document, left)
    const forgotten = await findForgotten(store, user, events)
    if (forgotten.length > 0) forgetInCopies(paths, forgotten)
    if (await write(read, left)) isWritten = true
    state.refused = applied.refused.map(({ block, reason }) => ({
      file: mirrorFile,
      line: document.lineOf(block),
      reason,
    }))
    state.watermark = Math.max(state.watermark, events[0]?.number ?? 0)
    state.held = null
    state.syncedAt = ports.now().toISOString()
    saveState(paths, state)
    const now = ports.now().getTime()
    settleReplaced(paths, replaced, (at) => hasWaited || now - at >= settleMs)
    const isLate = readReplaced(paths).some((entry) => entry.late !== null)
    return applied.isStale || isLate ? 'again' : 'done'
  }

  /**
   * Writes the document if its text is not on disk already, and stores the text as the base of the next merge. `left`: the
   * refused lines, each with the stored belief that it would change.
   */
  async function write({ document, live }: OpenFile, left: ReadonlyMap<ItemBlock, Belief | null>): Promise<boolean> {
    const mustWrite = document.version() === null || document.render() !== live?.text
    if (!mustWrite && live?.hash === state.files[mirrorFile]?.hash) return false
    if (mustWrite) {
      const version = document.version() ?? 0
      state.version = Math.max(state.version, version < Number.MAX_SAFE_INTEGER / 2 ? version : 0) + 1
      document.setVersion(state.version)
    }
    const content = document.render()
    // The base has the stored belief instead of a refused line, so that the line still counts as edited.
    const instead = [...left].flatMap(([block, belief]) => (belief === null ? [] : [[block, belief] as const]))
    await saveBase(paths, document, document.render(new Map(instead)))
    const signature = mustWrite ? await replaceFile(paths, live, content, ports.now()) : (live?.signature ?? '')
    state.files[mirrorFile] = { signature, hash: contentHashOf(content), items: document.ids().length }
    return mustWrite
  }

  /** Whether a file with missing lines changes again within a moment. If so, its writer had not finished. */
  async function isRestless(live: LiveFile | null): Promise<boolean> {
    if (restlessWaits >= maxRestlessWaits) return false
    restlessWaits += 1
    await pause(settleMs)
    return signatureAt(paths.file) !== (live?.signature ?? null)
  }

  function hold({ kind, file, reason }: Pick<HeldMirror, 'kind' | 'file' | 'reason'>): 'held' {
    const since = state.held?.reason === reason ? state.held.since : ports.now().toISOString()
    state.held = { kind, file, reason, since, signature: signatureAt(paths.file) ?? '' }
    saveState(paths, state)
    return 'held'
  }

  const keepTorn = (save: Buffer): void => writeConflictFile(paths, ports.now(), save)

  removeOldRecords(paths)
  let outcome = await runRound(false)
  for (let round = 1; round < maxRounds && outcome === 'again'; round += 1) outcome = await runRound(false)
  const mustSettle = request.settle !== false
  for (let round = 0; round < maxRounds && mustSettle && outcome !== 'held' && hasReplaced(paths); round += 1) {
    await pause(settleMs + 10)
    outcome = await runRound(true)
  }
  return {
    outcome: state.held === null ? 'synced' : 'held',
    held: state.held,
    file: paths.file,
    written: isWritten ? [mirrorFile] : [],
    taken,
    refused: state.refused,
    undecided: await listUndecidedEdits(store, state.user),
    conflicts: conflictFiles(paths),
    leftAlone,
  }
}

/** The events after the one with this number, newest first. For a new mirror (0), only the latest events. */
async function eventsSince(store: Store, user: string, number: number): Promise<readonly JournalEntry[]> {
  const events: JournalEntry[] = []
  for (let before: number | undefined; ; ) {
    // Usually there are one or two events, so a short page comes first.
    const limit = before === undefined ? 8 : 500
    const page = await store.events(user, { limit, ...(before === undefined ? {} : { before }) })
    events.push(...page.filter((event) => event.number > number))
    before = page.at(-1)?.number
    if (before === undefined || before <= number || number === 0) return events
  }
}

async function findForgotten(store: Store, user: string, events: readonly JournalEntry[]): Promise<readonly string[]> {
  const forgets = events.filter(({ kind }) => kind === 'forget')
  // Listed events contain only their first beliefs, so each event is read again.
  const whole = await Promise.all(forgets.map(({ number }) => store.event(user, number)))
  return whole.flatMap((event) => event?.beliefIds ?? [])
}
