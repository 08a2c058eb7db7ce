import { type EventStamp, isForgetting, type Seen } from '../../beliefs/journal.ts'
import type { BeliefHead, KnownEvents, SyncEvent, SyncStore } from '../../beliefs/sync-store.ts'
import { runToEnd } from '../../next-turn.ts'
import { actorOf, parseBody } from '../belief-row.ts'
import { type JournalTurnRow, newTurnOf, selectTurn } from '../journal-record.ts'
import type { ChangeRow, EventRow } from '../journal-rows.ts'
import { advanceHead } from './care/journal-head.ts'
import { scrubSoon } from './care/scrub.ts'
import { type Committing, noteForgetting, prepareCommit, projectChanges } from './commit.ts'
import { openJournal, selectChanges, selectEvents } from './journal.ts'
import { insertTurns, type PreparedTurn } from './turns/turn-writing.ts'

type StampRow = Omit<EventStamp, 'seen'> & { readonly event: number; readonly seen: string }

const stampColumns = 'sync_events.event, device, sync_events.number, sync_events.hash, time, seen'
const stampOf = ({ device, number, hash, time, seen }: StampRow): EventStamp => ({
  device,
  number,
  hash,
  time,
  seen: JSON.parse(seen) as Seen,
})

/** An event's hash as used in stamps: the first 8 bytes, in hex. */
const shortHash = (hash: Uint8Array): string => Buffer.from(hash.subarray(0, 8)).toString('hex')

const microseconds = (at: string): number => {
  const time = Date.parse(at)
  return Number.isNaN(time) ? 0 : time * 1_000
}
/** Min microseconds between two events of one device, so that the events with which a sync settles conflicts fit in between. */
const tick = 1_000

