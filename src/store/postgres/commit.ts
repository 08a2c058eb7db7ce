import { randomUUID } from 'node:crypto'
import type { Belief } from '../../beliefs/belief.ts'
import type { CommitResult } from '../../beliefs/belief-store.ts'
import type { Commit, JournalEvent } from '../../beliefs/journal.ts'
import { conflict } from '../../errors.ts'
import { type CheckedChange, checkChanges, settledBefore } from '../checked-commit.ts'
import { type DerivedBelief, deriveBelief } from '../derived-belief.ts'
import {
  beforeFirst,
  forgotten,
  hashChanges,
  hashEvent,
  type SealedTurn,
  sealChanges,
  sealKey,
  toHex,
} from '../journal-chain.ts'
import { prepareTurns } from '../prepared-turns.ts'
import { storedNameKey } from './belief-lookups.ts'
import { BeliefRows } from './belief-rows.ts'
import type { Connection, Run } from './connection.ts'
import { deriveOwner } from './derivation.ts'
import { eraseTexts, eventByKey, insertChanges, insertEvent, readEvent } from './journal.ts'
import { readBody, type StoredBody } from './stored-body.ts'
import {
  eraseTurns,
  findKnown,
  indexWithout,
  insertTurns,
  readDoomed,
  readSessions,
  type TurnCounters,
} from './turn-writes.ts'

export type OwnerRow = TurnCounters & { readonly head: number; readonly hash: Buffer; readonly analysis: number }

export type Committing = {
  readonly connection: Connection
  /** The number of this program's text analysis. */
  readonly analysis: number
  readonly random: (bytes: number) => Uint8Array
}

const prepare = (commit: Commit, random: Committing['random']) => {
  const changes = checkChanges(commit)
  return {
    changes,
    written: sealChanges(changes, random),
    derived: changes.map(({ after }) => (after === null ? null : deriveBelief(after))),
    turns: prepareTurns(commit.turns ?? [], random),
    key: sealKey(commit.key, random),
    attempt: randomUUID(),
  }
}

type Prepared = ReturnType<typeof prepare>

/** Appends one event and brings every derived table up to date, in one transaction. Durable when it returns. */
export async function commitChanges(committing: Committing, commit: Commit): Promise<CommitResult> {
  const prepared = prepare(commit, committing.random)
  return committing.connection.write(async (run, attempt) => {
    const owner = await lockOwner(run, commit.user, committing.analysis)
    if (attempt > 0) {
      // The connection may have died after an earlier attempt had committed.
      const earlier = await readEvent(run, commit.user, 'attempt', prepared.attempt)
      if (earlier !== null) return ended(run, { outcome: 'committed', event: { ...earlier, undoneBy: null } })
    }
    return commitPrepared(run, owner, commit, prepared)
  })
}

async function ended(run: Run, result: CommitResult): Promise<CommitResult> {
  await run('ROLLBACK')
  return result
}

/** Takes the lock that orders the changes of an owner, and makes the owner where it is new. */
export async function lockOwner(run: Run, user: string, analysis: number): Promise<OwnerRow> {
  const made = run(
    `INSERT INTO credence.owners (owner, head, hash, next_row, next_session, analysis) VALUES ($1, 0, $2, 0, 0, $3)
     ON CONFLICT DO NOTHING`,
    [user, beforeFirst, analysis],
  )
  const [[owner]] = await Promise.all([
    run<OwnerRow>(
      'SELECT head, hash, next_row, next_session, analysis FROM credence.owners WHERE owner = $1 FOR UPDATE',
      [user],
    ),
    made,
  ])
  if (owner === undefined) throw new Error('The row of an owner is missing although it was just made.')
  if (owner.analysis < analysis) await deriveOwner(run, user, analysis)
  if (owner.analysis > analysis) throw newerProgram(user)
  return owner
}

export const newerProgram = (user: string) =>
  conflict(
    `The index of "${user}" was made by a newer version of Credence.`,
    'Nothing is lost. Update this program; several versions can run side by side only until the newer one has been used.',
  )

async function commitPrepared(run: Run, owner: OwnerRow, commit: Commit, prepared: Prepared): Promise<CommitResult> {
  const { user, turns: heard = [], forgottenTurns = [] } = commit
  const { changes } = prepared
  const [keyed, undone, versions, stored, holders, known, sessions, doomed] = await Promise.all([
    commit.key === null ? null : settle(eventByKey(run, user, commit.key)),
    commit.undoes === null ? null : readEvent(run, user, 'number', commit.undoes),
    readVersions(run, user, changes),
    readStored(run, user, changes),
    readHolders(run, user, prepared.derived),
    findKnown(run, user, heard),
    readSessions(run, user, heard),
    readDoomed(run, user, forgottenTurns),
  ])
  const settled = settledBefore(commit, {
    eventByKey: () => {
      if (keyed?.error !== undefined) throw keyed.error
      return keyed?.event ?? null
    },
    event: () => undone,
  })
  if (settled !== null) return ended(run, settled)
  const isStale =
    changes.some(({ beliefId, expectedVersion }) => (versions.get(beliefId) ?? 0) !== expectedVersion) ||
    known.some((row) => row !== null) ||
    doomed === null ||
    !canHold(prepared.derived, changes, holders)
  if (isStale) return ended(run, { outcome: 'stale' })

  const index = indexWithout(doomed)
  const left = await index.readGone(run, user)
  const rows = new BeliefRows()
  for (const [at, { beliefId }] of changes.entries()) {
    const before = stored.get(beliefId)
    if (before !== undefined) rows.add(deriveBelief(readBody(before)), before.body, -1)
    const after = prepared.derived[at] ?? null
    if (after !== null) rows.add(after, prepared.written[at]?.body as string, 1)
  }
  const sealedTurns = [...prepared.turns, ...forgotten(forgottenTurns)]
  const { event, sent } = appendEvent(run, owner, commit, prepared, sealedTurns)
  const counters = { next_row: owner.next_row, next_session: owner.next_session }
  const place = { owner: user, event: event.number, counters }
  sent.push(...rows.write(run, user), ...insertTurns(run, place, prepared.turns, sessions))
  sent.push(...eraseTurns(run, place, doomed, { index, left }))
  sent.push(
    run('UPDATE credence.owners SET head = $2, hash = $3, next_row = $4, next_session = $5 WHERE owner = $1', [
      user,
      event.number,
      Buffer.from(event.hash, 'hex'),
      counters.next_row,
      counters.next_session,
    ]),
  )
  // All of it travels in one round trip. After a statement that fails, COMMIT rolls back.
  await Promise.all([...sent, run('COMMIT')])
  return { outcome: 'committed', event }
}

