import { readFileSync } from 'node:fs'
import { MemoryError } from '../../../errors.ts'
import { codeOf } from '../../../files/leftovers.ts'
import { longAnswerMs, type PostgresConnection, type Run } from '../connection.ts'

/** The SQL files in this folder, in order. Append only. The schema version is the number of files that were applied. */
export const postgresMigrations: readonly string[] = [
  'postgres-001-first-schema',
  'postgres-002-recall-counts',
  'postgres-003-people',
  'postgres-004-token-use',
  'postgres-005-utc-offset',
  'postgres-006-doubtful-statements',
  'postgres-007-journal-only',
  'postgres-008-feedback',
]

/** The advisory lock for migrations: "Crdn" as a number. */
const migrationLock = 0x4372646e

/** Brings the schema up to date. Several programs may start at once: one of them migrates, in one transaction, and the others wait. */
export async function migrate(connection: PostgresConnection): Promise<void> {
  const { label } = connection.address
  const known = await connection.read((run) => readVersion(run, label))
  if (known < postgresMigrations.length)
    await connection.write(async (run) => {
      await run(`SELECT pg_advisory_xact_lock(${migrationLock})`)
      // Read again under the lock: another program may have migrated in the meantime.
      const applied = await readVersion(run, label)
      if (applied === 0) {
        await run('CREATE SCHEMA IF NOT EXISTS credence')
        await run(
          'CREATE TABLE IF NOT EXISTS credence.migrations (number integer PRIMARY KEY, name text NOT NULL UNIQUE)',
        )
      }
      for (const [index, name] of postgresMigrations.entries()) {
        if (index < applied) continue
        await run(readFileSync(new URL(`./${name}.sql`, import.meta.url), 'utf8'))
        await run('INSERT INTO credence.migrations (number, name) VALUES ($1, $2)', [index + 1, name])
      }
      await run('COMMIT')
    }, longAnswerMs)
  connection.guardWrites((run) => refuseNewer(run, label))
}

/** The number of migrations that were applied. Throws if this version of Credence must not use the schema. */
async function readVersion(run: Run, label: string): Promise<number> {
  // Not to_regclass, which may answer from a cache that is older than the lock.
  const found = await run(
    `SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = 'credence' AND tablename = 'migrations'`,
  )
  if (found.length === 0) return 0
  const [{ applied } = { applied: 0 }] = await run<{ applied: number }>(
    'SELECT coalesce(max(number), 0) AS applied FROM credence.migrations',
  )
  if (applied > postgresMigrations.length) throw newerSchema(label, applied)
  return applied
}

function newerSchema(label: string, applied: number): MemoryError {
  const allowed = `this version of Credence knows schemas up to ${postgresMigrations.length}`
  return new MemoryError('invalid', `The store ${label} has schema ${applied}; ${allowed}.`, {
    hint: 'Nothing was changed. Use the newer version that wrote it.',
  })
}

/**
 * Fails in the database if another program has migrated it to a newer schema, so that statements sent in the same batch have no effect.
 * The statement fails by casting a text that is not a number.
 */
async function refuseNewer(run: Run, label: string): Promise<void> {
  try {
    await run(`SELECT ('schema ' || max(number))::integer FROM credence.migrations HAVING max(number) > $1`, [
      postgresMigrations.length,
    ])
  } catch (error) {
    const [applied] = /(?<="schema )\d+/u.exec(codeOf(error) === '22P02' ? (error as Error).message : '') ?? []
    throw applied === undefined ? error : newerSchema(label, Number(applied))
  }
}
