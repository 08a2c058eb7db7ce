import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { JournalEntry } from '../../beliefs/journal.ts'
import { MemoryError } from '../../errors.ts'
import { sweepLeftovers } from '../../files/leftovers.ts'
import { takeLock } from '../../files/lock.ts'
import { syncDirectoryNow } from '../../files/sync-directory.ts'
import type { Ports, Store } from '../ports.ts'
import { type Applied, applyPlan, type EditCounts } from './merge/apply.ts'
import {
  conflictText,
  forgetInConflicts,
  type OpenConflict,
  openConflicts,
  writeConflictFile,
} from './merge/conflicts.ts'
import { type EditedFile, openEdited, planMerge } from './merge/plan.ts'
import { versionMark } from './parse/blocks.ts'
import { hashOf, type LiveFile, readLiveFile, signatureAt } from './parse/read-file.ts'
import { baseOf, forgetInBases, loadBase, saveBase } from './state/bases.ts'
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
import { MirrorDocument } from './write/document.ts'
import { beginningOf, Layout, type OpenFile } from './write/layout.ts'
import {
  appended,
  type Displaced,
  displacedFiles,
  hasDisplaced,
  linesAdded,
  mergeLate,
  settleDisplaced,
  settleMs,
  swapIn,
  writeDraft,
} from './write/swap.ts'

