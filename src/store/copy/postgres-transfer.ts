import { randomUUID } from 'node:crypto'
import { analysisVersion } from '../belief-row.ts'
import { beforeFirst, hashEvent } from '../journal-chain.ts'
import type { ChangeRow } from '../journal-rows.ts'
import { lockOwner, type OwnerRow } from '../postgres/commit.ts'
import { Connection, type ConnectionOptions, type Run } from '../postgres/connection.ts'
import { deriveOwner } from '../postgres/derivation.ts'
import {
  eraseTexts,
  insertChanges,
  insertEvent,
  type OwnEventRow,
  selectChanges,
  selectEvents,
} from '../postgres/journal.ts'
import { migrate } from '../postgres/migrations/migrate.ts'
import {
  type JournalRecord,
  type JournalTransfer,
  readAccess,
  recordOf,
  replacing,
  selectTurn,
  type TurnRow,
  turnColumns,
} from './journal-transfer.ts'

/** An analysis that no program has, so that the next program to open the user's memory derives it again. */
const underWay = 0

export async function openPostgresTransfer(options: ConnectionOptions): Promise<JournalTransfer> {
  const connection = new Connection(options)
  const analysis = await migrate(connection, analysisVersion).catch(async (error: unknown) => {
    await connection.close()
    throw error
  })
  return {
    users: () =>
      connection.read(async (run) =>
        (await run<{ owner: string }>('SELECT owner FROM credence.owners WHERE head > 0 ORDER BY owner')).map(
          ({ owner }) => owner,
        ),
      ),
    count: (user) =>
      connection.read(async (run) => {
        const [row] = await run<{ head: number }>('SELECT head FROM credence.owners WHERE owner = $1', [user])
        return row?.head ?? 0
      }),
    read: (user, after, limit) => connection.read((run) => readRecords(run, user, after, limit)),
    append: (user, records) => connection.write((run) => append(run, user, records)),
    places: (user) =>
      connection.read(async (run) => {
        const rows = await run<{ id: string; place: number }>(
          'SELECT id, place FROM credence.turns WHERE owner = $1 AND place IS NOT NULL',
          [user],
        )
        return new Map(rows.map(({ id, place }) => [id, place]))
      }),
    finish: (user, places) =>
      connection.write(async (run) => {
        await run('SELECT 1 FROM credence.owners WHERE owner = $1 FOR UPDATE', [user])
        await run(
          `UPDATE credence.turns SET place = rows.place FROM unnest($2::text[], $3::integer[]) AS rows (id, place)
           WHERE turns.owner = $1 AND turns.id = rows.id AND turns.place <> rows.place`,
          [user, [...places.keys()], [...places.values()]],
        )
        await deriveOwner(run, user, analysis)
        await lockOwner(run, user, analysis)
        await run('COMMIT')
      }),
    // The tables of each user were derived by `finish`.
    complete: async () => {},
    access: () => connection.read((run) => readAccess((sql) => run(sql))),
    replaceAccess: (rows) =>
      connection.write(async (run) => {
        for (const [sql, values] of replacing(rows)) await run(sql, values)
        await run('COMMIT')
      }),
    close: () => connection.close(),
  }
}

async function readRecords(run: Run, user: string, after: number, limit: number): Promise<readonly JournalRecord[]> {
  const events = await run<OwnEventRow>(`${selectEvents} AND number > $2 ORDER BY number LIMIT $3`, [
    user,
    after,
    limit,
  ])
  const numbers = events.map(({ number }) => number)
  const [changes, turns, erased] = await Promise.all([
    run<ChangeRow>(`${selectChanges} AND event = ANY($2::bigint[]) ORDER BY event, ordinal`, [user, numbers]),
    run<TurnRow & { readonly event: number }>(
      `SELECT event, ${selectTurn({ id: 'turns.id', session: 'sessions.name' })}
       FROM credence.turns LEFT JOIN credence.sessions ON sessions.owner = $1 AND sessions.id = turns.session
       WHERE turns.owner = $1 AND event = ANY($2::bigint[]) ORDER BY event, ordinal`,
      [user, numbers],
    ),
    run<{ event: number; id: string }>(
      `SELECT erased_by AS event, id FROM credence.turns WHERE owner = $1 AND erased_by = ANY($2::bigint[])
       ORDER BY erased_by, erased_order`,
      [user, numbers],
    ),
  ])
  return events.map((event) => {
    const isOwn = (row: { readonly event: number }): boolean => row.event === event.number
    return recordOf(event, {
      requestSalt: event.request_salt,
      changes: changes.filter(isOwn),
      turns: turns.filter(isOwn),
      erasedTurns: erased.filter(isOwn).map(({ id }) => id),
    })
  })
}

