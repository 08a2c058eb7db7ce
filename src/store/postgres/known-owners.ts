import type { Belief } from '../../beliefs/belief.ts'
import type { Viewpoint } from '../../beliefs/belief-store.ts'
import { BoundedCache } from '../bounded-cache.ts'
import type { BeliefLookups } from './belief-lookups.ts'
import { newerProgram } from './commit.ts'
import type { Connection, Run } from './connection.ts'
import { type FormLookups, noTurns } from './form-lookups.ts'
import { readBody, type StoredBody } from './stored-body.ts'

const mostOwners = 20_000
const mostAnswers = 10_000
const mostBeliefs = 10_000
/** More changes than this are not followed one by one. */
const mostChanged = 2_000

/** The columns by which a state of an owner is told from every other one, as one text. */
const state = `head || ' ' || analysis || ' ' || encode(hash, 'hex') AS state`
type State = { readonly state: string }
type Head = State & {
  readonly head: number
  readonly hash: Buffer
  readonly next_row: number
  readonly analysis: number
}
const headOf = `SELECT ${state}, head, hash, next_row, analysis FROM credence.owners WHERE owner = $1`
const stateOf = `SELECT ${state} FROM credence.owners WHERE owner = $1`

/** What is known of an owner after the event `head.head`. */
type KnownOwner = {
  /** Tells its cached values from those of an earlier state that the journal does not lead on from. */
  readonly serial: number
  head: Head
  /** Its owner was changed since, as far as this process knows. */
  isBehind: boolean
}

/** An owner as the caller's snapshot sees it. */
type OwnerAt = { readonly known: KnownOwner; readonly number: number }

/** There at once where the snapshot assumes that nothing has changed: a promise for each step of a recall takes long. */
type MaybeOwner = OwnerAt | null | Promise<OwnerAt | null>

type KnownOptions = {
  readonly connection: Connection
  readonly beliefs: BeliefLookups
  readonly forms: FormLookups
}

/**
 * Answers recalls from memory. The row of an owner has the number and hash of the newest event, so everything that was read after
 * that event is right as long as the row is the same. A snapshot takes that for granted, and has the row read in its only round
 * trip; where it was wrong, it is tried again.
 */
export class KnownOwners {
  readonly #connection: Connection
  readonly #beliefs: BeliefLookups
  readonly #forms: FormLookups
  readonly #owners = new BoundedCache<KnownOwner>(mostOwners)
  readonly #answers = new BoundedCache<unknown>(mostAnswers)
  readonly #texts = new BoundedCache<Belief>(mostBeliefs)
  #serial = 0

  constructor({ connection, beliefs, forms }: KnownOptions) {
    this.#connection = connection
    this.#beliefs = beliefs
    this.#forms = forms
  }

  /** To be called after a change by this process, which saves the next recall a round trip in vain. */
  noteChange(user: string): void {
    const known = this.#owners.get(user)
    if (known !== undefined) known.isBehind = true
  }

  /** A value that depends on nothing but the owner's state and `asked`. */
  answer<Value>(user: string, asked: readonly unknown[], read: () => Promise<Value>): Promise<Value> {
    const at = this.#at(user)
    return at instanceof Promise
      ? at.then((found) => this.#answerAt(found, asked, read))
      : this.#answerAt(at, asked, read)
  }

  #answerAt<Value>(at: OwnerAt | null, asked: readonly unknown[], read: () => Promise<Value>): Promise<Value> {
    if (at === null) return read()
    const key = `${at.known.serial} ${at.number} ${JSON.stringify(asked)}`
    const cached = this.#answers.get(key) as Value | undefined
    if (cached !== undefined) return Promise.resolve(cached)
    return read().then((value) => {
      if (isUpToDate(at)) this.#answers.set(key, value)
      return value
    })
  }

