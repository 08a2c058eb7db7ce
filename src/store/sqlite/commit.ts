import type { CommitResult } from '../../beliefs/belief-store.ts'
import type { Commit } from '../../beliefs/journal.ts'
import { type CheckedChange, checkChanges, keyConflict, nothingToUndo } from '../checked-commit.ts'
import { readBody } from './belief-row.ts'
import type { Connection } from './connection.ts'
import { deriveBelief } from './derived-belief.ts'
import { type Journal, sealChanges, type WrittenChange } from './journal.ts'
import { type Projected, Projection, projected } from './projections.ts'
import { noteRemains } from './scrub.ts'
import { eraseTurns, findKnown, insertTurns, type PreparedTurn, prepareTurns } from './turn-writing.ts'
import type { Users } from './users.ts'

export type Committing = {
  readonly connection: Connection
  readonly users: Users
  readonly journal: Journal
  readonly random: (bytes: number) => Uint8Array
}

/** Thrown inside the transaction to undo what it has written so far. */
class StaleCommit extends Error {}

/** Appends one event and brings every derived table up to date. Durable when it returns. */
export function commitChanges(committing: Committing, commit: Commit): CommitResult {
  const { connection, random } = committing
  const changes = checkChanges(commit)
  // Derived before the lock is taken, so that other processes wait no longer than they must.
  const written = sealChanges(changes, random)
  const turns = prepareTurns(commit.turns ?? [], random)
  try {
    return connection.write(() => commitSealed(committing, commit, { changes, written, turns }))
  } catch (error) {
    if (error instanceof StaleCommit) return { outcome: 'stale' }
    throw error
  }
}

type Prepared = {
  readonly changes: readonly CheckedChange[]
  readonly written: readonly WrittenChange[]
  readonly turns: readonly PreparedTurn[]
}

/** The same inside a transaction of the caller, who has read what it changes in it. */
export function commitWithin(committing: Committing, commit: Commit): CommitResult {
  const changes = checkChanges(commit)
  const written = sealChanges(changes, committing.random)
  return commitSealed(committing, commit, {
    changes,
    written,
    turns: prepareTurns(commit.turns ?? [], committing.random),
  })
}

function commitSealed(
  { connection, users, journal }: Committing,
  commit: Commit,
  { changes, written, turns }: Prepared,
): CommitResult {
  const userId = users.findOrAdd(commit.user)
  const earlier = commit.key === null ? null : journal.eventByKey(userId, commit.key.value)
  if (commit.key !== null && earlier !== null) {
    if (earlier.key?.fingerprint !== commit.key.fingerprint) throw keyConflict(commit.key.value)
    return { outcome: 'replayed', event: earlier }
  }
  requireUndoable(journal, userId, commit)
  for (const { beliefId, expectedVersion } of changes) {
    if (journal.versionOf(userId, beliefId) !== expectedVersion) throw new StaleCommit()
  }
  const { turns: heard = [], forgottenTurns = [] } = commit
  if (heard.length > 0 && findKnown(connection, userId, heard).some((row) => row !== null)) throw new StaleCommit()
  project(connection, userId, changes, written)
  const event = journal.append(userId, commit, written, [...turns, ...forgottenTurns.map((id) => ({ id, hash: null }))])
  insertTurns(connection, { userId, event: event.number }, turns)
  if (!eraseTurns(connection, { userId, event: event.number }, forgottenTurns)) throw new StaleCommit()
  const isForgetting = forgottenTurns.length > 0 || changes.some(({ outcome }) => outcome === 'erased')
  if (isForgetting) noteRemains(connection, event.number)
  return { outcome: 'committed', event }
}

function requireUndoable(journal: Journal, userId: number, { user, undoes }: Commit): void {
  if (undoes === null) return
  const undone = journal.event(userId, undoes)
  if (undone === null) throw nothingToUndo(user, undoes)
  if (undone.undoneBy !== null) throw new StaleCommit()
}

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
  const stored = connection
    .statement<[number, string], { row: number; id: string; crc: number; body: string }>(
      'SELECT row, id, crc, body FROM beliefs WHERE user_id = ? AND id = ?',
    )
    .get(userId, beliefId)
  return stored === undefined ? null : projected(stored.row, readBody(stored))
}
