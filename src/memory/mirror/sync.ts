import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Belief } from '../../beliefs/belief.ts'
import { MemoryError } from '../../errors.ts'
import { sweepLeftovers } from '../../files/leftovers.ts'
import type { Workshop } from '../workshop.ts'
import { applyIntents, type Taken } from './apply.ts'
import { baseFor } from './base-for.ts'
import { keepWholeSave, removeForgotten } from './conflict-file.ts'
import { MirrorDocument } from './document.ts'
import { exclusively } from './exclusively.ts'
import { signature } from './glance.ts'
import { itemHash } from './item.ts'
import { changesSince } from './journal-changes.ts'
import { type LateEdit, lateEdit, settled, withLateEdit, withUnseenLines } from './late-edits.ts'
import { bytesHash, type LiveFile, readLive, signatureAt } from './live-file.ts'
import { MirrorFiles } from './mirror-files.ts'
import { type OpenConflict, openConflicts } from './open-conflicts.ts'
import { withoutOrphans } from './orphans.ts'
import { type MirrorPlaces, mirrorFile, mirrorPlaces } from './places.ts'
import { rediscover } from './rediscover.ts'
import { markText, parseSegments } from './segments.ts'
import {
  loadImprints,
  loadOutside,
  loadState,
  type MirrorState,
  makePlaces,
  saveProblem,
  saveState,
  Whereabouts,
} from './state.ts'
import { type Displaced, displacedFiles, removeDisplaced, restoreMissing, settleMs, updateDisplaced } from './swap.ts'
import { fieldsOfItem, isMirrored, type Reading, weigh } from './weigh.ts'

export type MirrorRequest = {
  readonly dir: string
  readonly user: string
  /** Takes a removal that is held for what it looks like. */
  readonly accept?: boolean
  /** How long to wait for others that work on the mirror. Default 2000. */
  readonly waitMs?: number
  /** Whether to wait until nobody can be writing to what was displaced. Otherwise the next sync looks. */
  readonly settle?: boolean
}

export type Held = NonNullable<MirrorState['held']>

export type Synced = {
  readonly outcome: 'synced' | 'held'
  readonly held: Held | null
  /** The mirror file. */
  readonly file: string
  /** Names of the files that were written. */
  readonly written: readonly string[]
  /** How many changes came out of the files. */
  readonly taken: {
    readonly corrected: number
    readonly added: number
    readonly retired: number
    readonly conflicts: number
  }
  readonly refused: MirrorState['refused']
  /** What was changed in both places, now or earlier, and waits for a decision. */
  readonly conflicts: readonly OpenConflict[]
  /** List items of MEMORY.md outside of our sections, which are left alone. */
  readonly leftAlone: number
}

/** So often a file may change under us before we leave it to the next sync. */
const mostRounds = 8

const mostConflicts = 200

/** Brings store and files in step, both ways. Makes the mirror when there is none. */
export async function syncMirror(workshop: Workshop, request: MirrorRequest): Promise<Synced> {
  const places = mirrorPlaces(request.dir)
  makePlaces(places)
  return exclusively(places, request.waitMs ?? 2_000, async () => {
    const loaded = await loadState(places)
    const state = loaded === null || loaded === 'damaged' ? rediscover(places, request.user) : loaded
    if (state.user !== request.user) throw otherUser(places, state, request.user)
    // Half-written files of processes that died are rare; looking for them can wait for somebody who has the time.
    if (request.settle === true) await sweepLeftovers(places.dir)
    const session = new SyncSession(workshop, places, state, request)
    return session.run()
  })
}

const otherUser = ({ dir }: MirrorPlaces, { user }: MirrorState, asked: string): MemoryError =>
  new MemoryError('conflict', `The mirror in ${dir} shows the memory of "${user}", not of "${asked}".`, {
    hint: `Use --user ${user}, or another directory.`,
  })

type Live = Extract<LiveFile, { kind: 'read' }>
type Found = { readonly name: string; readonly live: Live | null; readonly text: string; readonly isChanged: boolean }
type Round = 'done' | 'again' | 'held'

