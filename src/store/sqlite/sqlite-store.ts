import type { BeliefStore } from '../../beliefs/belief-store.ts'
import type { StoreCare } from '../../beliefs/store-care.ts'
import type { TurnStore } from '../../beliefs/turn-store.ts'
import type { FormIndex, FullText } from '../../search/form-index.ts'
import type { MeaningIndex, TurnIndex } from '../../search/turns/turn-index.ts'
import { toHex } from '../journal-chain.ts'
import { BeliefLookups } from './belief-lookups.ts'
import { readBody, type StoredBody } from './belief-row.ts'
import { type Committing, commitChanges, commitWithin, isForgetting } from './commit.ts'
import { Connection } from './connection.ts'
import { type DatabaseOptions, defaultBusyTimeoutMs, openDatabase } from './database.ts'
import { deriveAgain, requireOwnDerivation } from './derivation.ts'
import { FormLookups } from './form-lookups.ts'
import { Journal, Users } from './journal.ts'
import { scrub, scrubSoon } from './scrub.ts'
import { readTurn, TurnLookups } from './turn-lookups.ts'
import { findKnown, insertVectors } from './turn-writing.ts'

export type SqliteStoreOptions = DatabaseOptions & {
  /** Unguessable bytes, for the salts of the journal. */
  readonly random: (bytes: number) => Uint8Array
  /** The clock, for what opening an older store writes to the journal. */
  readonly now?: () => Date
}

export type SqliteStore = BeliefStore &
  FormIndex &
  FullText &
  TurnStore &
  TurnIndex &
  MeaningIndex &
  StoreCare & {
    /** Makes the next read see what other connections have written, also within `withSnapshot`. */
    endSnapshot(): void
  }

