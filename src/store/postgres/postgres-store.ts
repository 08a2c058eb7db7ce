import type { Membership } from '../../beliefs/access-store.ts'
import { MemoryError } from '../../errors.ts'
import type { FormIndex } from '../../search/form-index.ts'
import type { CaredStore } from '../../search/store-port.ts'
import { analysisVersion } from '../belief-row.ts'
import { BeliefLookups } from './belief-lookups.ts'
import { commitChanges, lockOwner, newerProgram } from './commit.ts'
import { Connection, type ConnectionOptions } from './connection.ts'
import { FormLookups } from './form-lookups.ts'
import { matchText } from './full-text.ts'
import { Journal } from './journal.ts'
import { KnownOwners } from './known-owners.ts'
import { migrate } from './migrations/migrate.ts'
import { recallCountsIn } from './recall-counts.ts'
import { TurnLookups } from './turn-lookups.ts'
import { findKnown } from './turn-writes.ts'

export type PostgresStoreOptions = ConnectionOptions & {
  /** Unguessable bytes, for the salts of the journal. */
  readonly random: (bytes: number) => Uint8Array
  /** For tests: the text analysis that this program claims to have. */
  readonly analysis?: string
}

export type PostgresStore = CaredStore & Required<FormIndex>

/** Owners whose index is known to be this program's. */
const mostChecked = 10_000

