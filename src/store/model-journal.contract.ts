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
  findUndo,
  hashChanges,
  hashEvent,
  requireSameRequest,
  type SealedChange,
  type SealedKey,
  sealChanges,
  sealForgotten,
  sealKey,
  sealTurns,
  toHex,
} from './journal-chain.ts'

type JournalChange = SealedChange & { belief: Belief | null }

type JournalRecord = {
  readonly event: Omit<JournalEvent, 'undoneBy'>
  readonly hash: Uint8Array
  readonly changes: readonly JournalChange[]
  readonly turnIds: readonly string[]
  key: (Omit<SealedKey, 'salt'> & { readonly salt: Uint8Array | null }) | null
}

/** The journal of a store in memory, with the same events and hashes as in SQLite. */
export class ModelJournal {
  readonly #random: (bytes: number) => Uint8Array
  readonly #records: JournalRecord[] = []
  /** The changes of each belief, by user and belief. */
  readonly #changes = new Map<string, { readonly record: JournalRecord; readonly change: JournalChange }[]>()

  constructor(random: (bytes: number) => Uint8Array) {
    this.#random = random
  }

  /** Newest first. */
  events(user: string, { limit, before, hearing = false }: EventPage): readonly JournalEntry[] {
    const last = before ?? Number.POSITIVE_INFINITY
    return this.#recordsOf(user)
      .filter(({ event }) => event.number < last && (hearing || event.kind !== 'hear'))
      .reverse()
      .slice(0, limit)
      .map((record) => entryOf(this.#eventOf(record)))
  }

  event(user: string, number: number): JournalEvent | null {
    const record = this.#recordsOf(user).find(({ event }) => event.number === number)
    return record === undefined ? null : this.#eventOf(record)
  }

  eventByKey(user: string, key: IdempotencyKey): JournalEvent | null {
    const record = this.#recordsOf(user).find(({ event }) => event.key === key.value)
    if (record === undefined || record.key === null) return null
    requireSameRequest(key, record.key)
    return this.#eventOf(record)
  }

  lastUndoable(user: string): JournalEvent | null {
    const isUndoable = ({ kind, undoes, undoneBy }: JournalEvent): boolean =>
      kind !== 'undo' && kind !== 'hear' && undoes === null && undoneBy === null
    const record = this.#recordsOf(user).findLast((one) => isUndoable(this.#eventOf(one)))
    return record === undefined ? null : this.#eventOf(record)
  }

  history(user: string, beliefId: string): readonly BeliefRevision[] {
    return this.#changesOf(user, beliefId).map(({ record, change }) => this.#revisionOf(record, change))
  }

  revisions(user: string, number: number): readonly BeliefRevision[] {
    const record = this.#recordsOf(user).find(({ event }) => event.number === number)
    return record?.changes.map((change) => this.#revisionOf(record, change)) ?? []
  }

  /** The version of a belief after its last change; 0 if there was none. */
  versionOf(user: string, beliefId: string): number {
    return this.#changesOf(user, beliefId).at(-1)?.change.version ?? 0
  }

  append(commit: Commit, changes: readonly CheckedChange[]): JournalEvent {
    const { user, kind, actor, origin, at, undoes, turns = [], forgottenTurns = [] } = commit
    const sealed: readonly JournalChange[] = sealChanges(changes, this.#random).map(
      ({ salt: _salt, body: _body, ...change }, index) => ({ ...change, belief: changes[index]?.after ?? null }),
    )
    const sealedTurns = [...sealTurns(turns, this.#random), ...sealForgotten(forgottenTurns)]
    const key = sealKey(commit.key, this.#random)
    const fields = { number: this.#records.length + 1, user, kind, actor, origin, at, key, undoes }
    const hash = hashEvent(fields, hashChanges(sealed, sealedTurns), this.#records.at(-1)?.hash ?? beforeFirst)
    const beliefIds = changes.map(({ beliefId }) => beliefId)
    const event = { ...fields, key: key?.value ?? null, beliefIds, turnCount: sealedTurns.length, hash: toHex(hash) }
    const record: JournalRecord = { event, hash, changes: sealed, turnIds: turns.map(({ id }) => id), key }
    this.#records.push(record)
    for (const change of sealed) {
      const earlier = this.#changesOf(user, change.beliefId)
      if (change.outcome === 'erased') for (const one of earlier) one.change.belief = null
      if (change.outcome === 'erased') forgetRequests(earlier.map((one) => one.record))
      this.#changes.set(`${user}\n${change.beliefId}`, [...earlier, { record, change }])
    }
    const isForgotten = (one: JournalRecord): boolean => one.turnIds.some((id) => forgottenTurns.includes(id))
    if (forgottenTurns.length > 0) forgetRequests(this.#recordsOf(user).filter(isForgotten))
    return this.#eventOf(record)
  }

  #recordsOf(user: string): JournalRecord[] {
    return this.#records.filter(({ event }) => event.user === user)
  }

  #changesOf(user: string, beliefId: string) {
    return this.#changes.get(`${user}\n${beliefId}`) ?? []
  }

  #eventOf({ event }: JournalRecord): JournalEvent {
    const undosOf = (undone: number) => this.#records.filter((one) => one.event.undoes === undone).reverse()
    return { ...event, undoneBy: findUndo(event.number, (undone) => undosOf(undone).map((one) => one.event.number)) }
  }

  #revisionOf(record: JournalRecord, { beliefId, version, outcome, belief }: JournalChange): BeliefRevision {
    return { event: entryOf(this.#eventOf(record)), beliefId, version, outcome, belief }
  }
}

function forgetRequests(records: readonly JournalRecord[]): void {
  for (const record of records) if (record.key !== null) record.key = { ...record.key, salt: null }
}
