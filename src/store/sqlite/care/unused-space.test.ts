import { mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { newFile } from '../temporary-store.contract.ts'
import { clearUnusedSpace, WrittenPages } from './unused-space.ts'

function newDatabase() {
  const file = newFile()
  mkdirSync(dirname(file), { recursive: true })
  const db = new Database(file)
  db.pragma('journal_mode = wal')
  db.pragma('secure_delete = 1')
  db.exec('CREATE TABLE words (word TEXT PRIMARY KEY, rest TEXT) STRICT, WITHOUT ROWID')
  return { db, file }
}

/** Pages that differ. */
function changedPages(before: Buffer, after: Buffer): readonly number[] {
  const pageAt = (bytes: Buffer, index: number): Buffer => bytes.subarray(index * 4096, (index + 1) * 4096)
  const count = Math.max(before.length, after.length) / 4096
  return Array.from({ length: count }, (_, index) => index + 1).filter(
    (page) => !pageAt(before, page - 1).equals(pageAt(after, page - 1)),
  )
}

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd'), minLength: 1, maxLength: 60 })
const commits = fc.array(
  fc.record({ words: fc.array(word, { minLength: 1, maxLength: 80 }), empties: fc.boolean(), deletes: fc.boolean() }),
  { minLength: 1, maxLength: 12 },
)

it('the pages that are followed are those that reach the file, however often the log begins anew', () => {
  fc.assert(
    fc.property(commits, (history) => {
      const { db, file } = newDatabase()
      db.pragma('wal_checkpoint(TRUNCATE)')
      // The database is read as a file here, which drops its locks; nobody else has it open.
      const before = readFileSync(file)
      const written = new WrittenPages(file)
      for (const { words, empties, deletes } of history) {
        db.transaction(() => {
          const sql = deletes ? 'DELETE FROM words WHERE word <= ?' : 'INSERT OR REPLACE INTO words VALUES (?, ?)'
          for (const one of words) db.prepare(sql).run(...(deletes ? [one] : [one, one.repeat(9)]))
        })()
        written.follow()
        if (empties) db.pragma('wal_checkpoint(TRUNCATE)')
      }
      db.pragma('wal_checkpoint(TRUNCATE)')

      const missed = changedPages(before, readFileSync(file)).filter((page) => written.pages?.has(page) === false)

      expect(missed).toEqual([])
      db.close()
    }),
    { numRuns: 40 },
  )
})

it('clearing unused space changes no row, and leaves no deleted word in the file', () => {
  fc.assert(
    fc.property(fc.array(word, { minLength: 200, maxLength: 600 }), (words) => {
      const { db, file } = newDatabase()
      const secretOf = (one: string): string => `${one}-secret-${words.indexOf(one)}-`
      for (const one of words) db.prepare('INSERT OR IGNORE INTO words VALUES (?, ?)').run(secretOf(one), one.repeat(9))
      const gone = words.filter((_, index) => index % 2 === 0).map(secretOf)
      for (const one of gone) db.prepare('DELETE FROM words WHERE word = ?').run(one)
      const rows = db.prepare('SELECT * FROM words').all()
      db.pragma('wal_checkpoint(TRUNCATE)')

      clearUnusedSpace(file, null)

      db.pragma('shrink_memory')
      expect(db.pragma('integrity_check', { simple: true })).toBe('ok')
      expect(db.prepare('SELECT * FROM words').all()).toEqual(rows)
      const bytes = readFileSync(file).toString('latin1')
      expect(gone.filter((one) => bytes.includes(one))).toEqual([])
      db.close()
    }),
    { numRuns: 20 },
  )
})

it('pointers of deleted rows need no overwriting', () => {
  const { db, file } = newDatabase()
  for (const one of 'abcdefgh') db.prepare('INSERT INTO words VALUES (?, ?)').run(one, one.repeat(100))
  db.pragma('wal_checkpoint(TRUNCATE)')
  clearUnusedSpace(file, null)
  db.pragma('shrink_memory')
  for (const one of 'ceh') db.prepare('DELETE FROM words WHERE word = ?').run(one)
  db.pragma('wal_checkpoint(TRUNCATE)')

  const hasCleared = clearUnusedSpace(file, null)

  expect(hasCleared).toBe(false)
  db.close()
})