export type MirrorRequest = {
  readonly dir: string
  readonly user: string
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
  mkdirSync(paths.displaced, { recursive: true, mode: 0o700 })
  const release = await takeLock(paths.lock, 'The mirror', request.waitMs ?? 2_000)
  try {
    const loaded = loadState(paths)
    const state = loaded === null || loaded === 'damaged' ? rebuildState(paths, request.user) : loaded
    if (state.user !== request.user)
      throw new MemoryError(
        'conflict',
        `The mirror in ${paths.dir} shows the memory of "${state.user}", not of "${request.user}".`,
        { hint: `Use --user ${state.user}, or another directory.` },
      )
    // Records of the earlier format, which held lines of the person.
    for (const name of ['imprints', 'outside']) rmSync(join(paths.state, name), { recursive: true, force: true })
    // Drafts of processes that died are rare, so only a sync that may take its time looks for them.
    if (request.settle === true) await sweepLeftovers(paths.dir)
    return await new SyncSession(ports, paths, state, request).run()
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

/** A file that may have changed: as it is on disk, and with late changes and unseen lines merged in. */
type ReadFile = {
  readonly name: string
  readonly live: LiveFile | null
  readonly text: string
  readonly isChanged: boolean
}

type HeldFile = Pick<Held, 'kind' | 'file' | 'reason'>

class SyncSession {
  readonly #ports: Ports
  readonly #paths: MirrorPaths
  readonly #state: MirrorState
  readonly #request: MirrorRequest
  readonly #written = new Set<string>()
  readonly #taken: EditCounts = { corrected: 0, added: 0, retired: 0, conflicts: 0 }
  #leftAlone = 0
  #hasForgotten = false
  #restlessWaits = 0

  constructor(ports: Ports, paths: MirrorPaths, state: MirrorState, request: MirrorRequest) {
    this.#ports = ports
    this.#paths = paths
    this.#state = state
    this.#request = request
  }

  async run(): Promise<Synced> {
    let outcome = await this.#round(false)
    for (let round = 1; round < mostRounds && outcome === 'again'; round += 1) outcome = await this.#round(false)
    const mustSettle = this.#request.settle === true || this.#hasForgotten
    for (let round = 0; round < mostRounds && mustSettle && hasDisplaced(this.#paths); round += 1) {
      if (outcome === 'held') break
      await pause(settleMs + 10)
      outcome = await this.#round(true)
    }
    const { held, refused } = this.#state
    return {
      outcome: held === null ? 'synced' : 'held',
      held,
      file: join(this.#paths.dir, mirrorFile),
      written: [...this.#written],
      taken: this.#taken,
      refused,
      conflicts: await openConflicts(this.#ports.store, this.#paths, this.#state),
      leftAlone: this.#leftAlone,
    }
  }

  async #round(hasWaited: boolean): Promise<'done' | 'again' | 'held'> {
    const { store } = this.#ports
    const { user } = this.#state
    const displaced = displacedFiles(this.#paths)
    const read = await this.#readFiles(displaced)
    if ('reason' in read) return this.#hold(read)

    const layout = new Layout(this.#paths, this.#state)
    const { edited, unseen } = this.#openFiles(layout, read)
    const plan = await planMerge({ store, user }, edited)
    const isRemoval = plan.removed.length > 0 || plan.massRemoval !== null
    if (isRemoval && (await this.#isRestless(read))) return 'again'
    if (plan.massRemoval !== null && this.#request.accept !== true)
      return this.#hold({ kind: 'removal', ...plan.massRemoval })

    const applied = await applyPlan({ ports: this.#ports, user, layout }, plan)
    for (const kind of Object.keys(this.#taken) as (keyof EditCounts)[]) this.#taken[kind] += applied.counts[kind]
    if (applied.clashes.length > 0) {
      const beliefs = applied.clashes.flatMap(({ said }) => said?.id ?? [])
      this.#writeConflict(conflictText(applied.clashes), beliefs)
    }
    const news = await changesSince(store, user, this.#state.watermark)
    const isNew = this.#state.watermark === 0 || read.some(({ name, live }) => name === mirrorFile && live === null)
    const changed = [...plan.touched, ...unseen, ...applied.ids, ...(news.ids ?? [])]
    await layout.update(store, isNew || news.ids === null ? 'all' : changed, new Set(applied.refused.keys()))
    if (news.forgotten.length > 0) {
      this.#hasForgotten = true
      forgetInConflicts(this.#paths, news.forgotten)
      forgetInBases(this.#paths, news.forgotten)
    }
    await this.#writeFiles(layout.files(), applied)
    layout.save()
    this.#saveState({ head: news.head, edited, applied, files: layout.files() })
    const now = this.#ports.now().getTime()
    settleDisplaced(this.#paths, displaced, (at) => hasWaited || now - at >= settleMs)
    return applied.isStale || displacedFiles(this.#paths).some(({ late }) => late !== null) ? 'again' : 'done'
  }

  /** Reads MEMORY.md and every topic file that changed. Returns the reason when one of them cannot be relied on. */
  async #readFiles(displaced: readonly Displaced[]): Promise<readonly ReadFile[] | HeldFile> {
    const { files } = this.#state
    const read: ReadFile[] = []
    for (const name of [mirrorFile, ...Object.keys(files).filter((one) => one !== mirrorFile)]) {
      const known = files[name]
      const path = join(this.#paths.dir, name)
      const late = displaced.filter((entry) => entry.file === name && entry.late !== null)
      if (name !== mirrorFile && late.length === 0 && known?.signature === signatureAt(path)) continue
      const live = readLiveFile(path)
      if (live.kind === 'unreadable') return { kind: 'unreadable', file: name, reason: live.reason }
      if (live.kind === 'missing' && name !== mirrorFile) {
        // A topic file that somebody deleted is written again: its beliefs are still in the store.
        delete files[name]
        this.#state.watermark = 0
        continue
      }
      const isEmptied = live.kind === 'read' && live.text.trim() === '' && (known?.items ?? 0) > 0
      if (isEmptied && this.#request.accept !== true) {
        if (await this.#isRestless([{ name, live }])) return this.#readFiles(displaced)
        return { kind: 'removal', file: name, reason: 'it is empty' }
      }
      read.push(this.#merged(name, live.kind === 'read' ? live : null, late))
    }
    return read
  }

  /** Merges into a file what other programs wrote to its displaced versions, and what an old copy lacks. */
  #merged(name: string, live: LiveFile | null, late: readonly Displaced[]): ReadFile {
    const known = this.#state.files[name]
    const isNew = live === null || (known === undefined && live.text.trim() === '')
    const given = isNew ? beginningOf(null) : live.text
    const isOurs = live !== null && live.hash === known?.hash
    // Refused lines are planned again with every change, so that they never count as known.
    const hasRefused = this.#state.refused.some(({ file }) => file === name)
    let text = known === undefined ? adopted(given) : given
    for (const entry of late) {
      const base = entry.late === null ? null : baseOf(this.#paths, name, entry.late.toString('utf8'))
      const merged = mergeLate({ text, isOurs: isOurs && text === given }, entry, base?.render() ?? null)
      text = merged.text
      if (merged.isTorn && entry.late !== null) this.#writeConflict(entry.late, [])
    }
    if (!isOurs || text !== given) text = this.#withUnseenLines(name, text)
    return { name, live, text, isChanged: !isOurs || hasRefused || text !== given }
  }

  /** An editor that saves an old copy has not deleted the lines that others wrote since: they are appended. */
  #withUnseenLines(name: string, text: string): string {
    const version = new MirrorDocument(text).version()
    const newest = loadBase(this.#paths, name)
    const base = version === null ? null : loadBase(this.#paths, name, version)
    if (version === null || newest === null || base === null || version >= (newest.version() ?? 0)) return text
    const linesOf = (document: MirrorDocument): string => document.ownLines().join('\n')
    return appended(text, linesAdded(linesOf(base), linesOf(newest), text))
  }

  /** Opens the files for changes. `unseen` are beliefs that our last version showed, so that old copies get them back. */
  #openFiles(layout: Layout, read: readonly ReadFile[]) {
    const edited: EditedFile[] = []
    const unseen: string[] = []
    const present = new Set(read.flatMap(({ text, isChanged }) => (isChanged ? new MirrorDocument(text).ids() : [])))
    for (const { name, live, text, isChanged } of read) {
      // A file that is missing was not edited: none of its items count as removed.
      const file =
        isChanged && live !== null
          ? openEdited(this.#paths, name, text, present)
          : { name, document: new MirrorDocument(text), base: null }
      layout.open(name, live, file.document, isChanged)
      if (name === mirrorFile) this.#leftAlone = file.document.countOwnItems()
      if (!isChanged) continue
      edited.push(file)
      unseen.push(...(loadBase(this.#paths, name)?.ids() ?? []))
    }
    return { edited, unseen }
  }

  /** Whether a file with missing lines was written so lately that its writer may not have finished. */
  async #isRestless(read: readonly Pick<ReadFile, 'name' | 'live'>[]): Promise<boolean> {
    if (this.#restlessWaits >= mostRestlessWaits) return false
    this.#restlessWaits += 1
    await pause(settleMs)
    return read.some(({ name, live }) => signatureAt(join(this.#paths.dir, name)) !== (live?.signature ?? null))
  }

  #hold({ kind, file, reason }: HeldFile): 'held' {
    const { held } = this.#state
    const since = held?.reason === reason ? held.since : this.#ports.now().toISOString()
    const signature = signatureAt(join(this.#paths.dir, mirrorFile)) ?? ''
    this.#state.held = { kind, file, reason, since, signature }
    saveState(this.#paths, this.#state)
    return 'held'
  }

  #writeConflict(content: string | Buffer, beliefs: string[]): void {
    const at = this.#ports.now()
    const file = writeConflictFile(this.#paths, at, content)
    this.#state.conflicts.push({ at: at.toISOString(), file, beliefs })
  }

  /** Writes every file whose text is not the one on disk, and keeps each text as the base of the next merge. */
  async #writeFiles(files: readonly OpenFile[], { refused }: Applied): Promise<void> {
    const changed = files.filter(
      ({ document, live }) => document.version() === null || document.render() !== live?.text,
    )
    const versions = files.map(({ document }) => document.version() ?? 0)
    const version = Math.max(this.#state.version, ...versions.filter((one) => one < Number.MAX_SAFE_INTEGER / 2)) + 1
    // The base of a refused item is what the store says, so that the item still counts as edited.
    const instead = new Map([...refused].flatMap(([block, { belief }]) => (belief === null ? [] : [[block, belief]])))
    for (const file of files) {
      const { name, scope, live, document } = file
      const isChanged = changed.includes(file)
      if (!isChanged && live?.hash === this.#state.files[name]?.hash) continue
      if (isChanged) document.setVersion(version)
      const content = document.render()
      saveBase(this.#paths, name, document, document.render(instead))
      let signature = live?.signature ?? ''
      if (isChanged) {
        const draft = await writeDraft(this.#paths, name, { content, mode: live?.mode ?? 0o600 })
        const expected = live?.text ?? null
        const bytes = Buffer.byteLength(content)
        signature = swapIn(this.#paths, { file: name, expected, draft, bytes, now: this.#ports.now })
        this.#written.add(name)
      }
      this.#state.files[name] = { scope, signature, hash: hashOf(content), items: document.ids().length }
    }
    if (changed.length === 0) return
    this.#state.version = version
    // Once for all files: the caller learns of them only after this.
    syncDirectoryNow(this.#paths.dir)
  }

  #saveState({ head, edited, applied, files }: Outcome): void {
    const state = this.#state
    const at = this.#ports.now()
    const documents = new Map(files.map(({ name, document }) => [name, document]))
    const refused = [...applied.refused].map(([block, { file, reason }]) => {
      return { file, line: documents.get(file)?.lineOf(block) ?? 0, reason }
    })
    const names = new Set(edited.map(({ name }) => name))
    state.refused = [...state.refused.filter(({ file }) => !names.has(file)), ...refused]
    state.conflicts = state.conflicts.slice(-mostConflicts)
    state.watermark = Math.max(state.watermark, head)
    state.held = null
    state.syncedAt = at.toISOString()
    saveProblem(this.#paths, null)
    saveState(this.#paths, state)
  }
}

type Outcome = {
  readonly head: number
  readonly edited: readonly EditedFile[]
  readonly applied: Applied
  readonly files: readonly OpenFile[]
}

/** A person's own file stays as it is, and ours begins below it. */
function adopted(text: string): string {
  if (new MirrorDocument(text).version() !== null || text.trim() === '') return text
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const gap = /[\r\n]$/u.test(text) ? eol : eol + eol
  return `${text}${gap}${versionMark(0)}${eol}`
}

type JournalChanges = {
  /** Number of the newest event. */
  readonly head: number
  /** Beliefs that changed; null when there are so many that comparing everything is quicker. */
  readonly ids: readonly string[] | null
  readonly forgotten: readonly string[]
}

/** Usually there are one or two events, so a short page is asked for first. */
const pageSizes = [8, 2_000]

async function changesSince(store: Store, user: string, number: number): Promise<JournalChanges> {
  let events: readonly JournalEntry[] = []
  let isAll = false
  for (const limit of pageSizes) {
    if (!isAll) events = (await store.events(user, { limit })).filter((event) => event.number > number)
    isAll = events.length < limit
  }
  const ids = new Set<string>()
  const forgotten: string[] = []
  for (const { number: event, kind, beliefIds, beliefCount } of events) {
    // A list of events names only the first beliefs of each.
    const all = beliefIds.length === beliefCount ? beliefIds : ((await store.event(user, event))?.beliefIds ?? [])
    for (const id of all) ids.add(id)
    if (kind === 'forget') forgotten.push(...all)
  }
  return { head: events[0]?.number ?? number, ids: isAll ? [...ids] : null, forgotten }
}
