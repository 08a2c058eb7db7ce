import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import type { Belief } from '../../src/beliefs/belief.ts'
import { MemoryError } from '../../src/errors.ts'
import { writeBody } from '../../src/store/journal-chain.ts'
import { commitOf, nextVersion, presentChange, sample } from '../../src/store/sample-beliefs.contract.ts'
import { setAsideCorruptStore } from '../../src/store/sqlite/store-file.ts'
import { columnOf } from '../column-of.ts'
import { count } from '../full-counts.ts'
import { chance, openStore, temporaryDirectory } from './durable-store.ts'

const beliefs: readonly Belief[] = Array.from({ length: 60 }, (_, index) =>
  sample({
    id: `b${index}`,
    name: `Belief number ${index}`,
    aliases: [`alias of ${index}`],
    content: `What is true of number ${index}: ${'it is so. '.repeat(index % 20)}`,
    why: 'Because someone said so.',
  }),
)

/** A closed store in one file, with an empty log. */
async function wholeStore(file: string): Promise<void> {
  const store = openStore(file)
  await store.commit(commitOf(beliefs.map((belief) => presentChange({ ...belief, content: 'Draft.' }))))
  await store.commit(commitOf(beliefs.map((belief) => presentChange(nextVersion(belief, {})))))
  await store.close()
}

const attempt = (file: string): unknown => {
  try {
    void openStore(file).close()
    return null
  } catch (error) {
    return error
  }
}

