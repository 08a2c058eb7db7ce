import { hash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { findingOf, type OnProgress, type StoreFinding } from '../../beliefs/store-care.ts'
import { MemoryError } from '../../errors.ts'
import { beforeFirst, toHex } from '../journal-chain.ts'
import { openSqliteStore } from '../sqlite/sqlite-store.ts'
import type { PostgresConnection, Run } from './connection.ts'
import type { OwnerHead } from './journal.ts'
import { type Projections, replay, UnusableProjection } from './projections.ts'

type Owner = OwnerHead & { readonly owner: string }

const readOwners = (run: Run): Promise<readonly Owner[]> =>
  run('SELECT owner, head AS number, hash, forgotten FROM credence.owners ORDER BY owner')

/**
 * Derives each owner's memory from the journal into a temporary file, and checks this file as a SQLite store: the chain, every text and
 * every row of the index.
 */
export function verifyStore(
  connection: PostgresConnection,
  projections: Projections,
  onProgress: OnProgress = () => {},
): Promise<readonly StoreFinding[]> {
  return connection.readSnapshot(async (run) => {
    const complaints = { journal: [] as string[], index: [] as string[] }
    const owners = await readOwners(run)
    for (const [done, owner] of owners.entries()) {
      onProgress('journal', done, owners.length)
      for (const { check, detail } of await verifyOwner(run, projections, owner))
        complaints[check === 'index' ? 'index' : 'journal'].push(`${owner.owner}: ${detail}`)
    }
    const events = owners.reduce((sum, { number }) => sum + number, 0)
    return [
      await verifySettings(run),
      findingOf('journal', `events: ${events}, users: ${owners.length}, one chain each`, complaints.journal),
      findingOf('index', 'can be derived from the journal', complaints.index),
    ]
  })
}

/** Checks the memory of one owner. Returns only the checks that fail. */
async function verifyOwner(run: Run, projections: Projections, owner: Owner): Promise<readonly StoreFinding[]> {
  const folder = mkdtempSync(join(projections.directory, 'new-'))
  try {
    // Replaying the journal draws no salts, because its records contain them.
    const store = openSqliteStore({ file: join(folder, 'check.db'), random: (bytes) => new Uint8Array(bytes) })
    try {
      const records = await store.records()
      const damage = await replay(run, { owner: owner.owner, store, records }, owner).then(
        () => null,
        (error: unknown) => {
          const cause = error instanceof UnusableProjection ? error.cause : error
          if (cause instanceof MemoryError || cause instanceof SyntaxError) return cause.message
          throw cause
        },
      )
      const newest = records.head()
      const isHead = newest.number === owner.number && owner.hash.equals(newest.hash)
      const wrongHead = `the newest event is ${newest.number}, not ${owner.number}, or has another hash`
      const problems = [...(isHead ? [] : [wrongHead]), ...(damage === null ? [] : [damage])]
      const failed = (await store.verify()).filter(({ ok, check }) => !ok && check !== 'settings')
      return [...problems.map((detail) => ({ check: 'journal', ok: false, detail })), ...failed]
    } finally {
      await store.close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Checks that the server acknowledges a commit only after it is on disk. */
async function verifySettings(run: Run): Promise<StoreFinding> {
  const rows = await run<{ name: string; setting: string }>(
    `SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') ORDER BY name`,
  )
  const complaints = rows.filter(({ setting }) => setting === 'off').map(({ name }) => `${name} is off`)
  return findingOf('settings', rows.map(({ name, setting }) => `${name} ${setting}`).join(', '), complaints)
}

/** Removes everything derived from the journal. It is rebuilt when needed. */
export async function rebuild(connection: PostgresConnection, projections: Projections): Promise<void> {
  await connection.write(async (run) => {
    await run('DELETE FROM credence.snapshots')
    await run('COMMIT')
  })
  for (const { owner } of await connection.read(readOwners))
    if (projections.has(owner))
      await projections.withRenewal(owner, async (found) => (found === null ? undefined : projections.discard(found)))
}

/** A hash over everything derived from the journals. */
export async function fingerprint(
  connection: PostgresConnection,
  of: (owner: string) => Promise<string>,
): Promise<string> {
  const sums: string[] = []
  for (const { owner } of await connection.read(readOwners)) sums.push(owner, await of(owner))
  return hash('sha256', JSON.stringify(sums))
}

/** The total number of events, and a hash over the newest event of every owner. */
export async function headOf(
  connection: PostgresConnection,
): Promise<{ readonly number: number; readonly hash: string }> {
  const owners = await connection.read(readOwners)
  return {
    number: owners.reduce((sum, owner) => sum + owner.number, 0),
    hash: owners.reduce(
      (sum, { owner, number, hash: newest }) => hash('sha256', JSON.stringify([sum, owner, number, toHex(newest)])),
      toHex(beforeFirst),
    ),
  }
}

/** Removes the dead row versions that a forget leaves. Reads every table, so it is only for maintenance. */
export const vacuum = (connection: PostgresConnection): Promise<void> =>
  connection.readLong(async (run) => {
    for (const table of ['changes', 'events', 'turns', 'snapshots']) await run(`VACUUM credence.${table}`)
  })
