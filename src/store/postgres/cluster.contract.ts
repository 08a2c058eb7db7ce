import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll } from 'vitest'
import type { CaredStore } from '../../search/store-port.ts'
import { fixedRandom } from '../sample-beliefs.contract.ts'
import { openPostgresStore, type PostgresStoreOptions } from './postgres-store.ts'
import { Cluster, password, postgresPrograms } from './server.contract.ts'

export { Cluster, password, postgresPrograms }

if (postgresPrograms === null)
  console.log('PostgreSQL is not installed, so its tests are skipped. Install it: apt-get install postgresql')

/** Starts one server for all tests of a file when it is first needed, and removes it after them. */
export function sharedCluster(settings: readonly string[] = []): () => Promise<Cluster> {
  let started: Promise<Cluster> | null = null
  afterAll(async () => {
    if (started !== null) await (await started).stop()
  })
  return () => {
    started ??= Cluster.start(settings)
    return started
  }
}

/** Settings for a server that no test kills, so that commits need not wait for the disk. */
export const undurable = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off']

const caches = mkdtempSync(join(tmpdir(), 'credence-postgres-caches-'))
afterAll(() => rmSync(caches, { recursive: true, force: true }))

/** A new directory for local copies, so that stores share none, like programs on different machines. */
export const newCache = (): string => mkdtempSync(join(caches, 'cache-'))

export const openAt = (address: string, options: Partial<PostgresStoreOptions> = {}): CaredStore =>
  openPostgresStore({ address, random: fixedRandom, cacheDir: options.cacheDir ?? newCache(), ...options })

const emptied =
  'owners events changes turns snapshots recall_counts recall_days feedback people tokens teams team_members'

/** Empty databases with the schema and the changes of `altered`. They are reused, because creating one for each test takes longer. */
export function emptyDatabases(cluster: () => Promise<Cluster>, altered = '') {
  const free: string[] = []
  const take = async (): Promise<string> => {
    const known = free.pop()
    const address = known ?? (await (await cluster()).newDatabase())
    const store = openAt(address, { connections: 1 })
    await store.scopes('nobody')
    await store.close()
    const client = new pg.Client({ connectionString: address })
    await client.connect()
    if (known === undefined) await client.query(altered)
    await client.query(
      `TRUNCATE ${emptied
        .split(' ')
        .map((table) => `credence.${table}`)
        .join(', ')}`,
    )
    await client.end()
    return address
  }
  return { take, giveBack: (address: string) => free.push(address) }
}

type EmptyStores = { readonly altered?: string; readonly reached?: (address: string) => Promise<string> }

/**
 * Empty stores in databases of `emptyDatabases`. `reached` may change the address at which a store is opened, for
 * example to that of a pooler.
 */
export function emptyStores(
  cluster: () => Promise<Cluster>,
  { altered, reached = async (address) => address }: EmptyStores = {},
): () => CaredStore {
  const databases = emptyDatabases(cluster, altered)
  return () => {
    const opening = (async () => {
      const address = await databases.take()
      const store = openAt(await reached(address), { connections: 2 })
      return {
        ...store,
        close: async () => {
          await store.close()
          databases.giveBack(address)
        },
      }
    })()
    // Every call waits until the store is open and empty. `then` is left out, so that `await` does not treat the store as a promise.
    return new Proxy({} as CaredStore, {
      get: (_, name: string) => {
        if (name === 'then') return undefined
        return async (...values: readonly unknown[]) =>
          ((await opening)[name as keyof CaredStore] as (...given: readonly unknown[]) => unknown)(...values)
      },
    })
  }
}
