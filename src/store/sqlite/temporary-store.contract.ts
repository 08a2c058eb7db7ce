import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll } from 'vitest'
import { fixedRandom } from '../sample-beliefs.contract.ts'
import { openSqliteStore, type SqliteStore, type SqliteStoreOptions } from './sqlite-store.ts'

const directory = mkdtempSync(join(tmpdir(), 'credence-store-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

let files = 0

/** A path for a new store, whose directory is removed after the tests of a file. */
export function newFile(): string {
  files += 1
  return join(directory, String(files), 'credence.db')
}

export const openAt = (file: string, options: Partial<SqliteStoreOptions> = {}): SqliteStore =>
  openSqliteStore({ file, random: fixedRandom, ...options })

/** Changes a closed store's tables directly, like a bad disk or a curious person. */
export function tamper(file: string, ...statements: readonly string[]): void {
  const db = new DatabaseSync(file)
  for (const statement of statements) db.exec(statement)
  db.close()
}
