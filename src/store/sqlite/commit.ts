import type { CommitResult } from '../../beliefs/belief-store.ts'
import type { Commit } from '../../beliefs/journal.ts'
import { type CheckedChange, checkChanges, settledBefore } from '../checked-commit.ts'
import { forgotten, sealChanges, type WrittenChange } from '../journal-chain.ts'
import { deriveBelief, readBody, type StoredBody } from './belief-row.ts'
import type { Connection } from './connection.ts'
import type { Journal, Users } from './journal.ts'
import { type Projected, Projection } from './projections.ts'
import { noteRemains } from './scrub.ts'
import { eraseTurns, findKnown, insertTurns, prepareTurns } from './turn-writing.ts'

export type Committing = {
  readonly connection: Connection
  readonly users: Users
  readonly journal: Journal
  readonly random: (bytes: number) => Uint8Array
}

/** Thrown inside the transaction to roll it back. */
class StaleCommit extends Error {}

/** Appends one event and brings every derived table up to date. Durable when it returns. */
export function commitChanges(committing: Committing, commit: Commit): CommitResult {
  // Hashes and index entries are computed before the lock is taken, so that other processes wait less.
  const prepared = prepare(committing, commit)
  try {
    return committing.connection.write(() => commitPrepared(committing, commit, prepared))
  } catch (error) {
    if (error instanceof StaleCommit) return { outcome: 'stale' }
    throw error
  }
}

/** The same inside a transaction of the caller, who has read in it what the commit changes. */
export const commitWithin = (committing: Committing, commit: Commit): CommitResult =>
  commitPrepared(committing, commit, prepare(committing, commit))

function prepare({ random }: Committing, commit: Commit) {
  const changes = checkChanges(commit)
  return { changes, written: sealChanges(changes, random), turns: prepareTurns(commit.turns ?? [], random) }
}

function commitPrepared(
  { connection, users, journal }: Committing,
  commit: Commit,
  { changes, written, turns }: ReturnType<typeof prepare>,
): CommitResult {
  const userId = users.findOrAdd(commit.user)
  const settled = settledBefore(commit, {
    eventByKey: (key) => journal.eventByKey(userId, key),
    event: (number) => journal.event(userId, number),
  })
  if (settled !== null) return settled
  for (const { beliefId, expectedVersion } of changes) {
    if (journal.versionOf(userId, beliefId) !== expectedVersion) throw new StaleCommit()
  }
  const { turns: heard = [], forgottenTurns = [] } = commit
  if (heard.length > 0 && findKnown(connection, userId, heard).some((row) => row !== null)) throw new StaleCommit()
  project(connection, userId, changes, written)
  const event = journal.append(userId, commit, written, [...turns, ...forgotten(forgottenTurns)])
  insertTurns(connection, { userId, event: event.number }, turns)
  if (!eraseTurns(connection, { userId, event: event.number }, forgottenTurns)) throw new StaleCommit()
  if (isForgetting(commit)) noteRemains(connection, event.number)
  return { outcome: 'committed', event }
}

/** Whether a commit removes text, which must then be scrubbed from the file. */
export const isForgetting = ({ changes, forgottenTurns = [] }: Commit): boolean =>
  forgottenTurns.length > 0 || changes.some(({ outcome }) => outcome === 'erased')

function project(
  connection: Connection,
  userId: number,
  changes: readonly CheckedChange[],
  written: readonly WrittenChange[],
): void {
  const projection = new Projection(connection, userId)
  const before = changes.map(({ beliefId, expectedVersion }) =>
    expectedVersion === 0 ? null : storedProjection(connection, userId, beliefId),
  )
  for (const held of before) if (held !== null) projection.leaveScopes(held)
  for (const [index, { after }] of changes.entries()) {
    const held = before[index] ?? null
    const body = written[index]?.body ?? null
    if (after === null || body === null) {
      if (held !== null) projection.remove(held)
      continue
    }
    const derived = deriveBelief(after)
    if (!projection.enterScopes(derived)) throw new StaleCommit()
    if (held === null) projection.insert(derived, body)
    else projection.update(held, derived, body)
  }
  projection.finish()
}

function storedProjection(connection: Connection, userId: number, beliefId: string): Projected | null {
  const stored = connection.get<StoredBody & { row: number }>(
    'SELECT row, id, crc, body FROM beliefs WHERE user_id = ? AND id = ?',
    [userId, beliefId],
  )
  return stored === undefined ? null : { row: stored.row, derived: deriveBelief(readBody(stored)) }
}