class SyncSession {
  readonly #workshop: Workshop
  readonly #places: MirrorPlaces
  readonly #state: MirrorState
  readonly #request: MirrorRequest
  readonly #written = new Set<string>()
  readonly #taken = { corrected: 0, added: 0, retired: 0, conflicts: 0 }
  #leftAlone = 0
  #waitedForQuiet = 0
  #hasForgotten = false

  constructor(workshop: Workshop, places: MirrorPlaces, state: MirrorState, request: MirrorRequest) {
    this.#workshop = workshop
    this.#places = places
    this.#state = state
    this.#request = request
  }

  async run(): Promise<Synced> {
    let outcome: Round = 'again'
    for (let round = 0; round < mostRounds && outcome === 'again'; round += 1) outcome = await this.#round()
    if (outcome !== 'held' && (this.#request.settle === true || this.#hasForgotten)) outcome = await this.#settle()
    const { held, refused } = this.#state
    return {
      outcome: held === null ? 'synced' : 'held',
      held,
      file: join(this.#places.dir, mirrorFile),
      written: [...this.#written],
      taken: this.#taken,
      refused,
      conflicts: await openConflicts(this.#workshop.store, this.#places, this.#state),
      leftAlone: this.#leftAlone,
    }
  }

  /** Waits until nobody can be writing to what was displaced, and takes in what was written. */
  async #settle(): Promise<Round> {
    let outcome: Round = 'done'
    for (let round = 0; round < mostRounds; round += 1) {
      if (displacedFiles(this.#places).length === 0) return outcome
      await pause(settleMs + 10)
      outcome = await this.#round(true)
      if (outcome === 'held') return outcome
    }
    return outcome
  }

  async #round(hasWaited = false): Promise<Round> {
    const late = this.#lateEdits(hasWaited)
    const found = await this.#look(late)
    if (found === null) return 'held'
    const where = new Whereabouts(this.#places)
    const files = new MirrorFiles(this.#places, this.#state, where)
    const readings: Reading[] = []
    const present = new Set(found.some(({ isChanged }) => isChanged) ? found.flatMap(({ text }) => idsIn(text)) : [])
    for (const { name, live, text, isChanged } of found) {
      const imprints = isChanged && live !== null ? await loadImprints(this.#places, name) : []
      const base = imprints.length === 0 ? null : baseFor(this.#state.key, new MirrorDocument(text), imprints)
      const cleared = await withoutOrphans(this.#scales(), text, base, (id) => present.has(id))
      const { document } = files.add(name, live, cleared, isChanged)
      if (name === mirrorFile) this.#leftAlone = document.outsideItems()
      if (isChanged) readings.push({ file: name, document, base, latest: imprints[0] ?? null })
    }
    const weighed = await weigh(this.#scales(), readings)
    if (weighed.removed.length > 0 && (await this.#isRestless(found))) return 'again'
    const held = this.#request.accept === true ? null : massRemoval(weighed, found)
    if (held !== null) return this.#hold('removal', held.file, held.reason)

    const taken = await applyIntents(
      { workshop: this.#workshop, places: this.#places, state: this.#state, files },
      weighed,
    )
    this.#count(taken)
    const news = await changesSince(this.#workshop.store, this.#state.user, this.#state.watermark)
    await this.#showChanges(files, found, [...(news.ids ?? []), ...taken.ids, ...weighed.unseen], news.ids === null)
    if (news.forgotten.length > 0) {
      this.#hasForgotten = true
      await removeForgotten(this.#places, news.forgotten)
    }
    await this.#write(files, taken)
    await where.save()
    await this.#finish(late, readings, news.head, taken)
    const isStirred = this.#lateEdits(false).some(({ edit }) => edit !== null)
    return taken.mustRepeat || isStirred ? 'again' : 'done'
  }

  #scales() {
    return { store: this.#workshop.store, user: this.#state.user, key: this.#state.key }
  }

  /** Displaced files with what happened to them since. A file that is missing because we died in between comes back. */
  #lateEdits(hasWaited: boolean): readonly LateEntry[] {
    const entries: LateEntry[] = []
    for (const entry of displacedFiles(this.#places)) {
      if (!entry.isDone) restoreMissing(this.#places, entry)
      const age = this.#workshop.now().getTime() - entry.at
      entries.push({ edit: lateEdit(this.#places, this.#state.key, entry), entry, isOld: hasWaited || age >= settleMs })
    }
    return entries
  }

  /** Reads every file that may have changed. Null when one cannot be relied on; then nothing is done at all. */
  async #look(late: readonly LateEntry[]): Promise<readonly Found[] | null> {
    const { dir } = this.#places
    const edits = late.flatMap(({ edit }) => edit ?? [])
    const names = [mirrorFile, ...Object.keys(this.#state.files).filter((name) => name !== mirrorFile)]
    const found: Found[] = []
    for (const name of names) {
      const known = this.#state.files[name]
      const lateHere = edits.filter(({ entry }) => entry.file === name)
      const isUntouched = name !== mirrorFile && known?.signature === signatureAt(join(dir, name))
      if (isUntouched && lateHere.length === 0) continue
      const live = readLive(join(dir, name))
      if (live.kind === 'unreadable') return this.#holdNothing(name, live.reason)
      if (live.kind === 'missing' && name !== mirrorFile) {
        await this.#forgetFile(name)
        continue
      }
      const isBlank = live.kind === 'missing' || (known === undefined && live.text.trim() === '')
      const text = isBlank ? MirrorFiles.beginning(null) : live.text
      if (live.kind === 'read' && live.text.trim() === '' && (known?.items ?? 0) > 0 && this.#request.accept !== true) {
        if (await this.#isRestless([{ name, live, text, isChanged: true }])) return this.#look(late)
        return this.#holdNothing(name, 'it is empty', 'removal')
      }
      const isSame = live.kind === 'read' && known?.hash === bytesHash(this.#state.key, live.bytes)
      const given = await this.#withLate(known === undefined ? adopted(text) : text, lateHere)
      const merged = isSame && lateHere.length === 0 ? given : await this.#withUnseen(name, given)
      found.push({
        name,
        live: live.kind === 'read' ? live : null,
        text: merged,
        isChanged: !isSame || merged !== text,
      })
    }
    return found
  }

  async #withUnseen(name: string, text: string): Promise<string> {
    const imprints = await loadImprints(this.#places, name)
    return withUnseenLines(this.#state.key, text, await loadOutside(this.#places, name), imprints)
  }

  async #withLate(text: string, edits: readonly LateEdit[]): Promise<string> {
    let merged = text
    for (const edit of edits) {
      const { text: next, isTorn } = withLateEdit(this.#state.key, merged, edit)
      merged = next
      if (!isTorn) continue
      const at = this.#workshop.now()
      const file = await keepWholeSave(this.#places, at, edit.bytes)
      this.#state.conflicts.push({ at: at.toISOString(), file, beliefs: [] })
    }
    return merged
  }

  async #holdNothing(file: string, reason: string, kind: Held['kind'] = 'unreadable'): Promise<null> {
    await this.#hold(kind, file, reason)
    return null
  }

  async #hold(kind: Held['kind'], file: string, reason: string): Promise<'held'> {
    const since = this.#state.held?.reason === reason ? this.#state.held.since : this.#workshop.now().toISOString()
    this.#state.held = { kind, file, reason, since, signature: signature(join(this.#places.dir, mirrorFile)) ?? '' }
    saveState(this.#places, this.#state)
    return 'held'
  }

  /** A topic file that somebody deleted is written anew: what it held is still remembered. */
  async #forgetFile(name: string): Promise<void> {
    delete this.#state.files[name]
    this.#state.watermark = 0
  }

  /** Whether a file with lines missing was written so lately that its writer may not be done. Waits, a few times. */
  async #isRestless(found: readonly Found[]): Promise<boolean> {
    if (this.#waitedForQuiet >= 5) return false
    const before = found.map(({ name }) => signatureAt(join(this.#places.dir, name)))
    await pause(settleMs)
    const after = found.map(({ name }) => signatureAt(join(this.#places.dir, name)))
    const read = found.map(({ live }) => live?.signature ?? null)
    this.#waitedForQuiet += 1
    return before.some((signature, index) => signature !== after[index] || signature !== read[index])
  }

  async #showChanges(
    files: MirrorFiles,
    found: readonly Found[],
    ids: readonly string[],
    isAll: boolean,
  ): Promise<void> {
    const { store } = this.#workshop
    const { user } = this.#state
    const isNew = found.some(({ name, live }) => name === mirrorFile && live === null) || this.#state.watermark === 0
    const nowhere: Belief[] = []
    const wanted = isAll || isNew ? await store.idsStartingWith(user, '', Number.MAX_SAFE_INTEGER) : [...new Set(ids)]
    for (let from = 0; from < wanted.length; from += 500) {
      const chunk = wanted.slice(from, from + 500)
      const beliefs = new Map((await store.getMany(user, chunk)).map((belief) => [belief.id, belief]))
      for (const id of chunk) {
        const belief = beliefs.get(id)
        if (belief === undefined || !isMirrored(belief)) await files.hide(id)
        else if (!(await files.show(belief))) nowhere.push(belief)
      }
    }
    files.get(mirrorFile)?.document.ensureNewSection()
    await files.place(nowhere, store)
  }

  async #write(files: MirrorFiles, { refused }: Taken): Promise<void> {
    const { store } = this.#workshop
    const { user, key } = this.#state
    const ids = files.unplacedIds()
    const beliefs = new Map((await store.getMany(user, ids)).map((belief) => [belief.id, belief]))
    const written = await files.write({
      now: this.#workshop.now,
      baseOf: (segment) => {
        const held = refused.get(segment)
        if (held !== undefined) return held
        return itemHash(key, fieldsOfItem(segment.item, segment.section, beliefs.get(segment.item.id ?? '') ?? null))
      },
    })
    for (const name of written) this.#written.add(name)
  }

  async #finish(late: readonly LateEntry[], readings: readonly Reading[], head: number, taken: Taken): Promise<void> {
    this.#state.watermark = Math.max(this.#state.watermark, head)
    this.#state.held = null
    await saveProblem(this.#places, null)
    const weighed = new Set(readings.map(({ file }) => file))
    const refusals = taken.refusals.map(({ file, line, reason }) => ({ file, line: line(), reason }))
    this.#state.refused = [...this.#state.refused.filter(({ file }) => !weighed.has(file)), ...refusals]
    // Those that are decided are not looked at again; a few hundred lines of history are enough.
    this.#state.conflicts = this.#state.conflicts.slice(-mostConflicts)
    this.#state.syncedAt = this.#workshop.now().toISOString()
    saveState(this.#places, this.#state)
    for (const { entry, edit, isOld } of late) {
      if (isOld && edit === null) removeDisplaced(this.#places, entry)
      else if (edit !== null) await updateDisplaced(this.#places, settled(this.#state.key, edit))
    }
  }

  #count({ counts }: Taken): void {
    for (const kind of Object.keys(counts) as (keyof typeof counts)[]) this.#taken[kind] += counts[kind]
  }
}

type LateEntry = {
  readonly entry: Displaced
  readonly edit: LateEdit | null
  readonly isOld: boolean
}

const idsIn = (text: string): readonly string[] =>
  parseSegments(text).flatMap((segment) => (segment.kind === 'item' ? (segment.item.id ?? []) : []))

/** Somebody's own file stays as it is, and what is ours begins behind it. */
function adopted(text: string): string {
  const isOurs = parseSegments(text).some(({ kind }) => kind === 'mark')
  if (isOurs || text.trim() === '') return text
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const gap = /[\r\n]$/u.test(text) ? eol : eol + eol
  return `${text}${gap}${markText(0)}${eol}`
}

/** One line taken out is an edit. Many at once look like an accident, or like somebody who wipes a memory. */
function massRemoval(
  { removed, known }: Awaited<ReturnType<typeof weigh>>,
  found: readonly Found[],
): { readonly file: string; readonly reason: string } | null {
  for (const { name } of found) {
    const gone = removed.filter(({ file }) => file === name).length
    const total = known.get(name) ?? 0
    const isMass = gone >= 2 && (gone * 2 >= total || (gone > 10 && gone * 5 > total))
    if (isMass) return { file: name, reason: `${gone} of ${total} items are gone from it` }
  }
  return null
}
