import type { Belief } from '../beliefs/belief.ts'
import type { EventPage } from '../beliefs/belief-store.ts'
import {
  type BeliefRevision,
  type Commit,
  entryOf,
  type IdempotencyKey,
  type JournalEntry,
  type JournalEvent,
} from '../beliefs/journal.ts'
import type { CheckedChange } from './checked-commit.ts'
import {
  beforeFirst,
  forgotten,
  hashChanges,
  hashEvent,
  requireSameRequest,
  type SealedChange,
  type SealedKey,
  sealChanges,
  sealKey,
  sealTurns,
  toHex,
  undoneBy,
} from './journal-chain.ts'

type JournalChange = SealedChange & { belief: Belief | null }

type JournalRecord = {
  readonly event: Omit<JournalEvent, 'undoneBy'>
  readonly hash: Uint8Array
  readonly changes: readonly JournalChange[]
  readonly turnIds: readonly string[]
  key: (Omit<SealedKey, 'salt'> & { readonly salt: Uint8Array | null }) | null
}

type UserRecords = {
  readonly records: JournalRecord[]
  readonly byKey: Map<string, JournalRecord>
  readonly byBelief: Map<string, { readonly record: JournalRecord; readonly change: JournalChange }[]>
}

/** The journal of a store in memory: the same events with the same hashes as in SQLite. */
export class MemoryJournal {
  readonly #random: (bytes: number) => Uint8Array
  readonly #records: JournalRecord[] = []
  readonly #users = new Map<string, UserRecords>()
  readonly #undos = new Map<number, number[]>()

  constructor(random: (bytes: number) => Uint8Array) {
    this.#random = random
  }

  /** Newest first. */
  events(user: string, { limit, before, hearing = false }: EventPage): readonly JournalEntry[] {
    const last = before ?? Number.POSITIVE_INFINITY
    const records = (this.#users.get(user)?.records ?? []).filter(
      ({ event }) => event.number < last && (hearing || event.kind !== 'hear'),
    )
    return records
      .reverse()
      .slice(0, limit)
      .map((record) => entryOf(this.#eventOf(record)))
  }

  event(user: string, number: number): JournalEvent | null {
    const record = this.#recordAt(user, number)
    return record === null ? null : this.#eventOf(record)
  }

  eventByKey(user: string, key: IdempotencyKey): JournalEvent | null {
    const record = this.#users.get(user)?.byKey.get(key.value)
    if (record === undefined || record.key === null) return null
    requireSameRequest(key, record.key)
    return this.#eventOf(record)
  }

  lastUndoable(user: string): JournalEvent | null {
    const isUndoable = ({ event }: JournalRecord): boolean =>
      event.kind !== 'undo' && event.kind !== 'hear' && event.undoes === null && this.#undoneBy(event.number) === null
    const record = this.#users.get(user)?.records.findLast(isUndoable)
    return record === undefined ? null : this.#eventOf(record)
  }

  history(user: string, beliefId: string): readonly BeliefRevision[] {
    const revisions = this.#users.get(user)?.byBelief.get(beliefId) ?? []
    return revisions.map(({ record, change }) => this.#revisionOf(record, change))
  }

  revisions(user: string, number: number): readonly BeliefRevision[] {
    const record = this.#recordAt(user, number)
    return record === null ? [] : record.changes.map((change) => this.#revisionOf(record, change))
  }

  /** The version of a belief after its last change, 0 when there was none. */
  versionOf(user: string, beliefId: string): number {
    return this.#users.get(user)?.byBelief.get(beliefId)?.at(-1)?.change.version ?? 0
  }

  append(commit: Commit, changes: readonly CheckedChange[]): JournalEvent {
    const { user, kind, actor, origin, at, key, undoes, turns = [], forgottenTurns = [] } = commit
    const sealed: readonly JournalChange[] = sealChanges(changes, this.#random).map(
      ({ salt: _salt, body: _body, ...change }, index) => ({ ...change, belief: changes[index]?.after ?? null }),
    )
    const sealedTurns = [...sealTurns(turns, this.#random), ...forgotten(forgottenTurns)]
    const sealedKey = sealKey(key, this.#random)
    const fields = { number: this.#records.length + 1, user, kind, actor, origin, at, key: sealedKey, undoes }
    const hash = hashEvent(fields, hashChanges(sealed, sealedTurns), this.#records.at(-1)?.hash ?? beforeFirst)
    const beliefIds = changes.map(({ beliefId }) => beliefId)
    const event = { ...fields, key: key?.value ?? null, beliefIds, turnCount: sealedTurns.length, hash: toHex(hash) }
    const record: JournalRecord = { event, hash, changes: sealed, turnIds: turns.map(({ id }) => id), key: sealedKey }
    this.#records.push(record)

    const own: UserRecords = this.#users.get(user) ?? { records: [], byKey: new Map(), byBelief: new Map() }
    this.#users.set(user, own)
    own.records.push(record)
    if (key !== null) own.byKey.set(key.value, record)
    if (undoes !== null) this.#undos.set(undoes, [event.number, ...(this.#undos.get(undoes) ?? [])])
    for (const change of sealed) {
      const revisions = own.byBelief.get(change.beliefId) ?? []
      own.byBelief.set(change.beliefId, revisions)
      if (change.outcome === 'erased')
        for (const earlier of revisions) {
          earlier.change.belief = null
          forgetRequest(earlier.record)
        }
      revisions.push({ record, change })
    }
    for (const earlier of own.records)
      if (earlier.turnIds.some((id) => forgottenTurns.includes(id))) forgetRequest(earlier)
    return this.#eventOf(record)
  }

  #recordAt(user: string, number: number): JournalRecord | null {
    const record = this.#records[number - 1]
    return record?.event.user === user ? record : null
  }

  #undoneBy(number: number): number | null {
    return undoneBy(number, (undone) => this.#undos.get(undone) ?? [])
  }

  #eventOf({ event }: JournalRecord): JournalEvent {
    return { ...event, undoneBy: this.#undoneBy(event.number) }
  }

  #revisionOf(record: JournalRecord, { beliefId, version, outcome, belief }: JournalChange): BeliefRevision {
    return { event: entryOf(this.#eventOf(record)), beliefId, version, outcome, belief }
  }
}

function forgetRequest(record: JournalRecord): void {
  if (record.key !== null) record.key = { ...record.key, salt: null }
}
