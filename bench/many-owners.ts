import pg from 'pg'
import { importRecords } from '../src/memory/transfer/import.ts'
import { openPorts } from '../src/open-memory.ts'
import { openServer } from '../src/open-server.ts'
import { generateBeliefs } from './corpus.ts'

export const ownerName = (at: number): string => `user-${String(at).padStart(6, '0')}`

type Size = { readonly users: number; readonly beliefsEach: number }

const firstOwners = (users: number): readonly string[] => Array.from({ length: users }, (_, at) => ownerName(at))

/** Fills a memory through the import use case, one user after the other. The beliefs of all users have the same texts. */
export async function fillUsers(
  dir: string,
  store: string | undefined,
  { users, beliefsEach }: Size,
  owners: readonly string[] = firstOwners(users),
): Promise<void> {
  const ports = openPorts(dir, store === undefined ? {} : { server: () => openServer(dir, store) })
  for (const user of owners) {
    const records = [...generateBeliefs({ count: beliefsEach, seed: 1, user })]
    const placed = records.map((record, index) => ({ place: `belief ${index}`, record }))
    await importRecords(ports, { user, author: { actor: 'person', origin: 'bench' }, trusted: true }, placed)
  }
  await ports.store.close()
}

/**
 * Fills a PostgreSQL store: the active users through the import use case, the others by copying the first user's rows within the
 * server. The journals of the copies do not verify; they only give the tables a realistic size.
 */
export async function fillServer(dir: string, address: string, size: Size, active: readonly string[]): Promise<void> {
  await fillUsers(dir, address, size, active)
  const pool = new pg.Pool({ connectionString: address, max: 1 })
  try {
    for (const table of ['owners', 'events', 'changes']) {
      const { rows } = await pool.query<{ name: string }>(
        `SELECT attname AS name FROM pg_attribute WHERE attrelid = 'credence.${table}'::regclass AND attnum > 0
         AND NOT attisdropped AND attname <> 'owner' ORDER BY attnum`,
      )
      const columns = rows.map(({ name }) => name).join(', ')
      await pool.query(
        `INSERT INTO credence.${table} (owner, ${columns})
         SELECT 'user-' || lpad(place::text, 6, '0'), ${columns}
         FROM generate_series(0, ${size.users - 1}) AS others (place) CROSS JOIN credence.${table}
         WHERE owner = '${active[0]}' ON CONFLICT DO NOTHING`,
      )
    }
    await pool.query('VACUUM (ANALYZE)')
    await pool.query('CHECKPOINT')
  } finally {
    await pool.end()
  }
}