  async getMany(user: string, ids: readonly string[]): Promise<readonly Belief[]> {
    let at = this.#at(user)
    if (at instanceof Promise) at = await at
    if (at === null || !isUpToDate(at)) return this.#beliefs.getMany(user, ids)
    const { known } = at
    const found = new Map<string, Belief | undefined>()
    for (const id of ids) if (!found.has(id)) found.set(id, this.#texts.get(`${known.serial} ${id}`))
    const missing = [...found.keys()].filter((id) => found.get(id) === undefined)
    for (const belief of missing.length === 0 ? [] : await this.#readMissing(user, known, missing)) {
      found.set(belief.id, belief)
      if (isUpToDate(at)) this.#texts.set(`${known.serial} ${belief.id}`, belief)
    }
    return [...found.values()].filter((belief) => belief !== undefined)
  }

  /** Reads beliefs, and with the same statement whether the owner is as the snapshot assumes. */
  async #readMissing(user: string, known: KnownOwner, ids: readonly string[]): Promise<readonly Belief[]> {
    const { head } = known
    const rows = await this.#connection.readChecked<State & (StoredBody | { readonly id: null })>(
      `SELECT ${state}, id, crc, body FROM credence.owners
       LEFT JOIN credence.beliefs ON beliefs.owner = $1 AND id = ANY($2::text[]) WHERE owners.owner = $1`,
      [user, ids],
      ([row]) => noteState(known, head, row),
    )
    if (rows === null) return this.#beliefs.getMany(user, ids)
    return rows.flatMap((row) => (row.id === null ? [] : readBody(row)))
  }

  population(view: Viewpoint): Promise<number> {
    return this.answer(view.user, ['population', view.agent, view.scopes], () => this.#forms.population(view))
  }

  /** The owner as this snapshot sees it; null where nothing may be answered from memory. */
  #at(user: string): MaybeOwner {
    const { memo } = this.#connection
    if (memo === null) return null
    const key = `owner ${user}`
    const before = memo.get(key) as MaybeOwner | undefined
    if (before !== undefined) return before
    const found = this.#look(user, memo)
    memo.set(key, found)
    return found
  }

  #look(user: string, memo: Map<string, unknown>): MaybeOwner {
    const known = this.#owners.get(user)
    if (known === undefined) {
      // Known to the next recall. This one does not wait for it.
      const read = this.#connection.read((run) => run<Head>(headOf, [user]))
      read.then(([head]) => head !== undefined && this.#remember(user, head)).catch(() => {})
      return null
    }
    const { head } = known
    const isAssumed = !known.isBehind && this.#connection.assume((run) => this.#isStill(run, user, known, head))
    if (!isAssumed)
      return this.#catchUp(user, known).then((at) => {
        if (at?.known.head.next_row === 0) memo.set(noTurns(user), true)
        return at
      })
    if (head.next_row === 0) memo.set(noTurns(user), true)
    return { known, number: head.head }
  }

  #remember(user: string, head: Head): KnownOwner {
    this.#serial += 1
    const known = { serial: this.#serial, head, isBehind: false }
    this.#owners.set(user, known)
    return known
  }

  async #isStill(run: Run, user: string, known: KnownOwner, assumed: Head): Promise<boolean> {
    const [found] = await run<State>(stateOf, [user])
    return noteState(known, assumed, found)
  }

  /** Reads what has changed since, in one round trip. */
  async #catchUp(user: string, known: KnownOwner): Promise<OwnerAt | null> {
    const before = known.head
    const [[head], [event], changed] = await this.#connection.read((run) =>
      Promise.all([
        run<Head>(headOf, [user]),
        run<{ hash: Buffer }>('SELECT hash FROM credence.events WHERE owner = $1 AND number = $2', [user, before.head]),
        readChanged(run, user, before.head),
      ]),
    )
    if (head === undefined) {
      this.#owners.delete(user)
      return null
    }
    if (head.analysis > before.analysis) throw newerProgram(user)
    if (known.head !== before) return known.head.state === head.state ? { known, number: head.head } : null
    const leadsOn = before.head === 0 || event?.hash.equals(before.hash) === true
    if (changed === null || !leadsOn || head.head < before.head)
      return { known: this.#remember(user, head), number: head.head }
    for (const [id, belief] of changed) {
      const key = `${known.serial} ${id}`
      if (belief === null) this.#texts.delete(key)
      else this.#texts.set(key, belief)
    }
    known.head = head
    known.isBehind = false
    return { known, number: head.head }
  }
}

const isUpToDate = ({ known, number }: OwnerAt): boolean => !known.isBehind && known.head.head === number

/** Whether an owner is as a snapshot has assumed; else it is noted that more has to be read. */
function noteState(known: KnownOwner, assumed: State, found: State | undefined): boolean {
  const isStill = found?.state === assumed.state
  if (!isStill) known.isBehind = true
  return isStill
}

/** What became of the beliefs that changed after an event; null where they are too many. */
async function readChanged(run: Run, user: string, after: number): Promise<ReadonlyMap<string, Belief | null> | null> {
  const rows = await run<{ changed: string } & (StoredBody | { readonly body: null })>(
    `SELECT changed.belief AS changed, id, crc, body
     FROM (SELECT DISTINCT belief FROM credence.changes WHERE owner = $1 AND event > $2 LIMIT $3) AS changed
     LEFT JOIN credence.beliefs ON beliefs.owner = $1 AND beliefs.id = changed.belief`,
    [user, after, mostChanged + 1],
  )
  if (rows.length > mostChanged) return null
  return new Map(rows.map((row) => [row.changed, row.body === null ? null : readBody(row)]))
}
