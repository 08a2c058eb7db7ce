import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { MemoryError } from '../../errors.ts'
import { sweepLeftovers } from '../../files/leftovers.ts'
import type { Ports } from '../change/transaction.ts'
import { applyIntents, type Taken } from './apply.ts'
import { baseFor } from './base-for.ts'
import { removeForgotten } from './conflict-file.ts'
import { MirrorDocument } from './document.ts'
import { exclusively } from './exclusively.ts'
import { signature } from './glance.ts'
import { itemHash } from './item.ts'
import { changesSince } from './journal-changes.ts'
import { type LateEntry, lateEntries, settleLate } from './late-edits.ts'
import { type Found, lookAtFiles } from './look.ts'
import { massRemoval } from './mass-removal.ts'
import { MirrorFiles } from './mirror-files.ts'
import { type OpenConflict, openConflicts } from './open-conflicts.ts'
import { withoutOrphans } from './orphans.ts'
import { type MirrorPlaces, mirrorFile, mirrorPlaces } from './places.ts'
import { Quiet } from './quiet.ts'
import { rediscover } from './rediscover.ts'
import { parseSegments } from './segments.ts'
import { showChanges } from './show-changes.ts'
import { type Held, loadImprints, loadState, type MirrorState, makePlaces, saveProblem, saveState } from './state.ts'
import { displacedFiles, settleMs } from './swap.ts'
import { fieldsOfItem, type Reading, weigh } from './weigh.ts'
import { Whereabouts } from './whereabouts.ts'
import { writeFiles } from './write-files.ts'

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
export async function syncMirror(ports: Ports, request: MirrorRequest): Promise<Synced> {
  const places = mirrorPlaces(request.dir)
  makePlaces(places)
  return exclusively(places, request.waitMs ?? 2_000, async () => {
    const loaded = await loadState(places)
    const state = loaded === null || loaded === 'damaged' ? rediscover(places, request.user) : loaded
    if (state.user !== request.user) throw otherUser(places, state, request.user)
    // Half-written files of processes that died are rare; looking for them can wait for somebody who has the time.
    if (request.settle === true) await sweepLeftovers(places.dir)
    const session = new SyncSession(ports, places, state, request)
    return session.run()
  })
}

const otherUser = ({ dir }: MirrorPlaces, { user }: MirrorState, asked: string): MemoryError =>
  new MemoryError('conflict', `The mirror in ${dir} shows the memory of "${user}", not of "${asked}".`, {
    hint: `Use --user ${user}, or another directory.`,
  })

type Round = 'done' | 'again' | 'held'

class SyncSession {
  readonly #ports: Ports
  readonly #places: MirrorPlaces
  readonly #state: MirrorState
  readonly #request: MirrorRequest
  readonly #quiet: Quiet
  readonly #written = new Set<string>()
  readonly #taken = { corrected: 0, added: 0, retired: 0, conflicts: 0 }
  #leftAlone = 0
  #hasForgotten = false

  constructor(ports: Ports, places: MirrorPlaces, state: MirrorState, request: MirrorRequest) {
    this.#ports = ports
    this.#places = places
    this.#state = state
    this.#request = request
    this.#quiet = new Quiet(places)
  }

