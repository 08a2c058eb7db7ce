import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { CaredStore } from './search/store-port.ts'
import { openPostgresStore } from './store/postgres/postgres-store.ts'

/** Opens a PostgreSQL store, with local copies in a memory directory. Connects on the first call. */
export const openServer = (dir: string, address: string, onOffline?: (since: Date) => void): CaredStore =>
  openPostgresStore({ address, random: randomBytes, cacheDir: join(dir, 'state', 'postgres-cache'), onOffline })
