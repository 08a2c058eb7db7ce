import type { BeliefStore } from '../../beliefs/belief-store.ts'
import type { StoreCare } from '../../beliefs/store-care.ts'
import type { TurnStore } from '../../beliefs/turn-store.ts'
import type { FormIndex, FullText } from '../../search/form-index.ts'
import type { MeaningIndex, TurnIndex } from '../../search/turns/turn-index.ts'
import { toHex } from '../journal-hash.ts'
import { BeliefLookups } from './belief-lookups.ts'
import { Connection } from './connection.ts'
import { type DatabaseOptions, openDatabase } from './database.ts'
import { requireOwnDerivation } from './derivation.ts'
import { FormLookups } from './form-lookups.ts'
import { Journal } from './journal.ts'
import { reviewOldBeliefs } from './review.ts'
import { sizeOf } from './store-file.ts'
import { readTurn, TurnLookups } from './turn-lookups.ts'
import { Users } from './users.ts'

export { setAsideCorruptStore } from './store-file.ts'

export type SqliteStoreOptions = DatabaseOptions & {
  /** Unguessable bytes, for the salts of the journal. */
  readonly random: (bytes: number) => Uint8Array
  /** The clock, for what opening an older store writes to the journal. */
  readonly now?: () => Date
}

/** How big a store is. */
export type StoreSizes = {
  readonly users: number
  readonly events: number
  readonly beliefs: number
  readonly turns: number
  readonly databaseBytes: number
  /** What has been written but not yet moved into the database file. */
  readonly logBytes: number
}

export type SqliteStore = BeliefStore &
  FormIndex &
  FullText &
  TurnStore &
  TurnIndex &
  MeaningIndex &
  StoreCare & {
    sizes(): Promise<StoreSizes>
    /** The next read sees what other connections have written, even one that is made together with others. */
    letGo(): void
  }

/** Opens the store in a file, creating it if need be. Any number of processes may have it open at once. */
export function openSqliteStore(options: SqliteStoreOptions): SqliteStore {
  const { file, readonly: isReadonly = false, random, now = () => new Date() } = options
  const connection = new Connection({ file, isReadonly, open: () => openDatabase(options) })
  const users = new Users(connection)
  const journal = new Journal(connection)
  try {
    requireOwnDerivation(connection, isReadonly)
    if (!isReadonly) reviewOldBeliefs({ connection, users, journal, random }, now)
  } catch (error) {
    connection.close()
    throw error
  }
  const beliefs = new BeliefLookups(connection)
  const forms = new FormLookups(connection)
  const turns = new TurnLookups(connection)
  // Loaded when first needed: a recall that is asked once neither writes nor looks after anything.
  const care = () => import('./care.ts')

  /** Reads one state of the store; a user it never heard of has nothing in it. */
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
      const { commitChanges, scrubSoon } = await import('./writing.ts')
      const result = commitChanges({ connection, users, journal, random }, commit)
      const isForgetting =
        commit.changes.some(({ outcome }) => outcome === 'erased') || (commit.forgottenTurns ?? []).length > 0
      if (isForgetting && result.outcome === 'committed') scrubSoon(connection)
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
    list: (filter, page) =>
      reading(filter.user, { items: [], total: 0 }, (userId) => beliefs.list(userId, filter, page)),
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
    formLengths: (user, heads) => reading(user, new Map(), (userId) => forms.formLengths(userId, heads)),
    secondWords: (user, heads) => reading(user, new Map(), (userId) => forms.secondWords(userId, heads)),
    postings: (view, keys) => reading(view.user, new Map(), (userId) => forms.postings(userId, view, keys)),
    everyHolder: (user, keys) => reading(user, new Map(), (userId) => forms.everyHolder(userId, keys)),
    wordsNear: (user, words) => reading(user, new Map(), (userId) => forms.wordsNear(userId, words)),
    population: (view) => reading(view.user, 0, (userId) => forms.population(userId, view)),
    matchText: async (query) => {
      const { matchText } = await import('./full-text.ts')
      return reading(query.user, [], (userId) => matchText(connection, userId, query))
    },
    knownTurns: async (user, heard) => {
      const { findKnown } = await import('./writing.ts')
      return reading(
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
      )
    },
    getTurn: (user, id) => reading(user, null, (userId) => turns.get(userId, id)),
    listTurns: (filter, page) =>
      reading(filter.user, { items: [], total: 0 }, (userId) => turns.list(userId, filter, page)),
    listSessions: (filter, page) =>
      reading(filter.user, { items: [], total: 0 }, (userId) => turns.sessions(userId, filter, page)),
    exportTurns: (user, page) => reading(user, { turns: [], next: null }, (userId) => turns.export(userId, page)),
    turnPostings: (view, terms) => reading(view.user, nothingSaid, (userId) => turns.postings(userId, view, terms)),
    turnSpeakers: (view) => reading(view.user, [], (userId) => turns.speakers(userId, view)),
    unitsAround: (view, rows, reach) =>
      reading(view.user, [], (userId) => turns.unitsAround(userId, view, rows, reach)),
    vectorsAt: (user, model, rows) => reading(user, new Map(), () => turns.vectorsAt(model, rows)),
    turnsWithoutVectors: (user, model, limit) =>
      reading(user, [], (userId) => turns.withoutVectors(userId, model, limit)),
    keepVectors: async (user, model, vectors) => {
      const { insertVectors } = await import('./writing.ts')
      connection.write(() => {
        const userId = users.find(user)
        if (userId !== null) insertVectors(connection, userId, model, vectors)
      })
    },
    turnsAt: (user, rows) => reading(user, new Map(), () => turns.turnsAt(rows)),
    verify: async () => (await care()).verifyStore(connection),
    rebuild: async () => {
      const { deriveAgain } = await care()
      connection.write(() => deriveAgain(connection))
    },
    fingerprint: async () => {
      const { fingerprintOf } = await care()
      return connection.read(() => fingerprintOf(connection))
    },
    head: async () => {
      const { number, hash } = connection.read(() => journal.head())
      return { number, hash: toHex(hash) }
    },
    backup: async (target) => (await care()).backUp(connection, target),
    sizes: async () => sizesOf(connection),
    scrub: async () => (await care()).scrub(connection),
    together: (work) => connection.together(work),
    letGo: () => connection.letGo(),
    close: async () => connection.close(),
  }
}

const nothingSaid = { units: 0, length: 0, humanWords: 0, terms: new Map(), inView: null }

function sizesOf(connection: Connection): StoreSizes {
  const count = (table: 'users' | 'events' | 'beliefs' | 'turn_texts'): number =>
    connection.statement<[], { count: number }>(`SELECT count(*) AS count FROM ${table}`).get()?.count ?? 0
  const counts = connection.read(() => ({
    users: count('users'),
    events: count('events'),
    beliefs: count('beliefs'),
    turns: count('turn_texts'),
  }))
  return { ...counts, databaseBytes: sizeOf(connection.file), logBytes: sizeOf(`${connection.file}-wal`) }
}