/** Opens the store in a file, and creates it where needed. Any number of processes may have it open at once. */
export function openSqliteStore(options: SqliteStoreOptions): SqliteStore {
  const {
    file,
    readonly: isReadonly = false,
    busyTimeoutMs = defaultBusyTimeoutMs,
    random,
    now = () => new Date(),
  } = options
  const connection = new Connection({ file, isReadonly, busyTimeoutMs, open: () => openDatabase(options) })
  const users = new Users(connection)
  const journal = new Journal(connection)
  const committing = { connection, users, journal, random }
  try {
    requireOwnDerivation(connection, isReadonly)
    if (!isReadonly) reviewOldBeliefs(committing, now)
  } catch (error) {
    connection.close()
    throw error
  }
  const beliefs = new BeliefLookups(connection)
  const forms = new FormLookups(connection)
  const turns = new TurnLookups(connection)

  /** Reads on one state of the store. `nothing` is the result for a user that has no rows in it. */
  async function reading<Result>(
    user: string,
    nothing: NoInfer<Result>,
    read: (userId: number) => Result,
  ): Promise<Result> {
    return connection.read(() => {
      const userId = users.find(user)
      return userId === null ? nothing : read(userId)
    })
  }

  return {
    commit: async (commit) => {
      const result = commitChanges(committing, commit)
      if (isForgetting(commit) && result.outcome === 'committed') scrubSoon(connection)
      return result
    },
    get: (user, id) => reading(user, null, (userId) => beliefs.get(userId, id)),
    getMany: (user, ids) => reading(user, [], (userId) => beliefs.getMany(userId, ids)),
    idsStartingWith: (user, prefix, limit) =>
      reading(user, [], (userId) => beliefs.idsStartingWith(userId, prefix, limit)),
    named: (user, name) => reading(user, [], (userId) => beliefs.named(userId, name)),
    holders: (user, name, scopes) => reading(user, [], (userId) => beliefs.holders(userId, name, scopes)),
    supersededBy: (user, id) => reading(user, [], (userId) => beliefs.supersededBy(userId, id)),
    proposalsFor: (user, id) => reading(user, [], (userId) => beliefs.proposalsFor(userId, id)),
    list: (filter, page) => reading(filter.user, noItems, (userId) => beliefs.list(userId, filter, page)),
    scopes: (user) => reading(user, [], (userId) => beliefs.scopes(userId)),
    pinned: (view, { editedEverywhere }) =>
      reading(view.user, [], (userId) => beliefs.pinned(userId, view, editedEverywhere)),
    standing: (view, limit) => reading(view.user, [], (userId) => beliefs.standing(userId, view, limit)),
    events: (user, page) => reading(user, [], (userId) => journal.events(userId, page)),
    event: (user, number) => reading(user, null, (userId) => journal.event(userId, number)),
    eventByKey: (user, key) => reading(user, null, (userId) => journal.eventByKey(userId, key)),
    lastUndoable: (user) => reading(user, null, (userId) => journal.lastUndoable(userId)),
    history: (user, beliefId) => reading(user, [], (userId) => journal.history(userId, beliefId)),
    revisions: (user, event) => reading(user, [], (userId) => journal.revisions(userId, event)),
    formLengths: (user, words) => reading(user, new Map(), (userId) => forms.formLengths(userId, words)),
    secondWords: (user, words) => reading(user, new Map(), (userId) => forms.secondWords(userId, words)),
    postings: (view, keys) => reading(view.user, new Map(), (userId) => forms.postings(userId, view, keys)),
    everyHolder: (user, keys) => reading(user, new Map(), (userId) => forms.everyHolder(userId, keys)),
    wordsNear: (user, words) => reading(user, new Map(), (userId) => forms.wordsNear(userId, words)),
    population: (view) => reading(view.user, 0, (userId) => forms.population(userId, view)),
    matchText: async (query) => {
      const { matchText } = await import('./full-text.ts')
      return reading(query.user, [], (userId) => matchText(connection, userId, query))
    },
    knownTurns: (user, heard) =>
      reading(
        user,
        heard.map(() => null),
        (userId) =>
          findKnown(connection, userId, heard).map((row) => {
            if (row === null) return null
            const turn = readTurn(connection, row)
            if (turn === null) return 'forgotten'
            const { messageId: _messageId, ...rest } = turn
            return rest
          }),
      ),
    getTurn: (user, id) => reading(user, null, (userId) => turns.get(userId, id)),
    listTurns: (filter, page) => reading(filter.user, noItems, (userId) => turns.list(userId, filter, page)),
    listSessions: (filter, page) => reading(filter.user, noItems, (userId) => turns.sessions(userId, filter, page)),
    exportTurns: (user, page) => reading(user, { turns: [], next: null }, (userId) => turns.export(userId, page)),
    turnPostings: (view, terms) => reading(view.user, noPostings, (userId) => turns.postings(userId, view, terms)),
    turnSpeakers: (view) => reading(view.user, [], (userId) => turns.speakers(userId, view)),
    lastStep: (view) => reading(view.user, null, (userId) => turns.lastStep(userId, view)),
    unitsAround: (view, rows, reach) =>
      reading(view.user, [], (userId) => turns.unitsAround(userId, view, rows, reach)),
    vectorsAt: (user, model, rows) => reading(user, new Map(), () => turns.vectorsAt(model, rows)),
    turnsWithoutVectors: (user, model, limit) =>
      reading(user, [], (userId) => turns.withoutVectors(userId, model, limit)),
    keepVectors: async (user, model, vectors) => {
      connection.write(() => {
        const userId = users.find(user)
        if (userId !== null) insertVectors(connection, userId, model, vectors)
      })
    },
    turnsAt: (user, rows) => reading(user, new Map(), () => turns.turnsAt(rows)),
    // Loaded when first needed: recalls and commits never verify, back up or take a fingerprint.
    verify: async () => (await import('./verify.ts')).verifyStore(connection),
    rebuild: async () => connection.write(() => deriveAgain(connection)),
    fingerprint: async () => {
      const { fingerprintOf } = await import('./derived-rows.ts')
      return connection.read(() => fingerprintOf(connection))
    },
    head: async () => {
      const { number, hash } = connection.read(() => journal.head())
      return { number, hash: toHex(hash) }
    },
    backup: async (target) => (await import('./backup.ts')).backUp(connection, target),
    scrub: async () => scrub(connection),
    withSnapshot: (work) => connection.withSnapshot(work),
    endSnapshot: () => connection.endSnapshot(),
    close: async () => connection.close(),
  }
}

const noItems = { items: [], total: 0 }
const noPostings = { units: 0, length: 0, humanWords: 0, terms: new Map(), inView: null }

/**
 * Turns beliefs that version 0.1 learned by its old rules into candidates, one event for each user, so that recall does
 * not return them until a person confirms them. Does nothing in a store that has no such beliefs left.
 */
function reviewOldBeliefs(committing: Committing, now: () => Date): void {
  const { connection } = committing
  if (connection.read(() => connection.value('SELECT 1 FROM to_review LIMIT 1') === undefined)) return
  connection.write(() => {
    const rows = connection.all<StoredBody & { readonly user: string }>(
      `SELECT users.name AS user, beliefs.id, beliefs.crc, beliefs.body
       FROM to_review JOIN beliefs ON beliefs.user_id = to_review.user_id AND beliefs.id = to_review.belief
       JOIN users ON users.id = to_review.user_id ORDER BY users.id, beliefs.id`,
    )
    const at = now().toISOString()
    for (const [user, own] of Map.groupBy(rows, (row) => row.user)) {
      const changes = own.map((row) => {
        const belief = readBody(row)
        const after = { ...belief, candidate: true, updatedAt: at, version: belief.version + 1 }
        return { beliefId: belief.id, expectedVersion: belief.version, outcome: 'present', after } as const
      })
      const event = { user, kind: 'review', actor: 'tool', origin: 'credence', at, key: null, undoes: null } as const
      commitWithin(committing, { ...event, changes })
    }
    connection.run('DELETE FROM to_review')
  })
}
