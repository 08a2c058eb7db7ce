import { type Belief, isCurrent, reinforcedAt } from '../../beliefs/belief.ts'
import type { Viewpoint } from '../../beliefs/belief-store.ts'
import { beliefFormKeys } from '../../search/forms.ts'
import type { Linked } from '../../search/link.ts'
import { linkResident } from '../../search/resident/link-resident.ts'
import { type ResidentForm, ResidentForms } from '../../search/resident/resident-forms.ts'
import { BoundedCache } from './bounded-cache.ts'

/** A user's index is made when the user asks for the second time: a program that asks once does not pay for it. */
const askedBefore = 2
/** An index that was used within this many recalls is not given up for that of another user. */
const recentlyUsed = 1_000
/** Beliefs that changed since the index was last used, up to which it is brought up to date and not made again. */
export const mostChanged = 2_000
/** An estimate of the memory of an index, to decide whether there is room for it before it is made. */
const expectedBytesPerBelief = 700
/** Making an index stops for other work after this many milliseconds. */
const sliceMs = 4
const mostViews = 50
/** Users whose recalls are counted. */
const mostAsked = 100_000
/** Users who wait for their index; others ask again. */
const mostWanted = 1_000

/** Where the forms of users are read from. */
type FormSource<User> = {
  /** The number of the user's beliefs, and the newest event now. */
  readonly start: (user: User) => Promise<{ readonly beliefs: number; readonly event: number }>
  /**
   * All forms of a user, in parts, between which the store may change. A belief that changed after the start may be there with
   * rows of several states, and is put right when the index is brought up to date.
   */
  readonly forms: (user: User) => Iterable<readonly ResidentForm[]> | AsyncIterable<readonly ResidentForm[]>
}

/** The forms of one user in memory as they were after one event of the journal. */
export class ResidentIndex {
  readonly forms: ResidentForms
  /** The newest event that it includes. */
  event: number
  isComplete = false
  lastUsed: number
  #views = new BoundedCache<Uint8Array>(mostViews)

  constructor({
    beliefs,
    event,
    recalls,
  }: { readonly beliefs: number; readonly event: number; readonly recalls: number }) {
    this.forms = new ResidentForms(beliefs)
    this.event = event
    this.lastUsed = recalls
  }

  /** Applies the changes of beliefs after `this.event`; null for one that is gone. */
  update(changed: ReadonlyMap<string, Belief | null>, event: number): void {
    for (const [id, belief] of changed) {
      this.forms.remove(id)
      if (belief !== null) addBelief(this.forms, belief)
    }
    this.event = event
    if (changed.size > 0) this.#views = new BoundedCache(mostViews)
  }

  link(message: string, view: Viewpoint, population: () => Promise<number>): Promise<Linked> {
    const seenFrom = JSON.stringify([view.agent, view.scopes])
    const visible = this.#views.get(seenFrom) ?? this.forms.visibleFrom(view)
    this.#views.set(seenFrom, visible)
    return linkResident(message, { forms: this.forms, visible, population })
  }
}

/**
 * The form indexes of users in memory. Each is made in the background, in slices; the least recently used ones are given up for
 * others. The store brings an index up to date before it uses it.
 */
export class ResidentIndexes<User> {
  readonly #source: FormSource<User>
  /** The limit for all users together. */
  readonly #mostBytes: number
  readonly #indexes = new Map<User, ResidentIndex>()
  readonly #asked = new Map<User, number>()
  #recalls = 0
  /** Users whose index is being made, or is made next, one after the other. */
  readonly #wanted = new Set<User>()
  #isClosed = false

  constructor(source: FormSource<User>, mostBytes: number) {
    this.#source = source
    this.#mostBytes = mostBytes
  }

  /** The index of a user, which may be behind; null where there is none yet. Counts as a recall. */
  find(user: User): ResidentIndex | null {
    this.#recalls += 1
    const index = this.#indexes.get(user)
    if (index === undefined) this.#askFor(user)
    if (index === undefined || !index.isComplete) return null
    index.lastUsed = this.#recalls
    return index
  }

  /** Gives up an index that cannot be brought up to date. It is made again when the user goes on asking. */
  drop(user: User): void {
    this.#indexes.delete(user)
    this.#asked.delete(user)
  }

  close(): void {
    this.#isClosed = true
    this.#indexes.clear()
  }

  #askFor(user: User): void {
    const asked = (this.#asked.get(user) ?? 0) + 1
    if (this.#asked.size >= mostAsked) this.#asked.clear()
    this.#asked.set(user, asked)
    if (asked < askedBefore || this.#wanted.size >= mostWanted || this.#wanted.has(user)) return
    this.#wanted.add(user)
    if (this.#wanted.size === 1) void this.#buildWanted()
  }

  async #buildWanted(): Promise<void> {
    // A set goes on to what is added meanwhile.
    for (const user of this.#wanted) {
      // A read that fails here fails again where its error can be reported: the caller then asks the index in the store.
      if (!this.#isClosed) await this.#build(user).catch(() => {})
      if (this.#indexes.get(user)?.isComplete === false) this.drop(user)
      this.#wanted.delete(user)
    }
  }

  /** Whether so many bytes fit beside what is kept, after giving up indexes that were not used for long. */
  #makeRoom(bytes: number, user: User): boolean {
    const used = (): number => [...this.#indexes.values()].reduce((sum, { forms }) => sum + forms.bytes, 0)
    if (used() + bytes <= this.#mostBytes) return true
    const oldestFirst = [...this.#indexes].sort(([, one], [, other]) => one.lastUsed - other.lastUsed)
    for (const [owner, index] of oldestFirst) {
      if (used() + bytes <= this.#mostBytes) break
      if (owner === user || this.#recalls - index.lastUsed < recentlyUsed) continue
      this.#indexes.delete(owner)
    }
    return used() + bytes <= this.#mostBytes
  }

  async #build(user: User): Promise<void> {
    const { beliefs, event } = await this.#source.start(user)
    if (!this.#makeRoom(beliefs * expectedBytesPerBelief, user)) return
    const index = new ResidentIndex({ beliefs, event, recalls: this.#recalls })
    this.#indexes.set(user, index)
    await otherWork()
    let until = performance.now() + sliceMs
    for await (const part of this.#source.forms(user)) {
      if (this.#isClosed || this.#indexes.get(user) !== index) return
      for (const form of part) index.forms.add(form)
      if (performance.now() < until) continue
      if (index.forms.bytes > this.#mostBytes) return
      await otherWork()
      until = performance.now() + sliceMs
    }
    if (this.#isClosed || this.#indexes.get(user) !== index) return
    index.isComplete = this.#makeRoom(0, user)
  }
}

// A timer, because an immediate that keeps no process alive is not run while a process waits for requests.
const otherWork = (): Promise<void> => new Promise((resume) => setTimeout(resume, 1).unref())

/** Adds the forms of a belief as the form table has them. */
function addBelief(forms: ResidentForms, belief: Belief): void {
  const { id, type, subtype, pinned, agent } = belief
  const common = { beliefId: id, kind: { type, subtype, pinned }, reinforcedAt: reinforcedAt(belief) }
  for (const scope of new Set(belief.scopes)) {
    const place = { scope, agent, current: isCurrent(belief) }
    for (const { key, ordinal, breaks } of beliefFormKeys(belief)) forms.add({ ...common, key, ordinal, breaks, place })
  }
}