const insertTurn = `INSERT INTO credence.turns (owner, row, event, ordinal, ${turnColumns.join(', ')})
  VALUES ($1, $2, $3, $4, ${turnColumns.map((_, at) => `$${at + 5}`).join(', ')})`

async function append(run: Run, user: string, records: readonly JournalRecord[]): Promise<void> {
  await run(
    `INSERT INTO credence.owners (owner, head, hash, next_row, next_session, analysis) VALUES ($1, 0, $2, 0, 0, ${underWay})
     ON CONFLICT DO NOTHING`,
    [user, beforeFirst],
  )
  const [owner] = await run<OwnerRow>(
    'SELECT head, hash, next_row, next_session, analysis FROM credence.owners WHERE owner = $1 FOR UPDATE',
    [user],
  )
  let { head, hash: previous, next_row: nextRow, next_session: nextSession } = owner as OwnerRow
  const sessions = new Map<string, number>()
  for (const record of records) {
    // A retry after a lost connection, or another copy: these are there.
    if (record.number <= head) continue
    const { number, kind, actor, origin, at, key, undoes, changesHash } = record
    const fields = { number, user, kind, actor, origin, at, key, undoes }
    const hash = Buffer.from(hashEvent(fields, changesHash, previous))
    const erased = record.changes.filter(({ outcome }) => outcome === 'erased').map(({ beliefId }) => beliefId)
    if (erased.length > 0) await eraseTexts(run, user, erased)
    await insertEvent(run, {
      ...{ ...fields, changesHash, previousHash: previous, hash, attempt: randomUUID() },
      beliefs: record.changes.length,
      turns: record.turns.length + record.erasedTurns.length,
    })
    await insertChanges(run, { user, number }, record.changes)
    for (const [ordinal, turn] of record.turns.entries()) {
      let session = turn.session === null ? null : sessions.get(turn.session)
      if (turn.session !== null && session === undefined) {
        const find = 'SELECT id FROM credence.sessions WHERE owner = $1 AND name = $2'
        const [known] = await run<{ id: number }>(find, [user, turn.session])
        session = known?.id ?? nextSession++
        if (known === undefined)
          await run('INSERT INTO credence.sessions VALUES ($1, $2, $3)', [user, session, turn.session])
        sessions.set(turn.session, session)
      }
      const row = { ...turn, session }
      await run(insertTurn, [user, nextRow, number, ordinal, ...turnColumns.map((column) => row[column])])
      nextRow += turn.passages
    }
    if (record.erasedTurns.length > 0)
      await run(
        `UPDATE credence.turns SET erased_by = $2, erased_order = doomed.at - 1, salt = NULL, session = NULL, place = NULL,
           given_index = NULL, role = NULL, speaker = NULL, at = NULL, utc_offset = NULL, scope = NULL, host = NULL, origin = NULL, key = NULL,
           asks = NULL, lengths = NULL, doubtful = NULL, text = NULL
         FROM unnest($3::text[]) WITH ORDINALITY AS doomed (id, at) WHERE turns.owner = $1 AND turns.id = doomed.id`,
        [user, number, record.erasedTurns],
      )
    // What an event forgot may have been copied by an earlier run, together with the salts of its requests.
    if (erased.length + record.erasedTurns.length > 0)
      await run(
        `UPDATE credence.events SET request_salt = NULL WHERE owner = $1 AND request_salt IS NOT NULL AND number < $2 AND number IN (
           SELECT event FROM credence.changes WHERE owner = $1 AND belief = ANY($3::text[])
           UNION ALL SELECT event FROM credence.turns WHERE owner = $1 AND id = ANY($4::text[]))`,
        [user, number, erased, record.erasedTurns],
      )
    head = number
    previous = hash
  }
  await run(
    `UPDATE credence.owners SET head = $2, hash = $3, next_row = $4, next_session = $5, analysis = ${underWay} WHERE owner = $1`,
    [user, head, previous, nextRow, nextSession],
  )
  await run('COMMIT')
}