/** An error is an answer here: it counts only when nothing else settles the commit first. */
const settle = (event: Promise<JournalEvent | null>) =>
  event.then(
    (found) => ({ event: found, error: undefined }),
    (error: unknown) => ({ event: null, error }),
  )

/** The version of each belief after its last change. */
async function readVersions(
  run: Run,
  user: string,
  changes: readonly CheckedChange[],
): Promise<ReadonlyMap<string, number>> {
  if (changes.length === 0) return new Map()
  const rows = await run<{ belief: string; version: number }>(
    `SELECT asked.belief, (SELECT version FROM credence.changes WHERE owner = $1 AND changes.belief = asked.belief
       ORDER BY event DESC LIMIT 1) AS version FROM unnest($2::text[]) AS asked (belief)`,
    [user, changes.map(({ beliefId }) => beliefId)],
  )
  return new Map(rows.map(({ belief, version }) => [belief, version ?? 0]))
}

async function readStored(
  run: Run,
  user: string,
  changes: readonly CheckedChange[],
): Promise<ReadonlyMap<string, StoredBody>> {
  const ids = changes.filter(({ expectedVersion }) => expectedVersion > 0).map(({ beliefId }) => beliefId)
  if (ids.length === 0) return new Map()
  const rows = await run<StoredBody>(
    'SELECT id, crc, body FROM credence.beliefs WHERE owner = $1 AND id = ANY($2::text[])',
    [user, ids],
  )
  return new Map(rows.map((row) => [row.id, row]))
}

/** The names that current beliefs would hold, by scope. */
const namesHeld = (derived: DerivedBelief | null): readonly { scope: string; name: string }[] =>
  derived?.current === true ? derived.scopes.map((scope) => ({ scope, name: storedNameKey(derived.belief.name) })) : []

/** Who holds the names now that the changed beliefs are to hold. */
async function readHolders(
  run: Run,
  user: string,
  derived: readonly (DerivedBelief | null)[],
): Promise<ReadonlyMap<string, Belief['id']>> {
  const names = derived.flatMap(namesHeld)
  if (names.length === 0) return new Map()
  const rows = await run<{ scope: string; name: string; belief: string }>(
    `SELECT asked.scope, asked.name, belief FROM unnest($2::text[], $3::text[]) AS asked (scope, name)
     JOIN credence.members ON owner = $1 AND members.scope = asked.scope AND name_key = asked.name AND current`,
    [user, names.map(({ scope }) => scope), names.map(({ name }) => name)],
  )
  return new Map(rows.map(({ scope, name, belief }) => [JSON.stringify([scope, name]), belief]))
}

/** Whether every name would still have one holder after the changes. */
function canHold(
  derived: readonly (DerivedBelief | null)[],
  changes: readonly CheckedChange[],
  holders: ReadonlyMap<string, string>,
): boolean {
  const changed = new Set(changes.map(({ beliefId }) => beliefId))
  const taken = new Set<string>()
  return derived.flatMap(namesHeld).every(({ scope, name }) => {
    const key = JSON.stringify([scope, name])
    const holder = holders.get(key)
    if (taken.has(key) || (holder !== undefined && !changed.has(holder))) return false
    taken.add(key)
    return true
  })
}

/** Sends the event and its changes, and what removes the earlier texts of erased beliefs and the salts of their requests. */
function appendEvent(
  run: Run,
  owner: OwnerRow,
  commit: Commit,
  { written, key, attempt }: Prepared,
  turns: readonly SealedTurn[],
): { readonly event: JournalEvent; readonly sent: Promise<unknown>[] } {
  const { user, kind, actor, origin, at, undoes } = commit
  const number = owner.head + 1
  const fields = { number, user, kind, actor, origin, at, key, undoes }
  const changesHash = hashChanges(written, turns)
  const hash = hashEvent(fields, changesHash, owner.hash)
  const hashes = { changesHash, previousHash: owner.hash, hash }
  const sent = [insertEvent(run, { ...fields, ...hashes, attempt, beliefs: written.length, turns: turns.length })]
  const erased = written.filter(({ outcome }) => outcome === 'erased').map(({ beliefId }) => beliefId)
  if (erased.length > 0)
    sent.push(
      run(
        `UPDATE credence.events SET request_salt = NULL WHERE owner = $1 AND request_salt IS NOT NULL AND number IN (
           SELECT event FROM credence.changes WHERE owner = $1 AND belief = ANY($2::text[]))`,
        [user, erased],
      ),
      eraseTexts(run, user, erased),
    )
  if (written.length > 0) sent.push(insertChanges(run, fields, written))
  const beliefIds = written.map(({ beliefId }) => beliefId)
  const event = { ...fields, key: key?.value ?? null, undoneBy: null, beliefIds, turnCount: turns.length }
  return { event: { ...event, hash: toHex(hash) }, sent }
}
