import { type ConnectionOptions, PostgresConnection } from '../postgres/connection.ts'
import { appendRecord, lockOwner, movePlaces, readHead, readPlaces, readRecords } from '../postgres/journal.ts'
import { migrate } from '../postgres/migrations/migrate.ts'
import { openSqliteStore, type SqliteStoreOptions } from '../sqlite/sqlite-store.ts'
import { type JournalTransfer, readAccess, replaceStatements } from './journal-transfer.ts'

/** Opens the journal of a SQLite store. Reading the journal changes nothing. */
export async function openSqliteTransfer(options: SqliteStoreOptions): Promise<JournalTransfer> {
  const store = openSqliteStore(options)
  const records = await store.records()
  return {
    users: async () => records.users(),
    count: async (user) => records.count(user),
    read: async (user, after, limit) => records.read(user, after, limit),
    append: async (user, appended) => records.append(user, appended),
    places: async (user) => records.places(user),
    setPlaces: async (user, places) => records.setPlaces(user, places),
    access: () => readAccess(async (sql) => records.readAccess(toSqlite(sql))),
    replaceAccess: async (rows) =>
      records.writeAccess([...replaceStatements(rows)].map(([sql, values]) => [toSqlite(sql), values] as const)),
    close: () => store.close(),
  }
}

/** Translates a PostgreSQL statement to SQLite, where tables belong to no schema and parameters have no numbers. */
const toSqlite = (sql: string): string => sql.replaceAll('credence.', '').replaceAll(/\$\d+/gu, '?')

export async function openPostgresTransfer(options: ConnectionOptions): Promise<JournalTransfer> {
  const connection = new PostgresConnection(options)
  await migrate(connection).catch(async (error: unknown) => {
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
    count: (user) => connection.read(async (run) => (await readHead(run, user)).number),
    read: (user, after, limit) => connection.readSnapshot((run) => readRecords(run, user, after, limit)),
    append: (user, records) =>
      connection.write(async (run) => {
        let head = await lockOwner(run, user)
        // After a lost connection or an earlier copy, some of the events already exist.
        for (const record of records)
          if (record.number > head.number) head = await appendRecord(run, user, head, record)
        await run('COMMIT')
      }),
    places: (user) => connection.read((run) => readPlaces(run, user)),
    setPlaces: (user, places) =>
      connection.write(async (run) => {
        await lockOwner(run, user)
        await movePlaces(run, user, places)
        await run('COMMIT')
      }),
    access: () => connection.read((run) => readAccess((sql) => run(sql))),
    replaceAccess: (rows) =>
      connection.write(async (run) => {
        for (const [sql, values] of replaceStatements(rows)) await run(sql, values)
        await run('COMMIT')
      }),
    close: () => connection.close(),
  }
}
