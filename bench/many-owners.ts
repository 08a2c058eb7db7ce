import { crc32 } from 'node:zlib'
import pg from 'pg'
import { importRecords } from '../src/memory/transfer/import.ts'
import { openPorts } from '../src/open-memory.ts'
import { generateBeliefs } from './corpus.ts'

export const ownerName = (at: number): string => `user-${String(at).padStart(6, '0')}`

type Size = { readonly users: number; readonly beliefsEach: number }

/** Fills a memory through the import use case, one user after the other. All users have beliefs with the same texts. */
export async function fillUsers(dir: string, store: string | undefined, { users, beliefsEach }: Size): Promise<void> {
  const ports = openPorts(dir, { store })
  for (let at = 0; at < users; at += 1) {
    const user = ownerName(at)
    const records = [...generateBeliefs({ count: beliefsEach, seed: 1, user })]
    const placed = records.map((record, index) => ({ place: `belief ${index}`, record }))
    await importRecords(ports, { user, author: { actor: 'person', origin: 'bench' }, trusted: true }, placed)
  }
  await ports.store.close()
}

/**
 * Tables with rows of every user, those with the most rows first. Those of full-text search are left out: recall and new beliefs do
 * not read them.
 */
const tables =
  'typos forms beliefs changes words members phrase_prefixes owners events audiences audience_scopes scopes'.split(' ')
const tablesAtOnce = 4
/** A slower machine loads a quarter of the users, and so on. */
const mostLoadMs = 600_000

/**
 * Fills a PostgreSQL store: the first user through the import use case, the others by copying its rows within the server. Every table
 * is made anew without indexes, in a transaction that writes no log, and indexed afterwards. The journals of the copies do not verify;
 * recall and new beliefs do not read them. Returns how many users there are.
 */
export async function copyOwners(dir: string, address: string, size: Size): Promise<number> {
  await fillUsers(dir, address, { ...size, users: 1 })
  const pool = new pg.Pool({ connectionString: address, max: tablesAtOnce })
  try {
    for (let users = size.users; ; users = Math.ceil(users / 4)) {
      const until = performance.now() + mostLoadMs
      const waiting = [...tables]
      const copyTables = async (): Promise<void> => {
        for (let table = waiting.shift(); table !== undefined; table = waiting.shift())
          await copyTable(pool, table, users, until)
      }
      const ended = await Promise.allSettled(Array.from({ length: tablesAtOnce }, copyTables))
      const failures = ended.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
      const isTooSlow = (error: unknown): boolean => error instanceof pg.DatabaseError && error.code === '57014'
      const bug = failures.find((error) => users <= 100 || !isTooSlow(error))
      if (bug !== undefined) throw bug
      if (failures.length > 0) continue
      await pool.query('VACUUM (ANALYZE)')
      await pool.query('CHECKPOINT')
      return users
    }
  } finally {
    await pool.end()
  }
}

/** A table that is copied again, for fewer users, begins with the rows of the first user again. */
async function copyTable(pool: pg.Pool, table: string, users: number, until: number): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    await client.query(`SET LOCAL maintenance_work_mem = '256MB'`)
    await copyRows(client, table, users, until)
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  } finally {
    client.release()
  }
}

async function copyRows(client: pg.PoolClient, table: string, users: number, until: number): Promise<void> {
  const all = async (sql: string): Promise<readonly string[]> =>
    (await client.query<{ value: string }>(sql.replaceAll('$table', `'credence.${table}'::regclass`))).rows.map(
      ({ value }) => value,
    )
  const keys = await all(
    `SELECT pg_get_constraintdef(oid) AS value FROM pg_constraint WHERE conrelid = $table AND contype = 'p'`,
  )
  const indexes = await all(
    `SELECT pg_get_indexdef(indexrelid) AS value FROM pg_index WHERE indrelid = $table AND NOT indisprimary`,
  )
  const triggers = await all(
    `SELECT pg_get_triggerdef(oid) AS value FROM pg_trigger WHERE tgrelid = $table AND NOT tgisinternal`,
  )
  const columns = await all(
    `SELECT attname AS value FROM pg_attribute WHERE attrelid = $table AND attnum > 1 AND NOT attisdropped ORDER BY attnum`,
  )
  const copied = columns.map((column) => {
    if (table === 'beliefs' && column === 'body') return `replace(body, '${ownerName(0)}', owners.owner)`
    return table === 'beliefs' && column === 'crc' ? crcOfCopy : `known.${column}`
  })
  const changes = table === 'beliefs' ? await crcChanges(client) : ''
  for (const sql of [
    `ALTER TABLE credence.${table} RENAME TO ${table}_known`,
    `CREATE TABLE credence.${table} (LIKE credence.${table}_known INCLUDING DEFAULTS)`,
    `INSERT INTO credence.${table} SELECT owners.owner, ${copied.join(', ')}
     FROM (SELECT 'user-' || lpad(at::text, 6, '0') AS owner FROM generate_series(0, ${users - 1}) AS at) AS owners
     CROSS JOIN credence.${table}_known AS known ${changes} WHERE known.owner = '${ownerName(0)}'`,
    `DROP TABLE credence.${table}_known`,
    ...keys.map((key) => `ALTER TABLE credence.${table} ADD ${key}`),
    ...indexes,
    ...triggers,
  ]) {
    await client.query(`SET LOCAL statement_timeout = ${Math.max(1, Math.round(until - performance.now()))}`)
    await client.query(sql)
  }
}

/** Bytes of an owner's name that differ between users. */
const digits = Array.from({ length: 6 }, (_, at) => at)
/** A CRC is linear: each digit of the copy's name changes the checksum by an amount that depends on the digit and its place alone. */
const crcOfCopy = digits.reduce(
  (sum, at) => `${sum} # changes[${at * 10} + substr(owners.owner, ${6 + at}, 1)::integer + 1]`,
  'known.crc',
)

/** For each belief of the first user, how each digit at each place of the name changes the checksum of its body. */
async function crcChanges(client: pg.PoolClient): Promise<string> {
  const { rows } = await client.query<{ id: string; body: string }>(
    'SELECT id, body FROM credence.beliefs WHERE owner = $1',
    [ownerName(0)],
  )
  const values = rows.map(({ id, body }) => {
    const bytes = Buffer.from(body)
    const name = bytes.indexOf(ownerName(0))
    if (name < 0 || bytes.indexOf(ownerName(0), name + 1) >= 0) throw new Error(`${id} does not name its owner once.`)
    const changes = digits.flatMap((at) =>
      Array.from('0123456789', (digit) => {
        const other = Buffer.from(bytes)
        other.write(digit, name + 'user-'.length + at)
        return ((crc32(other) ^ crc32(bytes)) >>> 0).toString()
      }),
    )
    return `('${id}', '{${changes.join(',')}}'::bigint[])`
  })
  return `JOIN (VALUES ${values.join(', ')}) AS made (id, changes) ON made.id = known.id`
}