describe('a file that is not a store', () => {
  const pageSize = 4096
  const variants: readonly (readonly [name: string, damage: (file: string) => void])[] = [
    ['a text file', (file) => writeFileSync(file, 'Dear diary, '.repeat(1000))],
    ['a short text file', (file) => writeFileSync(file, 'hi')],
    [
      'a zeroed header',
      (file) => writeFileSync(file, Buffer.concat([Buffer.alloc(100), readFileSync(file).subarray(100)])),
    ],
    ['only zeros', (file) => writeFileSync(file, Buffer.alloc(statSync(file).size))],
    ['a file cut in the middle of a page', (file) => truncateSync(file, 10 * pageSize + 100)],
    ['a file cut at a page boundary', (file) => truncateSync(file, 10 * pageSize)],
    ['a file cut after its first page', (file) => truncateSync(file, pageSize)],
    ['a file cut within its header', (file) => truncateSync(file, 50)],
    ['a store of a newer version', (file) => pragma(file, 'user_version = 999')],
    ['a database of another program', (file) => pragma(file, 'application_id = 252006673')],
  ]

  it.each(variants)('is refused and not changed: %s', async (_, damage) => {
    using directory = temporaryDirectory()
    const file = join(directory.path, 'credence.db')
    await wholeStore(file)
    damage(file)
    const before = readFileSync(file)

    const error = attempt(file)

    expect(error).toBeInstanceOf(MemoryError)
    expect(error).toMatchObject({
      code: 'invalid',
      message: expect.stringContaining(file),
      hint: expect.any(String),
    })
    expect((error as MemoryError).message).not.toContain('\n')
    expect(readFileSync(file).equals(before)).toBe(true)
  })

  it('is refused or read completely, and never changed or removed, wherever it was cut or overwritten', {
    timeout: 600_000,
  }, async () => {
    using directory = temporaryDirectory()
    const file = join(directory.path, 'credence.db')
    await wholeStore(file)
    const whole = readFileSync(file)
    const pages = whole.length / pageSize
    const random = chance(17)
    const outcomes = { read: 0, refused: 0, detected: 0 }
    for (let variant = 0; variant < count(500); variant += 1) {
      const page = Math.floor(random() * pages)
      const cut = variant % 2 === 0
      // Truncated at a page boundary or within a page, or one page overwritten with zeros or with another page.
      const other = Math.floor(random() * pages) * pageSize
      const damaged = Buffer.from(
        cut ? whole.subarray(0, page * pageSize + (variant % 4 === 0 ? 0 : Math.floor(random() * pageSize))) : whole,
      )
      if (!cut && variant % 4 === 1) damaged.fill(0, page * pageSize, (page + 1) * pageSize)
      if (!cut && variant % 4 === 3) whole.copy(damaged, page * pageSize, other, other + pageSize)
      for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true })
      writeFileSync(file, damaged, { mode: 0o600 })
      // An empty file is opened as a new store, so it proves nothing.
      if (damaged.length === 0) continue
      const outcome = await readEverything(file)
      outcomes[outcome] += 1
      if (outcome === 'refused' && statSync(file).size > 0)
        expect(statSync(file).size).toBeGreaterThanOrEqual(damaged.length)
    }

    console.log('cut or overwritten:', outcomes)
    expect(outcomes.refused).toBeGreaterThan(0)
  })

  it.each([
    ['of another store', (_wal: Buffer, other: Buffer) => other],
    ['of random bytes', (wal: Buffer) => Buffer.alloc(wal.length, 0x5a)],
    ['cut in the middle', (wal: Buffer) => wal.subarray(0, wal.length / 2)],
    ['that is missing', () => null],
  ])('is refused, read as it was, or reported if its log is one %s', async (_, logOf) => {
    using directory = temporaryDirectory()
    const [file, foreign] = ['one', 'other'].map((name) => join(directory.path, name, 'credence.db')) as [
      string,
      string,
    ]
    for (const [at, path] of [file, foreign].entries()) {
      const store = openStore(path)
      for (let number = 0; number < 5; number += 1)
        await store.commit(commitOf([presentChange(sample({ id: `b${number}`, name: `Name ${at} ${number}` }))]))
      copyOpenStore(path)
      await store.close()
    }
    const log = logOf(readFileSync(`${file}.copy-wal`), readFileSync(`${foreign}.copy-wal`))
    const target = join(directory.path, 'target', 'credence.db')
    mkdirSync(dirname(target))
    writeFileSync(target, readFileSync(`${file}.copy`), { mode: 0o600 })
    writeFileSync(`${target}-head`, readFileSync(`${file}-head`))
    if (log !== null) writeFileSync(`${target}-wal`, log, { mode: 0o600 })

    const names: string[] = []
    const problem = await (async () => {
      const store = openStore(target)
      for (const { name } of (await store.list({ user: 'ada' }, { limit: 50, offset: 0 })).items) names.push(name)
      const complaints = (await store.verify()).filter(({ ok }) => !ok)
      await store.close()
      return complaints
    })().catch((error: unknown) => error)

    // Allowed: the store is refused; or it is read as a prefix of the committed journal; or `verify` reports that its
    // journal differs from the anchored one.
    const isOwn = names.every((name) => name.startsWith('Name 0 '))
    if (problem instanceof Error) expect(problem).toBeInstanceOf(MemoryError)
    else if (!isOwn) expect(problem).toContainEqual(expect.objectContaining({ check: 'journal', ok: false }))
  })

  it('is refused and not changed: a directory', () => {
    using directory = temporaryDirectory()
    const file = join(directory.path, 'credence.db')
    mkdirSync(file)

    expect(attempt(file)).toMatchObject({ code: 'unavailable', message: expect.stringContaining(file) })
    expect(statSync(file).isDirectory()).toBe(true)
  })

  it('is treated as a new store if it is empty', async () => {
    using directory = temporaryDirectory()
    const file = join(directory.path, 'credence.db')
    writeFileSync(file, '')

    const store = openStore(file)

    expect((await store.commit(commitOf([presentChange(sample({ id: 'b1' }))]))).outcome).toBe('committed')
    await store.close()
  })

  it('can be set aside, and a new store replaces it', async () => {
    using directory = temporaryDirectory()
    const file = join(directory.path, 'credence.db')
    await wholeStore(file)
    truncateSync(file, 10 * pageSize)
    writeFileSync(`${file}-wal`, 'left over')
    const before = readFileSync(file)

    const name = setAsideCorruptStore(file, new Date('2026-03-01T12:00:00.000Z'))

    expect(name).toBe(`${file}.corrupt-2026-03-01T12-00-00-000Z`)
    expect(readFileSync(name).equals(before)).toBe(true)
    expect(readFileSync(`${name}-wal`, 'utf8')).toBe('left over')
    expect(existsSync(file)).toBe(false)
    expect(attempt(file)).toBeNull()
    expect(readdirSync(dirname(file)).sort()).toContain('credence.db')
    expect(() => setAsideCorruptStore(file, new Date('2026-03-01T12:00:00.000Z'))).toThrow(/already/)
  })
})

