import type { Belief } from '../../beliefs/belief.ts'
import type { CommitResult } from '../../beliefs/belief-store.ts'
import { type Commit, isForgetting } from '../../beliefs/journal.ts'
import { conflict } from '../../errors.ts'
import { runToEnd, runYielding } from '../../next-turn.ts'
import { newestText, readText, type StoredText } from '../belief-row.ts'
import { type CheckedChange, checkChanges, resultWithoutWrite } from '../checked-commit.ts'
import { deriveBelief } from '../derived-belief.ts'
import { sealChanges, sealForgotten, sealKey } from '../journal-chain.ts'
import { advanceHead } from './care/journal-head.ts'
import { noteRemains, scrubSoon } from './care/scrub.ts'
import type { Connection } from './connection.ts'
import { openJournal } from './journal.ts'
import { openProjection, type Projected } from './projections.ts'
import type { Users } from './sqlite-store.ts'
import { eraseTurns, findKnown, insertTurns, type PreparedTurn, prepareTurns } from './turns/turn-writing.ts'

export type Committing = {
  readonly connection: Connection
  readonly users: Users
  readonly random: (bytes: number) => Uint8Array
}

/** Thrown inside the transaction to roll it back. */
export class StaleCommit extends Error {}

/** Applies a commit in the transaction of a dry run, which is rolled back. Does not touch the files next to the store. */
export function applyInDryRun(committing: Committing, commit: Commit): void {
  try {
    if (commitPrepared(committing, commit, prepareCommit(committing, commit)).outcome === 'committed') return
  } catch (error) {
    if (!(error instanceof StaleCommit)) throw error
  }
  throw conflict(
    'The change cannot be tried out: a belief has changed, or another one has its name.',
    'Read the belief again, and try again.',
  )
}

/** Max changes that are applied without yielding to the event loop. */
const changesAtOnce = 50

/** Max characters of all turns that are stored without yielding to the event loop. */
const charactersAtOnce = 4_000

/** Whether a commit is so large that it must yield between parts. Forgotten turns may have any length. */
export const isLargeCommit = ({ changes, turns = [], forgottenTurns = [] }: Commit): boolean =>
  changes.length > changesAtOnce ||
  forgottenTurns.length > 0 ||
  turns.reduce((sum, { text }) => sum + text.length, 0) > charactersAtOnce

/**
 * Appends one event and updates every derived table. The event is durable when the promise resolves. `apart`: the same store on a separate
 * connection, for a large commit that yields to the event loop.
 */
export async function commitChanges(committing: Committing, commit: Commit, apart?: Committing): Promise<CommitResult> {
  // Computes hashes and index entries before taking the lock, so that other processes wait less.
  const turns = await runYielding(prepareTurns(commit.turns ?? [], committing.random))
  const prepared = prepareCommit(committing, commit, turns)
  const { connection } = committing
  try {
    const result =
      apart === undefined
        ? await connection.writeInTurn(() => commitPrepared(committing, commit, prepared))
        : await apart.connection.runExclusively('COMMIT', () => runYielding(commitInParts(apart, commit, prepared), 0))
    if (result.outcome !== 'committed' || !connection.isOnDisk) return result
    advanceHead(connection, result.event)
    if (isForgetting(commit)) await scrubSoon(connection)
    return result
  } catch (error) {
    if (error instanceof StaleCommit) return { outcome: 'stale' }
    throw error
  }
}

export function prepareCommit({ random }: Committing, commit: Commit, prepared?: readonly PreparedTurn[]) {
  const changes = checkChanges(commit)
  const written = sealChanges(changes, random)
  const turns = prepared ?? runToEnd(prepareTurns(commit.turns ?? [], random))
  return { changes, written, turns, key: sealKey(commit.key, random) }
}

type PreparedCommit = ReturnType<typeof prepareCommit>

export const commitPrepared = (committing: Committing, commit: Commit, prepared: PreparedCommit): CommitResult =>
  runToEnd(commitInParts(committing, commit, prepared))

/** Applies a large commit, and yields after each part. */
function* commitInParts(
  { connection, users }: Committing,
  commit: Commit,
  { changes, written, turns, key }: PreparedCommit,
): Generator<void, CommitResult> {
  const journal = openJournal(connection)
  const userId = users.findOrAdd(commit.user)
  const settled = resultWithoutWrite(commit, {
    eventByKey: (key) => journal.eventByKey(userId, key),
    event: (number) => journal.event(userId, number),
  })
  if (settled !== null) return settled
  for (const { beliefId, expectedVersion } of changes) {
    if (journal.versionOf(userId, beliefId) !== expectedVersion) throw new StaleCommit()
  }
  const { turns: heard = [], forgottenTurns = [] } = commit
  if (heard.length > 0 && findKnown(connection, userId, heard).some((row) => row !== null)) throw new StaleCommit()
  yield* projectChanges(connection, userId, changes)
  const event = journal.append(userId, { ...commit, key }, written, [...turns, ...sealForgotten(forgottenTurns)])
  yield* insertTurns(connection, { userId, event: event.number }, turns)
  if (!(yield* eraseTurns(connection, { userId, event: event.number }, forgottenTurns))) throw new StaleCommit()
  noteForgetting(connection, userId, commit, event.number)
  return { outcome: 'committed', event }
}

/** Stores the fingerprints of forgotten texts, and records that the file must be rewritten. */
export function noteForgetting(connection: Connection, userId: number, commit: Commit, event: number): void {
  const insert = connection.statement(
    'INSERT OR REPLACE INTO forgotten_texts (user_id, fingerprint, event) VALUES (?, ?, ?)',
  )
  for (const fingerprint of commit.fingerprints ?? []) insert.run(userId, fingerprint, event)
  if (isForgetting(commit)) noteRemains(connection, event)
}

/** Updates the derived tables from the old beliefs to the new ones. Yields after each part. */
export function* projectChanges(
  connection: Connection,
  userId: number,
  changes: readonly CheckedChange[],
): Generator<void, void> {
  let projection = openProjection(connection, userId)
  const before = changes.map(({ beliefId, expectedVersion }) =>
    expectedVersion === 0 ? null : storedProjection(connection, userId, beliefId),
  )
  for (const held of before) if (held !== null) projection.leaveScopes(held)
  for (const [index, { after }] of changes.entries()) {
    if (index > 0 && index % changesAtOnce === 0) {
      projection.finish()
      yield
      projection = openProjection(connection, userId)
    }
    const held = before[index] ?? null
    if (after === null) {
      if (held !== null) projection.remove(held)
      continue
    }
    const derived = deriveBelief(after)
    if (!projection.enterScopes(derived)) throw new StaleCommit()
    if (held === null) projection.insert(derived)
    else projection.update(held, derived)
  }
  projection.finish()
  yield
}

function storedProjection(connection: Connection, userId: number, beliefId: string): Projected | null {
  const row = connection.value<number>('SELECT row FROM beliefs WHERE user_id = ? AND id = ?', [userId, beliefId])
  // A belief that was forgotten before its text arrived has no row.
  const belief = row === undefined ? null : storedBelief(connection, userId, beliefId)
  return row === undefined || belief === null ? null : { row, derived: deriveBelief(belief) }
}

function storedBelief(connection: Connection, userId: number, beliefId: string): Belief | null {
  const stored = connection.get<StoredText>(newestText, [userId, beliefId])
  return stored === undefined ? null : readText(beliefId, stored)
}
