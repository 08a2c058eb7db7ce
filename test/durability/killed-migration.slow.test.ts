import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { migrations } from '../../src/store/sqlite/migrations/migrate.ts'
import { count } from '../full-counts.ts'
import { complaintsOf, expectWritable, openStore, temporaryDirectory } from './durable-store.ts'
import { isTracerHere, tracing } from './tracer.ts'
import { WriterProcess } from './writer-process.ts'

const folder = new URL('../../src/store/sqlite/migrations/', import.meta.url)
/** Stores written by released versions, one for each released schema. */
const fixtures = readdirSync(folder).filter((name) => name.endsWith('.db.gz'))
const calls = 'pwrite64,fsync,fdatasync,ftruncate,unlink'
/** The number of points that a full run tries for each fixture and each fault. */
const points = 50

function oldStore(fixture: string, directory: string): string {
  const file = join(directory, 'credence.db')
  mkdirSync(directory, { recursive: true })
  writeFileSync(file, gunzipSync(readFileSync(new URL(fixture, folder))), { mode: 0o600 })
  return file
}

/** The rows that no migration may remove. Read from a copy, because reading would checkpoint the log. */
function rowsIn(file: string): readonly unknown[] {
  using copy = temporaryDirectory()
  cpSync(join(file, '..'), copy.path, { recursive: true })
  const db = new DatabaseSync(join(copy.path, 'credence.db'))
  const rows = (table: string): readonly unknown[] =>
    db
      .prepare(`SELECT * FROM ${table}`)
      .all()
      .map((row) => Object.values(row))
  const found = ['users', 'events', 'changes'].flatMap((table) =>
    rows(table).map((row) => JSON.stringify([table, row])),
  )
  db.close()
  return found
}

/** All beliefs and turns, as the newest version returns them. */
async function storedContents(file: string): Promise<readonly unknown[]> {
  const store = openStore(file)
  const everything: unknown[] = []
  for (const user of ['ada', 'bob']) {
    const { items } = await store.list({ user }, { limit: 100, offset: 0 })
    for (const { id, name, content, status, candidate } of items)
      everything.push([user, id, name, content, status, candidate])
    const { items: turns } = await store.listTurns({ user }, { limit: 100, offset: 0 })
    for (const { id, text } of turns) everything.push([user, id, text])
    for (const { kind, number } of await store.events(user, { limit: 100 })) everything.push([user, kind, number])
  }
  await store.close()
  return everything
}

/** Opens the store in a process with these injected faults. */
async function openingWith(faults: readonly string[], file: string, record: string): Promise<WriterProcess> {
  const writer = new WriterProcess({ file, prefix: 'w', count: 0 }, tracing(calls, record, ...faults))
  await writer.ended
  return writer
}

/** The number of calls that opening the store makes without faults. */
async function callsOf(fixture: string): Promise<number> {
  using directory = temporaryDirectory()
  const record = join(directory.path, 'record')
  await openingWith([], oldStore(fixture, join(directory.path, 'memory')), record)
  return readFileSync(record, 'utf8').trimEnd().split('\n').length
}

describe.skipIf(!isTracerHere).each(fixtures)('migrating %s', (fixture) => {
  it.each([
    ['is killed', 'signal=KILL'],
    ['meets a failing disk', 'error=EIO'],
  ] as const)(
    'loses no row if it %s, and is completed by the next start',
    { timeout: 1_800_000 },
    async (name, fault) => {
      using whole = temporaryDirectory()
      const reference = oldStore(fixture, whole.path)
      const before = rowsIn(reference)
      const expected = await storedContents(reference)
      const total = await callsOf(fixture)
      const step = total / count(points)
      let interrupted = 0
      let runs = 0
      for (let point = 1; point <= total; point = Math.max(point + 1, Math.floor(point + step))) {
        using directory = temporaryDirectory()
        const file = oldStore(fixture, join(directory.path, 'memory'))
        const at = `call ${point} of ${total}`

        const { report, complaints } = await openingWith([`${calls}:${fault}:when=${point}`], file, '/dev/null')

        if (report === null) interrupted += 1
        // SQLite does not report why the shared-memory file could not grow, so both messages are allowed.
        if (report === null && name !== 'is killed')
          expect(complaints, at).toMatch(/MemoryError: The disk (?:failed|is full)/u)
        expect(rowsIn(file), at).toEqual(expect.arrayContaining([...before]))
        expect(await storedContents(file), at).toEqual(expected)
        expect(await complaintsOf(file), at).toEqual([])
        await expectWritable(file)
        runs += 1
      }
      expect(interrupted).toBeGreaterThan(0)
      console.log(
        `${fixture}, ${name}: ${runs} runs over ${total} calls, ${interrupted} interrupted, ${before.length} rows, 0 lost.`,
      )
    },
  )
})

describe.each(fixtures)('%s', (fixture) => {
  it('is not opened if a migration was partly applied', () => {
    using directory = temporaryDirectory()
    const file = oldStore(fixture, directory.path)
    const db = new DatabaseSync(file)
    const applied = Number(db.prepare('PRAGMA user_version').get()?.user_version)
    const [statement = ''] = readFileSync(new URL(`${migrations[applied]}.sql`, folder), 'utf8').split(';\n')
    db.exec(statement)
    db.close()

    expect(() => openStore(file)).toThrow()
  })

  it('is refused and not changed if its schema is newer than the program', () => {
    using directory = temporaryDirectory()
    const file = oldStore(fixture, directory.path)
    const db = new DatabaseSync(file)
    db.exec(`PRAGMA user_version = ${migrations.length + 1}`)
    db.close()
    const bytes = readFileSync(file)

    expect(() => openStore(file)).toThrow(
      `schema ${migrations.length + 1}; this version of Credence knows schemas up to`,
    )
    expect(readFileSync(file).equals(bytes)).toBe(true)
  })
})