/** Copies the files of a store that is open in this process, by a child process: reading them here would drop the locks. */
function copyOpenStore(file: string): void {
  for (const suffix of ['', '-wal']) expect(spawnSync('cp', [file + suffix, `${file}.copy${suffix}`]).status).toBe(0)
}

function pragma(file: string, setting: string): void {
  const db = new DatabaseSync(file)
  db.exec(`PRAGMA ${setting}`)
  db.close()
}

describe('a flipped bit', () => {
  const flips = count(4_000)

  it(`never turns one belief into another, ${flips} times`, { timeout: 600_000 }, async () => {
    using directory = temporaryDirectory()
    const file = join(directory.path, 'credence.db')
    const copy = join(directory.path, 'copy', 'credence.db')
    mkdirSync(dirname(copy))
    await wholeStore(file)
    const bytes = readFileSync(file)
    const ofBeliefs = pagesOf(file, 'changes')
    const random = chance(11)
    const counts = { read: 0, refused: 0, detected: 0, unguarded: 0 }

    for (let flip = 0; flip < flips; flip += 1) {
      // Half of the flips hit pages with texts; the other half hit any page.
      const page = ofBeliefs[Math.floor(random() * ofBeliefs.length)] ?? 1
      const offset =
        flip % 2 === 0 ? (page - 1) * 4096 + Math.floor(random() * 4096) : Math.floor(random() * bytes.length)
      const damaged = Buffer.from(bytes)
      damaged[offset] = (damaged[offset] ?? 0) ^ (1 << Math.floor(random() * 8))
      writeFileSync(copy, damaged)
      if (hasChangedText(copy)) counts.unguarded += 1
      counts[await readEverything(copy)] += 1
    }

    // Guards the test: without the check of hashes, some changed texts would have been returned as if they had been
    // written.
    expect(counts.unguarded).toBeGreaterThan(0)
    expect(counts.refused + counts.detected).toBeGreaterThanOrEqual(counts.unguarded)
    expect(counts.read + counts.refused + counts.detected).toBe(flips)
  })
})

/**
 * `read`: every belief and its history were read as written. `refused`: some reads were refused. `detected`: something
 * was lost, and `verify` reports it. Anything else is the failure that this test looks for.
 */
async function readEverything(file: string): Promise<'read' | 'refused' | 'detected'> {
  let outcome: 'read' | 'refused' | 'detected' = 'read'
  try {
    const store = openStore(file)
    for (const belief of beliefs) {
      const expected = nextVersion(belief, {})
      const found = await answerOrRefusal(() => store.get('ada', belief.id))
      const history = await answerOrRefusal(() => store.history('ada', belief.id))
      if (found === 'refused' || history === 'refused') outcome = 'refused'
      if (found !== 'refused' && found !== null) expect(found).toEqual(expected)
      const newest = history === 'refused' ? undefined : history.at(-1)?.belief
      if (newest !== undefined && newest !== null && newest.version === 2) expect(newest).toEqual(expected)
      if (outcome === 'read' && (found === null || newest?.version !== 2)) outcome = 'detected'
    }
    if (outcome === 'detected') expect((await store.verify()).filter(({ ok }) => !ok)).not.toEqual([])
    await store.close()
    return outcome
  } catch (error) {
    if (error instanceof MemoryError) return 'refused'
    throw error
  }
}

async function answerOrRefusal<Answer>(ask: () => Promise<Answer>): Promise<Answer | 'refused'> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof MemoryError) return 'refused'
    throw error
  }
}

const newestBodies = `SELECT body FROM changes AS one WHERE body IS NOT NULL
  AND event = (SELECT max(event) FROM changes WHERE belief_id = one.belief_id)`

/** The texts as a reader without hash checks would return them. */
function hasChangedText(file: string): boolean {
  const originals = new Map(beliefs.map((belief) => [belief.id, writeBody(nextVersion(belief, {}))]))
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    const bodies = columnOf<string>(db, newestBodies)
    return bodies.some((body) => body !== originals.get((JSON.parse(body) as Belief).id))
  } catch {
    // An unreadable file is not a wrong answer.
    return false
  } finally {
    db.close()
  }
}

function pagesOf(file: string, table: string): readonly number[] {
  const db = new DatabaseSync(file, { readOnly: true })
  const pages = columnOf<number>(db, `SELECT pageno FROM dbstat WHERE name = ? AND pagetype <> 'internal'`, table)
  db.close()
  return pages
}
