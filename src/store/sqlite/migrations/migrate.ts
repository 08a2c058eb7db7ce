import { readFileSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { MemoryError } from '../../../errors.ts'

/** The SQL files beside this one, in order. Append only. The schema version is the number of files that were applied. */
export const migrations: readonly string[] = ['001-first-schema', '002-candidates', '003-turns', '004-index-names']

/** "Crdn": marks a SQLite database as a store of Credence. */
const applicationId = 0x4372646e

/** `new`: empty. `old`: some migrations are missing. Throws for a database that this version must not change. */
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
  if (version < 0 || version > migrations.length) {
    const allowed = `this version of Credence knows schemas up to ${migrations.length}`
    throw new MemoryError('unavailable', `The store ${file} has schema ${version}; ${allowed}.`, {
      hint: `Nothing was changed. ${version < 0 ? 'The file is damaged; restore a backup.' : 'Use the newer version that wrote it.'}`,
    })
  }
  return version === migrations.length ? 'known' : 'old'
}

/** Brings the schema up to date, one transaction for each migration. Several processes may do so at once. */
export function migrate(db: Database.Database, file: string, whenUnlocked: (work: () => void) => void): void {
  const applyNext = db.transaction(() => {
    // Read again under the lock: another process may have migrated in the meantime.
    if (schemaState(db, file) === 'known') return
    const version = numberOf(db, 'user_version')
    const name = migrations[version] as string
    if (version === 0) db.exec('CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT')
    db.exec(readFileSync(new URL(`./${name}.sql`, import.meta.url), 'utf8'))
    db.prepare('INSERT INTO migrations (number, name) VALUES (?, ?)').run(version + 1, name)
    db.pragma(`user_version = ${version + 1}`)
    db.pragma(`application_id = ${applicationId}`)
  })
  while (schemaState(db, file) !== 'known') whenUnlocked(() => applyNext.immediate())
}

const numberOf = (db: Database.Database, pragma: string): number => Number(db.pragma(pragma, { simple: true }))
