import type { Belief } from '../beliefs/belief.ts'
import type { EventPage } from '../beliefs/belief-store.ts'
import { type BeliefRevision, type Commit, entryOf, type JournalEntry, type JournalEvent } from '../beliefs/journal.ts'
import type { CheckedChange } from './checked-commit.ts'
import {
  beforeFirst,
  hashBody,
  hashChanges,
  hashEvent,
  type SealedChange,
  type SealedTurn,
  saltBytes,
  toHex,
  turnBody,
} from './journal-hash.ts'
import { undoneBy } from './undo-chain.ts'

type JournalChange = SealedChange & { belief: Belief | null }

type JournalRecord = {
  readonly event: Omit<JournalEvent, 'undoneBy'>
  readonly hash: Uint8Array
  readonly changes: readonly JournalChange[]
}

type UserRecords = {
  readonly records: JournalRecord[]
  readonly byKey: Map<string, JournalRecord>
  readonly byBelief: Map<string, { readonly record: JournalRecord; readonly change: JournalChange }[]>
}

/** The journal of a store that lives in memory: the same events with the same hashes as on disk. */
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

  eventByKey(user: string, key: string): JournalEvent | null {
    const record = this.#users.get(user)?.byKey.get(key)
    return record === undefined ? null : this.#eventOf(record)
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

  /** Version after the last thing that happened to a belief, 0 if nothing did. */
  versionOf(user: string, beliefId: string): number {
    return this.#users.get(user)?.byBelief.get(beliefId)?.at(-1)?.change.version ?? 0
  }

  append(commit: Commit, changes: readonly CheckedChange[]): JournalEvent {
    const { user, kind, actor, origin, at, key, undoes } = commit
    const sealed = this.#seal(changes)
    const turns = this.#sealTurns(commit)
    const fields = { number: this.#records.length + 1, user, kind, actor, origin, at, key, undoes }
    const hash = hashEvent(fields, hashChanges(sealed, turns), this.#records.at(-1)?.hash ?? beforeFirst)
    const event = {
      ...fields,
      beliefIds: changes.map(({ beliefId }) => beliefId),
      turnCount: turns.length,
      hash: toHex(hash),
    }
    const record = { event, hash, changes: sealed }
    this.#records.push(record)

    const own: UserRecords = this.#users.get(user) ?? { records: [], byKey: new Map(), byBelief: new Map() }
    this.#users.set(user, own)
    own.records.push(record)
    if (key !== null) own.byKey.set(key.value, record)
    if (undoes !== null) this.#undos.set(undoes, [event.number, ...(this.#undos.get(undoes) ?? [])])
    for (const change of sealed) {
      const revisions = own.byBelief.get(change.beliefId) ?? []
      own.byBelief.set(change.beliefId, revisions)
      if (change.outcome === 'erased') for (const earlier of revisions) earlier.change.belief = null
      revisions.push({ record, change })
    }
    return this.#eventOf(record)
  }

  #seal(changes: readonly CheckedChange[]): readonly JournalChange[] {
    const salts = this.#random(saltBytes * changes.length)
    return changes.map(({ beliefId, expectedVersion, outcome, after }, index) => {
      if (after === null) return { beliefId, version: expectedVersion, outcome, bodyHash: null, belief: null }
      const salt = salts.subarray(index * saltBytes, (index + 1) * saltBytes)
      const bodyHash = hashBody(salt, JSON.stringify(after))
      return { beliefId, version: after.version, outcome, bodyHash, belief: after }
    })
  }

  #sealTurns({ turns = [], forgottenTurns = [] }: Commit): readonly SealedTurn[] {
    const salts = this.#random(saltBytes * turns.length)
    const kept = turns.map((turn, index) => ({
      id: turn.id,
      hash: hashBody(salts.subarray(index * saltBytes, (index + 1) * saltBytes), turnBody(turn)),
    }))
    return [...kept, ...forgottenTurns.map((id) => ({ id, hash: null }))]
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

  #revisionOf(record: JournalRecord, { beliefId, outcome, belief }: JournalChange): BeliefRevision {
    return { event: entryOf(this.#eventOf(record)), beliefId, outcome, belief }
  }
}