export function openSyncStore(committing: Committing): SyncStore {
  const { connection, users } = committing
  const journal = openJournal(connection)
  /** Reads on one state of the store. The user is null if unknown. */
  const reading = async <Result>(user: string, read: (userId: number | null) => Result): Promise<Result> =>
    connection.read(() => read(users.find(user)))

  const insertStamp = (userId: number, event: number, { device, number, hash, time, seen }: EventStamp): void => {
    connection.run(
      'INSERT INTO sync_events (event, user_id, device, number, hash, time, seen) VALUES (?, ?, ?, ?, ?, ?, ?)',
      [event, userId, device, number, hash, time, JSON.stringify(seen)],
    )
  }

  /** Jumps from device to device with the index, instead of reading all events. */
  function knownTo(userId: number | null): KnownEvents {
    const known: Record<string, { number: number; hash: string }> = {}
    const next = 'SELECT min(device) FROM sync_events WHERE user_id = ? AND device > ?'
    const newest = `SELECT number, hash FROM sync_events WHERE user_id = ? AND device = ? ORDER BY number DESC LIMIT 1`
    for (let device: string | null = ''; ; ) {
      device = connection.value<string | null>(next, [userId, device]) ?? null
      if (device === null) return known
      known[device] = connection.get<{ number: number; hash: string }>(newest, [userId, device]) as never
    }
  }

  function eventOf(user: string, row: StampRow): SyncEvent {
    const { event: local } = row
    const event = connection.get<EventRow>(`${selectEvents} WHERE number = ?`, [local]) as EventRow
    const { kind, origin, at } = event
    const changes = connection
      .all<ChangeRow>(`${selectChanges} WHERE event = ? ORDER BY ordinal`, [local])
      .flatMap(({ belief: beliefId, outcome, body }): SyncEvent['changes'][number][] => {
        if (outcome !== 'present') return [{ beliefId, outcome, after: null }]
        return body === null ? [] : [{ beliefId, outcome, after: parseBody(body) }]
      })
    const turns = connection.all<JournalTurnRow>(
      `SELECT ${selectTurn({ id: 'turns.id', session: 'sessions.name', scope: 'turn_scopes.name' })}
       FROM turns JOIN sessions ON sessions.id = turns.session JOIN turn_scopes ON turn_scopes.id = turns.scope
       JOIN turn_texts ON turn_texts.row = turns.row WHERE event = ? ORDER BY ordinal`,
      [local],
    )
    const undoes = connection.get<{ device: string; number: number }>(
      'SELECT device, number FROM sync_events WHERE event = ?',
      [event.undoes],
    )
    const isForget = kind === 'forget'
    return {
      stamp: stampOf(row),
      kind,
      actor: actorOf(event.actor),
      origin,
      at,
      undoes: undoes === undefined ? null : { ...undoes },
      changes,
      turns: turns.map((turn) => newTurnOf(user, turn)),
      forgottenTurns: isForget ? connection.column<string>('SELECT id FROM turns WHERE erased_by = ?', [local]) : [],
      fingerprints: isForget
        ? connection.column<string>('SELECT fingerprint FROM forgotten_texts WHERE event = ?', [local])
        : [],
    }
  }

  return {
    known: (user) => reading(user, knownTo),
    hasEvent: async (number, hash) =>
      connection.read(() => {
        const stored = connection.value<Uint8Array>('SELECT hash FROM events WHERE number = ?', [number])
        return stored !== undefined && shortHash(stored) === hash
      }),
    stampEvents: async (user, device) =>
      connection.writeInTurn(() => {
        const userId = users.findOrAdd(user)
        const last = connection.get<{ event: number | null; time: number | null }>(
          `SELECT (SELECT max(event) FROM sync_events WHERE user_id = ?) AS event,
             (SELECT max(time) FROM sync_events WHERE user_id = ?) AS time`,
          [userId, userId],
        )
        const { [device]: _own, ...others } = knownTo(userId)
        const seen = Object.fromEntries(Object.entries(others).map(([name, { number }]) => [name, number]))
        let latest = last?.time ?? 0
        const rows = connection.all<{ number: number; at: string; hash: Uint8Array }>(
          'SELECT number, at, hash FROM events WHERE user_id = ? AND number > ? ORDER BY number',
          [userId, last?.event ?? 0],
        )
        for (const { number, at, hash } of rows) {
          latest = Math.max(microseconds(at), latest + tick)
          insertStamp(userId, number, { device, number, hash: shortHash(hash), time: latest, seen })
        }
        return journal.head().number
      }),
    eventsAfter: (user, seen, { limit, forgetting = false, device: only }) =>
      reading(user, (userId) => {
        const rows = Object.keys(knownTo(userId)).flatMap((device) =>
          only !== undefined && device !== only
            ? []
            : connection.all<StampRow>(
                `SELECT ${stampColumns} FROM sync_events ${forgetting ? "JOIN events ON events.number = event AND kind = 'forget'" : ''}
                 WHERE sync_events.user_id = ? AND device = ? AND sync_events.number > ? ORDER BY sync_events.number LIMIT ?`,
                [userId, device, seen[device] ?? 0, limit],
              ),
        )
        return rows
          .sort((a, b) => a.event - b.event)
          .slice(0, limit)
          .map((row) => eventOf(user, row))
      }),
    countAfter: (user, seen) =>
      reading(user, (userId) => {
        const count = 'SELECT count(*) FROM sync_events WHERE user_id = ? AND device = ? AND number > ?'
        return Object.keys(knownTo(userId)).reduce(
          (sum, device) => sum + (connection.value<number>(count, [userId, device, seen[device] ?? 0]) ?? 0),
          0,
        )
      }),
    findEvent: (user, { device, number }) =>
      reading(user, (userId) => {
        const find = 'SELECT event FROM sync_events WHERE user_id = ? AND device = ? AND number = ?'
        const local = connection.value<number>(find, [userId, device, number])
        const event = userId === null || local === undefined ? null : journal.event(userId, local)
        return event === null ? null : { number: event.number, isUndone: event.undoneBy !== null }
      }),
    heads: (user, beliefIds) =>
      reading(user, (userId) => {
        const newest = `SELECT version, outcome, body, changes.event, device, sync_events.number, sync_events.hash, time, seen,
            events.actor = 'tool' AND events.origin = 'sync' AS settling
          FROM changes LEFT JOIN sync_events ON sync_events.event = changes.event JOIN events ON events.number = changes.event
          WHERE changes.user_id = ? AND belief_id = ? ORDER BY changes.event DESC LIMIT 1`
        const heads = new Map<string, BeliefHead>()
        for (const id of beliefIds) {
          const row = connection.get<StampRow & Omit<ChangeRow, 'event'> & { settling: number }>(newest, [userId, id])
          if (row === undefined) continue
          const { version, outcome, body } = row
          const belief = outcome === 'present' && body !== null ? parseBody(body) : null
          heads.set(id, { version, outcome, belief, stamp: stampOf(row), isSettling: row.settling === 1 })
        }
        return heads
      }),
    turnIds: (user, ids) =>
      reading(user, (userId) => {
        const find = 'SELECT id FROM turns WHERE user_id = ? AND id = ?'
        return new Set(ids.filter((id) => connection.value(find, [userId, id]) !== undefined))
      }),
    hasForgottenTexts: async (user) =>
      connection.read(
        () =>
          connection.value('SELECT 1 FROM forgotten_texts WHERE user_id = ? LIMIT 1', [users.find(user)]) !== undefined,
      ),
    forgottenTexts: (user, fingerprints) =>
      reading(user, (userId) => {
        const found = new Map<string, EventStamp | null>()
        for (const fingerprint of fingerprints) {
          const row = connection.get<StampRow & { device: string | null }>(
            `SELECT forgotten_texts.event, device, number, hash, time, seen FROM forgotten_texts
             LEFT JOIN sync_events ON sync_events.event = forgotten_texts.event
             WHERE forgotten_texts.user_id = ? AND fingerprint = ?`,
            [userId, fingerprint],
          )
          if (row !== undefined) found.set(fingerprint, row.device === null ? null : stampOf(row))
        }
        return found
      }),
    allForgottenTexts: async () =>
      connection.read(() => {
        const rows = connection.all<{ user: string; fingerprint: string }>(
          'SELECT users.name AS user, fingerprint FROM forgotten_texts JOIN users ON users.id = user_id',
        )
        const byUser = Map.groupBy(rows, ({ user }) => user)
        return new Map([...byUser].map(([user, own]) => [user, own.map(({ fingerprint }) => fingerprint)]))
      }),
    reinstate: async (user, event) =>
      connection.writeInTurn(() => {
        const found = connection.run('DELETE FROM forgotten_texts WHERE user_id = ? AND event = ?', [
          users.find(user),
          event,
        ])
        connection.run('UPDATE turns SET message_id = NULL WHERE erased_by = ?', [event])
        return Number(found.changes)
      }),
    commitAll: async (user, commits, head) => {
      const prepared = commits.map((commit) => ({ commit, ...prepareCommit(committing, commit) }))
      const newest = await connection.writeInTurn(() => {
        if (journal.head().number !== head) return null
        const userId = users.findOrAdd(user)
        const known = connection.statement('SELECT 1 FROM events WHERE user_id = ? AND key = ?')
        const heard: (PreparedTurn & { ordinal: number; event: number })[] = []
        for (const { commit, changes, written, turns, key } of prepared) {
          if (key !== null && known.get(userId, key.value) !== undefined) continue
          runToEnd(projectChanges(connection, userId, changes))
          const event = journal.append(userId, { ...commit, key }, written, turns)
          const { stamp } = commit
          if (stamp !== undefined) {
            const { number, hash } = event
            insertStamp(userId, number, {
              ...stamp,
              number: stamp.number ?? number,
              hash: stamp.hash ?? hash.slice(0, 16),
            })
          }
          heard.push(...turns.map((turn, ordinal) => ({ ...turn, ordinal, event: event.number })))
          noteForgetting(connection, userId, commit, event.number)
        }
        // Inserts all turns together, so that the index is written once.
        runToEnd(insertTurns(connection, { userId, event: 0 }, heard))
        return journal.head()
      })
      if (newest === null) return 'stale'
      if (connection.isOnDisk) {
        advanceHead(connection, { number: newest.number, hash: Buffer.from(newest.hash).toString('hex') })
        if (commits.some(isForgetting)) await scrubSoon(connection)
      }
      return 'committed'
    },
  }
}