  async run(): Promise<Synced> {
    let outcome: Round = 'again'
    for (let round = 0; round < mostRounds && outcome === 'again'; round += 1) outcome = await this.#round()
    if (outcome !== 'held' && (this.#request.settle === true || this.#hasForgotten)) await this.#settle()
    const { held, refused } = this.#state
    return {
      outcome: held === null ? 'synced' : 'held',
      held,
      file: join(this.#places.dir, mirrorFile),
      written: [...this.#written],
      taken: this.#taken,
      refused,
      conflicts: await openConflicts(this.#ports.store, this.#places, this.#state),
      leftAlone: this.#leftAlone,
    }
  }

  /** Waits until nobody can be writing to what was displaced, and takes in what was written. */
  async #settle(): Promise<void> {
    for (let round = 0; round < mostRounds; round += 1) {
      if (displacedFiles(this.#places).length === 0) return
      await pause(settleMs + 10)
      if ((await this.#round(true)) === 'held') return
    }
  }

  async #round(hasWaited = false): Promise<Round> {
    const late = this.#lateEntries(hasWaited)
    const looked = await lookAtFiles(
      {
        ports: this.#ports,
        places: this.#places,
        state: this.#state,
        quiet: this.#quiet,
        acceptsEmpty: this.#request.accept === true,
      },
      late.flatMap(({ edit }) => edit ?? []),
    )
    if (looked.kind === 'held') return this.#hold(looked.held)
    const { found } = looked
    const where = new Whereabouts(this.#places)
    const files = new MirrorFiles(this.#places, this.#state, where)
    const readings = await this.#read(files, found)
    const weighed = await weigh(this.#scales(), readings)
    if (weighed.removed.length > 0 && (await this.#isRestless(found))) return 'again'
    const names = found.map(({ name }) => name)
    const held = this.#request.accept === true ? null : massRemoval(weighed, names)
    if (held !== null) return this.#hold({ kind: 'removal', ...held })

    const taken = await applyIntents({ ports: this.#ports, places: this.#places, state: this.#state, files }, weighed)
    for (const kind of Object.keys(taken.counts) as (keyof Taken['counts'])[]) this.#taken[kind] += taken.counts[kind]
    const news = await changesSince(this.#ports.store, this.#state.user, this.#state.watermark)
    const isNew = found.some(({ name, live }) => name === mirrorFile && live === null) || this.#state.watermark === 0
    const changed = isNew || news.ids === null ? 'all' : [...news.ids, ...taken.ids, ...weighed.unseen]
    await showChanges(files, this.#ports.store, changed)
    if (news.forgotten.length > 0) {
      this.#hasForgotten = true
      await removeForgotten(this.#places, news.forgotten)
    }
    await this.#write(files, taken)
    await where.save()
    await this.#finish(late, readings, news.head, taken)
    const isStirred = this.#lateEntries(false).some(({ edit }) => edit !== null)
    return taken.mustRepeat || isStirred ? 'again' : 'done'
  }

  #scales() {
    return { store: this.#ports.store, user: this.#state.user, key: this.#state.key }
  }

  #lateEntries(hasWaited: boolean): readonly LateEntry[] {
    return lateEntries(this.#places, { key: this.#state.key, now: this.#ports.now(), hasWaited })
  }

  #isRestless(found: readonly Found[]): Promise<boolean> {
    return this.#quiet.isRestless(found.map(({ name, live }) => ({ name, signature: live?.signature ?? null })))
  }

  /** Opens what was found, and returns what somebody else has written. */
  async #read(files: MirrorFiles, found: readonly Found[]): Promise<readonly Reading[]> {
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
    return readings
  }

  async #hold({ kind, file, reason }: Pick<Held, 'kind' | 'file' | 'reason'>): Promise<'held'> {
    const since = this.#state.held?.reason === reason ? this.#state.held.since : this.#ports.now().toISOString()
    this.#state.held = { kind, file, reason, since, signature: signature(join(this.#places.dir, mirrorFile)) ?? '' }
    saveState(this.#places, this.#state)
    return 'held'
  }

  async #write(files: MirrorFiles, { refused }: Taken): Promise<void> {
    const { store } = this.#ports
    const { user, key } = this.#state
    const ids = files.unplacedIds()
    const beliefs = new Map((await store.getMany(user, ids)).map((belief) => [belief.id, belief]))
    const written = await writeFiles(files, {
      now: this.#ports.now,
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
    this.#state.syncedAt = this.#ports.now().toISOString()
    saveState(this.#places, this.#state)
    await settleLate(this.#places, this.#state.key, late)
  }
}

const idsIn = (text: string): readonly string[] =>
  parseSegments(text).flatMap((segment) => (segment.kind === 'item' ? (segment.item.id ?? []) : []))