/** Opens the store in a PostgreSQL database, and makes its schema where needed. Connects with the first call. */
export function openPostgresStore(options: PostgresStoreOptions): PostgresStore {
  const { random, analysis: analysisName = analysisVersion } = options
  const connection = new Connection(options)
  const beliefs = new BeliefLookups(connection)
  const forms = new FormLookups(connection, beliefs)
  const journal = new Journal(connection)
  const turns = new TurnLookups(connection)
  const counts = recallCountsIn(connection)
  const checked = new Set<string>()
  let migrated: Promise<number> | null = null
  let isReady = false

  /** The number of this program's text analysis, once the schema is up to date. */
  function ready(): Promise<number> {
    if (migrated === null) {
      migrated = migrate(connection, analysisName)
      // A server that is away now may be there for the next call.
      migrated.then(
        () => {
          isReady = true
        },
        () => {
          migrated = null
        },
      )
    }
    return migrated
  }

  /** Waits until the index of an owner is this program's, and derives it again where an older program has made it. */
  function of<Result>(user: string, read: () => Promise<Result>): Promise<Result> {
    return checked.has(user) ? read() : checkIndex(user).then(read)
  }

  async function checkIndex(user: string): Promise<void> {
    const analysis = await ready()
    const [row] = await connection.readByKey<{ analysis: number }>(
      'SELECT analysis FROM credence.owners WHERE owner = $1',
      [user],
    )
    if (row !== undefined && row.analysis > analysis) throw newerProgram(user)
    if (row !== undefined && row.analysis < analysis)
      await connection.write(async (run) => {
        await lockOwner(run, user, analysis)
        await run('COMMIT')
      })
    if (checked.size >= mostChecked) checked.clear()
    checked.add(user)
  }

  const caring = async <Result>(care: (all: typeof import('./care.ts'), analysis: number) => Promise<Result>) => {
    const analysis = await ready()
    return care(await import('./care.ts'), analysis)
  }

  const stored: Required<FormIndex> = {
    prefetch: (view, announced) => of(view.user, () => forms.prefetch(view, announced)),
    formLengths: (user, words) => of(user, () => forms.formLengths(user, words)),
    postings: (view, keys) => of(view.user, () => forms.postings(view, keys)),
    everyHolder: (user, keys) => of(user, () => forms.everyHolder(user, keys)),
    wordsNear: (user, words) => of(user, () => forms.wordsNear(user, words)),
    population: (view) => of(view.user, () => known.population(view)),
  }
  const known = new KnownOwners({ connection, beliefs, forms })

  /** A value that depends on the owner's state alone, from memory where it is there. */
  const remembered = <Value>(user: string, asked: readonly unknown[], read: () => Promise<Value>): Promise<Value> =>
    of(user, () => known.answer(user, asked, read))

  return {
    ...stored,
    commit: async (commit) => {
      const result = await commitChanges({ connection, analysis: await ready(), random }, commit)
      known.noteChange(commit.user)
      return result
    },
    get: (user, id) => of(user, async () => (await beliefs.getMany(user, [id]))[0] ?? null),
    getMany: (user, ids) => of(user, () => known.getMany(user, ids)),
    idsStartingWith: (user, prefix, limit) => of(user, () => beliefs.idsStartingWith(user, prefix, limit)),
    named: (user, name) => of(user, () => beliefs.named(user, name)),
    holders: (user, name, scopes) => of(user, () => beliefs.holders(user, name, scopes)),
    supersededBy: (user, id) => of(user, () => beliefs.linkedTo(user, 'superseded_by', id)),
    proposalsFor: (user, id) => of(user, () => beliefs.linkedTo(user, 'proposed_for', id)),
    list: (filter, page) => of(filter.user, () => beliefs.list(filter, page)),
    scopes: (user) => of(user, () => beliefs.scopes(user)),
    pinned: (view, { editedEverywhere }) =>
      remembered(view.user, ['pinned', view.agent, view.scopes, editedEverywhere], () =>
        beliefs.pinned(view, editedEverywhere),
      ),
    standing: (view, limit) =>
      remembered(view.user, ['standing', view.agent, view.scopes, limit], () => beliefs.standing(view, limit)),
    countRecalls: (user, tallies) => of(user, () => counts.countRecalls(user, tallies)),
    recallCounts: (user, ids) => of(user, () => counts.recallCounts(user, ids)),
    recallDays: (user) => of(user, () => counts.recallDays(user)),
    growth: (user) => of(user, () => counts.growth(user)),
    events: (user, page) => of(user, () => journal.events(user, page)),
    event: (user, number) => of(user, () => journal.event(user, number)),
    eventByKey: (user, key) => of(user, () => journal.eventByKey(user, key)),
    lastUndoable: (user) => of(user, () => journal.lastUndoable(user)),
    history: (user, beliefId) => of(user, () => journal.history(user, beliefId)),
    revisions: (user, event) => of(user, () => journal.revisions(user, event)),
    matchText: (query) => of(query.user, () => matchText(connection, query)),
    knownTurns: (user, heard) =>
      of(user, async () => {
        const rows = await connection.read((run) => findKnown(run, user, heard))
        const found = await turns.at(
          user,
          rows.flatMap((row) => row ?? []),
        )
        return rows.map((row) => (row === null ? null : (found.get(row) ?? 'forgotten')))
      }),
    getTurn: (user, id) => of(user, () => turns.get(user, id)),
    turnIdsStartingWith: (user, prefix, limit) => of(user, () => turns.idsStartingWith(user, prefix, limit)),
    listTurns: (filter, page) => of(filter.user, () => turns.list(filter, page)),
    listSessions: (filter, page) => of(filter.user, () => turns.sessions(filter, page)),
    exportTurns: (user, page) => of(user, () => turns.export(user, page)),
    judgeOldTurns: (user, limit, judge) => of(user, () => turns.judgeOld(user, limit, judge)),
    turnPostings: (view, terms) =>
      terms.length === 0
        ? remembered(view.user, ['turns', view], () => turns.postings(view, terms))
        : of(view.user, () => turns.postings(view, terms)),
    turnSpeakers: (view) => remembered(view.user, ['speakers', view], () => turns.speakers(view)),
    lastStep: (view) => of(view.user, () => turns.lastStep(view)),
    unitsAround: (view, rows, reach) => of(view.user, () => turns.unitsAround(view, rows, reach)),
    turnsAt: (user, rows) => of(user, () => turns.turnsAt(user, rows)),
    vectorsAt: (user, model, rows) => of(user, () => turns.vectorsAt(user, model, rows)),
    turnsWithoutVectors: (user, model, page) => of(user, () => turns.withoutVectors(user, model, page)),
    keepVectors: (user, model, vectors) => of(user, () => turns.keepVectors(user, model, vectors)),
    withSnapshot: (work) =>
      isReady ? connection.withSnapshot(work) : ready().then(() => connection.withSnapshot(work)),
    verify: (onProgress) => caring(({ verifyStore }, analysis) => verifyStore(connection, analysis, onProgress)),
    rebuild: () => caring(({ rebuild }, analysis) => rebuild(connection, analysis)),
    fingerprint: () => caring(({ fingerprint }) => fingerprint(connection)),
    head: () => caring(({ headOf }) => headOf(connection)),
    // The head of every owner is kept in its row, in the same transaction as the event.
    anchorJournal: async () => {},
    // Row versions that a forget leaves behind are removed by vacuum.
    scrub: async () => {
      await caring(({ vacuum }) => vacuum(connection))
      return true
    },
    backup: async () => {
      throw new MemoryError('invalid', 'A PostgreSQL store is backed up with the tools of PostgreSQL.', {
        hint: 'Run pg_dump --schema=credence, or `credence store copy` to a memory directory.',
      })
    },
    memberships: async (person) => {
      await ready()
      return connection.readByKey<Membership>(
        'SELECT team, role FROM credence.team_members WHERE person = $1 ORDER BY team',
        [person],
      )
    },
    access: async () => {
      await ready()
      return (await import('./access.ts')).openAccess(connection)
    },
    tryOut: async () => {
      throw new MemoryError('unavailable', 'A PostgreSQL store cannot try out a change.', {
        hint: 'Copy the memory to a directory with `credence store copy`, and ask there.',
      })
    },
    close: () => connection.close(),
  }
}
