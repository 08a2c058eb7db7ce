import type Database from 'better-sqlite3'
import { MemoryError } from '../../../errors.ts'
import { firstSchema } from './001-first-schema.ts'
import { candidates } from './002-candidates.ts'
import { turnsSchema } from './003-turns.ts'

export type Migration = { readonly name: string; readonly sql: string }

/** Append only: what was released is never edited. A migration's place in the list is the schema's version after it. */
export const migrations: readonly Migration[] = [firstSchema, candidates, turnsSchema]

/** "Crdn": tells a store from any other SQLite database. */
const applicationId = 0x4372646e

/** `new`: empty. `old`: some migrations are missing. Throws for what this version must not touch. */
export function schemaState(db: Database.Database, file: string): 'new' | 'old' | 'known' {
  const version = numberOf(db, 'user_version')
  const owner = numberOf(db, 'application_id')
  const tables = Number(db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get())
  if (owner === 0 && version === 0 && tables === 0) return 'new'
  if (owner !== applicationId) {
    throw new MemoryError('unavailable', `${file} is a database of another program.`, {
      hint: 'Nothing was changed. Name another directory for the memory.',
    })
  }
  if (version > migrations.length) {
    throw new MemoryError(
      'unavailable',
      `The store ${file} has schema ${version}; this version knows schemas up to ${migrations.length}.`,
      { hint: 'Nothing was changed. Use the newer version of Credence that wrote it.' },
    )
  }
  return version === migrations.length ? 'known' : 'old'
}

/** Brings the schema up to date, each step whole or not at all. Several processes may do so at once. */
export function migrate(db: Database.Database, file: string): void {
  while (schemaState(db, file) !== 'known') db.transaction(() => applyNext(db, file)).immediate()
}

function applyNext(db: Database.Database, file: string): void {
  // Looked up again under the lock: another process may have been faster.
  if (schemaState(db, file) === 'known') return
  const version = numberOf(db, 'user_version')
  const migration = migrations[version]
  if (migration === undefined) return
  if (version === 0) db.exec('CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT')
  db.exec(migration.sql)
  db.prepare('INSERT INTO migrations (number, name) VALUES (?, ?)').run(version + 1, migration.name)
  db.pragma(`user_version = ${version + 1}`)
  db.pragma(`application_id = ${applicationId}`)
}

const numberOf = (db: Database.Database, pragma: string): number => Number(db.pragma(pragma, { simple: true }))
