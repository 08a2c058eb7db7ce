import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { columnOf } from '../../../../test/column-of.ts'
import type { Belief } from '../../../beliefs/belief.ts'
import type { StoreFinding } from '../../../beliefs/store-care.ts'
import {
  commitOf,
  erasedChange,
  nextVersion,
  presentChange,
  sample,
  sampleTurn,
} from '../../sample-beliefs.contract.ts'
import { commitFor, everyAnswer, outcomeOf, requests } from '../../store-agreement.contract.ts'
import { commitTo } from '../../test-stores.contract.ts'
import { newFile, openAt, tamper } from '../temporary-store.contract.ts'

const failed = (findings: readonly StoreFinding[]): readonly string[] =>
  findings.filter(({ ok }) => !ok).map(({ check }) => check)

/** A closed store with at least one row in every table. */
async function storeWithHistory(): Promise<string> {
  const file = newFile()
  const store = openAt(file)
  const redis = sample({
    id: 'b1',
    name: 'Redis cache',
    aliases: ['kv store'],
    scopes: ['project:a', 'user:universal'],
  })
  const other = sample({ id: 'b2', name: 'Kubernetes', content: 'Runs everything.', agent: 'codex', pinned: true })
  await commitTo(store, commitOf([presentChange(redis), presentChange(other)]))
  await commitTo(
    store,
    commitOf([presentChange(nextVersion(redis, { content: 'Only for sessions.' }))], { kind: 'edit' }),
  )
  await commitTo(store, commitOf([], { kind: 'hear', turns: [sampleTurn('We moved the cache to Kubernetes.')] }))
  const secret = sample({ id: 'b3', user: 'bob', content: 'Forget me.' })
  await commitTo(store, commitOf([presentChange(secret)], { user: 'bob' }))
  await commitTo(store, commitOf([erasedChange(secret, 'erased')], { user: 'bob', kind: 'forget' }))
  await store.close()
  return file
}

async function findingsOf(file: string): Promise<readonly StoreFinding[]> {
  const store = openAt(file, { inspect: true })
  const findings = await store.verify()
  await store.close()
  return findings
}

describe('a check', () => {
  /** Name, bytes and time of every file next to the store. */
  const filesOf = (file: string) =>
    readdirSync(dirname(file)).map((name) => {
      const path = join(dirname(file), name)
      return [name, readFileSync(path).toString('base64'), statSync(path).mtimeMs]
    })

  it('neither changes nor creates files', async () => {
    const file = await storeWithHistory()
    const before = filesOf(file)

    expect(failed(await findingsOf(file))).toEqual([])

    expect(filesOf(file)).toEqual(before)
  })

  it('changes neither the file nor the log of a store whose last writer was killed', async () => {
    const file = await storeWithHistory()
    const writer = openAt(file)
    await commitTo(writer, commitOf([presentChange(sample({ id: 'late', name: 'Late news' }))]))
    const copy = newFile()
    mkdirSync(dirname(copy))
    for (const suffix of ['', '-wal', '-head']) copyFileSync(file + suffix, copy + suffix)
    await writer.close()
    const before = filesOf(copy)

    expect(failed(await findingsOf(copy))).toEqual([])

    expect(before.map(([name]) => name)).toContain('credence.db-wal')
    expect(filesOf(copy).filter(([name]) => name !== 'credence.db-shm')).toEqual(before)
  })

  it('leaves the store usable, and sees later writes of other processes', async () => {
    const file = await storeWithHistory()
    const store = openAt(file)
    const other = openAt(file)
    expect(failed(await store.verify())).toEqual([])

    await commitTo(other, commitOf([presentChange(sample({ id: 'late', name: 'Late news' }))]))
    await commitTo(store, commitOf([presentChange(sample({ id: 'later', name: 'Later news' }))]))

    expect((await store.getMany('ada', ['late', 'later'])).map(({ id }) => id)).toEqual(['late', 'later'])
    expect(failed(await store.verify())).toEqual([])
    expect(failed(await other.verify())).toEqual([])
    await store.close()
    await other.close()
  })
})

describe('rebuilding', () => {
  it('changes no answer and no derived row, after any history', async () => {
    await fc.assert(
      fc.asyncProperty(requests, async (history) => {
        const store = openAt(newFile())
        for (const request of history) await outcomeOf(store, await commitFor(store, request))
        const before = [await store.fingerprint(), await everyAnswer(store)]

        await store.rebuild()

        expect([await store.fingerprint(), await everyAnswer(store)]).toEqual(before)
        expect(failed(await store.verify())).toEqual([])
        await store.close()
      }),
      { numRuns: 12 },
    )
  })

  it('gives the same tables for any history that leads to the same beliefs', async () => {
    const kept = sample({ id: 'b1', name: 'Redis', aliases: ['cache'] })
    const passing = sample({ id: 'b2', name: 'Passing thing', scopes: ['domain:x'], agent: 'codex' })
    const straight = openAt(newFile())
    await commitTo(straight, commitOf([presentChange(kept)]))
    const winding = openAt(newFile())
    await commitTo(winding, commitOf([presentChange(passing)]))
    await commitTo(winding, commitOf([presentChange(kept)]))
    await commitTo(winding, commitOf([erasedChange(passing, 'absent')]))

    expect(await winding.fingerprint()).toBe(await straight.fingerprint())
    await straight.close()
    await winding.close()
  })

  it('repairs a damaged derived table', async () => {
    const file = await storeWithHistory()
    const before = await fingerprintOf(file)
    tamper(file, `DELETE FROM forms WHERE key = 'kubernetes'`, `UPDATE beliefs SET name_key = 'ruins' WHERE id = 'b2'`)
    expect(await fingerprintOf(file)).not.toBe(before)

    const store = openAt(file)
    await store.rebuild()

    expect(await store.fingerprint()).toBe(before)
    expect((await store.get('ada', 'b2'))?.content).toBe('Runs everything.')
    await store.close()
  })

  it('refuses to derive tables from an altered journal', async () => {
    const file = await storeWithHistory()
    tamper(file, 'DROP TRIGGER changes_are_only_erased', `UPDATE changes SET body = replace(body, 'Runs', 'Ruins')`)
    const store = openAt(file)

    await expect(store.rebuild()).rejects.toMatchObject({ code: 'unavailable' })
    await expect(store.get('ada', 'b2')).rejects.toMatchObject({ code: 'unavailable' })
    await store.close()
  })

  it('happens automatically if another version analysed texts differently', async () => {
    const file = await storeWithHistory()
    const before = await fingerprintOf(file)
    tamper(file, `DELETE FROM forms`, `UPDATE derivation SET analysis = 'older'`)

    expect(() => openAt(file, { readonly: true })).toThrow(/another version/)
    expect(await fingerprintOf(file)).toBe(before)
  })

  it('stops a program that analyses texts differently from writing to the store', async () => {
    const file = await storeWithHistory()
    const store = openAt(file)
    tamper(file, `UPDATE derivation SET analysis = 'newer'`)

    const write = store.commit(commitOf([presentChange(sample({ id: 'b9' }))]))

    await expect(write).rejects.toMatchObject({ code: 'conflict' })
    await expect(store.get('ada', 'b1')).rejects.toMatchObject({ code: 'conflict' })
    await store.close()
  })
})

async function fingerprintOf(file: string): Promise<string> {
  const store = openAt(file)
  const fingerprint = await store.fingerprint()
  await store.close()
  return fingerprint
}

describe('verifying', () => {
  it('reports no problem in an intact store', async () => {
    const findings = await findingsOf(await storeWithHistory())

    expect(findings.map(({ check, ok }) => [check, ok])).toEqual([
      ['settings', true],
      ['file', true],
      ['journal', true],
      ['index', true],
      ['forgotten', true],
      ['log', true],
    ])
  })

  const unlocked = [
    'events_are_never_updated',
    'events_are_never_deleted',
    'changes_are_only_appended',
    'changes_are_only_erased',
    'changes_are_never_deleted',
  ].map((trigger) => `DROP TRIGGER ${trigger}`)

  it.each([
    ['a changed event', `UPDATE events SET actor = 'tool' WHERE number = 1`],
    [
      'an event removed from the middle',
      'PRAGMA foreign_keys = OFF; DELETE FROM changes WHERE event = 2; DELETE FROM events WHERE number = 2',
    ],
    ['a changed text', `UPDATE changes SET body = replace(body, 'Runs', 'Ruins')`],
    ['a text removed without a forget', 'UPDATE changes SET body = NULL, salt = NULL WHERE event = 1 AND ordinal = 1'],
    ['a changed hash', `UPDATE events SET hash = zeroblob(32) WHERE number = 2`],
    [
      'an inserted change',
      `INSERT INTO changes SELECT 2, 1, user_id, 'b7', version, outcome, body_hash, salt, body FROM changes WHERE event = 1 AND ordinal = 1`,
    ],
    ['a change moved to another user', `UPDATE changes SET user_id = 2 WHERE event = 1`],
    ['a renamed user', `UPDATE users SET name = 'eve' WHERE name = 'bob'`],
  ])('finds %s in the journal', async (_, statement) => {
    const file = await storeWithHistory()
    tamper(file, ...unlocked, statement)

    expect(failed(await findingsOf(file))).toContain('journal')
  })

  it.each([
    ['a row of beliefs', `UPDATE beliefs SET updated_at = '2020' WHERE id = 'b1'`],
    ['a changed name', `UPDATE members SET name_key = 'other' WHERE name_key = 'kubernetes'`],
    ['a deleted name', `DELETE FROM members WHERE belief = 'b2'`],
    ['a form marked as retired', `UPDATE forms SET current = 0 WHERE key = 'kv store'`],
    ['a wrong count of forms', 'UPDATE phrase_prefixes SET count = count + 1'],
    ['a wrong count of words', 'UPDATE words SET count = count + 1'],
    ['a word without a belief', `INSERT INTO words (user_id, word, count) VALUES (1, 'stray', 0)`],
    ['a wrong length of a turn', `UPDATE turns SET lengths = '99'`],
    ['a wrong count of turns', 'UPDATE turn_scopes SET units = units + 1'],
    ['a missing posting of a turn', 'DELETE FROM turn_postings WHERE term = (SELECT min(term) FROM turn_postings)'],
    ['a missing typo key', 'DELETE FROM typos WHERE half = (SELECT min(half) FROM typos)'],
    ['a wrong population', 'UPDATE audiences SET current = current + 1'],
    ['missing scopes of an audience', 'DELETE FROM audience_scopes'],
    ['a wrong count of a scope', 'UPDATE scopes SET current = current + 1'],
    ['an extra word in the full-text index', `INSERT INTO texts (rowid, name) VALUES (1, '1:surplus')`],
  ])('finds %s that differs from the journal', async (_, statement) => {
    const file = await storeWithHistory()
    tamper(file, statement)

    expect(failed(await findingsOf(file))).toEqual(['index'])
  })

  it('reports a damaged page without failing itself', async () => {
    const file = await storeWithHistory()
    tamper(file, 'PRAGMA wal_checkpoint(TRUNCATE)')
    const bytes = readFileSync(file)
    const root = rootPage(file, 'phrase_prefixes')
    bytes.fill(0xff, (root - 1) * 4096, (root - 1) * 4096 + 200)
    writeFileSync(file, bytes)

    expect(failed(await findingsOf(file))).toEqual(['file', 'index'])
  })
})

function rootPage(file: string, table: string): number {
  const db = new DatabaseSync(file)
  const page = Number(columnOf(db, 'SELECT rootpage FROM sqlite_schema WHERE name = ?', table)[0])
  db.close()
  return page
}

describe('the journal', () => {
  it('accepts new events but cannot be rewritten', async () => {
    const file = await storeWithHistory()

    for (const statement of [
      `UPDATE events SET actor = 'tool'`,
      'DELETE FROM events',
      'DELETE FROM changes',
      `UPDATE changes SET outcome = 'absent'`,
      `UPDATE changes SET body = 'other'`,
      'INSERT OR REPLACE INTO events SELECT * FROM events',
      'INSERT INTO events SELECT number + 7, user_id, kind, actor, origin, at, NULL, NULL, NULL, hash, hash, hash FROM events',
      `INSERT INTO changes SELECT 2, 1, user_id, 'b7', version, outcome, body_hash, salt, body FROM changes WHERE event = 1`,
    ]) {
      expect(() => tamper(file, statement)).toThrow(/journal/)
    }
  })

  it('has a head that names the newest event', async () => {
    const store = openAt(newFile())
    expect(await store.head()).toEqual({ number: 0, hash: '0'.repeat(64) })

    const event = await commitTo(store, commitOf([presentChange(sample({ id: 'b1' }))]))

    expect(await store.head()).toEqual({ number: 1, hash: event.hash })
    await store.close()
  })
})

describe('a backup', () => {
  it('is a complete, separate store that only its owner can read', async () => {
    const file = await storeWithHistory()
    const store = openAt(file)
    const copy = join(dirname(file), 'backup.db')

    await store.backup(copy)

    const restored = openAt(copy)
    expect(await restored.fingerprint()).toBe(await store.fingerprint())
    expect(await restored.head()).toEqual(await store.head())
    expect(failed(await restored.verify())).toEqual([])
    expect(statSync(copy).mode & 0o777).toBe(0o600)
    expect(readdirSync(dirname(file)).filter((name) => name.startsWith('.tmp-'))).toEqual([])
    await restored.close()
    await store.close()
  })

  it('never overwrites an existing file', async () => {
    const file = await storeWithHistory()
    const store = openAt(file)
    const copy = join(dirname(file), 'backup.db')
    writeFileSync(copy, 'precious')

    await expect(store.backup(copy)).rejects.toMatchObject({ code: 'conflict' })
    await expect(store.backup(join(dirname(file), 'none', 'backup.db'))).rejects.toMatchObject({ code: 'unavailable' })

    expect(readFileSync(copy, 'utf8')).toBe('precious')
    await store.close()
  })

  it('removes leftovers of an interrupted backup', async () => {
    const file = await storeWithHistory()
    const store = openAt(file)
    const copy = join(dirname(file), 'backup.db')
    // No process has this id.
    const left = join(dirname(file), `.tmp-${2 ** 30}-0a0b0c0d-backup.db`)
    writeFileSync(left, 'half')

    await store.backup(copy)

    expect(existsSync(left)).toBe(false)
    await store.close()
  })
})

describe('forgetting', () => {
  it('leaves no byte of a forgotten text in any file of the store', async () => {
    const file = newFile()
    const store = openAt(file)
    const beliefs = Array.from({ length: 600 }, (_, index) => secretBelief(index))
    for (let from = 0; from < beliefs.length; from += 50) {
      await commitTo(store, commitOf(beliefs.slice(from, from + 50).map((belief) => presentChange(belief))))
    }
    const edited = beliefs.map((belief, index) =>
      index % 3 === 0 ? nextVersion(belief, { why: `${belief.why} Twice.` }) : belief,
    )
    await commitTo(store, commitOf(edited.filter(({ version }) => version > 1).map((belief) => presentChange(belief))))
    const doomed = edited.filter((_, index) => index % 2 === 0)

    for (let from = 0; from < doomed.length; from += 30) {
      const erasures = doomed.slice(from, from + 30).map((belief) => erasedChange(belief, 'erased'))
      await commitTo(store, commitOf(erasures, { kind: 'forget' }))
    }

    expect(failed(await store.verify())).toEqual([])
    await store.close()
    const isTraced = traceIn(file)
    // The same search finds the kept texts, so it would have found the erased ones.
    expect(edited.filter(({ id }) => isTraced(secretOf(id)))).toHaveLength(300)
    expect(doomed.filter(({ id }) => isTraced(secretOf(id)))).toEqual([])
  })

  it('leaves no byte even if other connections write in between', async () => {
    const file = newFile()
    const store = openAt(file)
    const other = openAt(file)
    const beliefs = Array.from({ length: 300 }, (_, index) => secretBelief(index))
    await commitTo(store, commitOf(beliefs.slice(0, 100).map((belief) => presentChange(belief))))

    for (const [index, belief] of beliefs.slice(0, 60).entries()) {
      await commitTo(index % 2 === 0 ? store : other, commitOf([erasedChange(belief, 'erased')], { kind: 'forget' }))
      const added = beliefs.slice(100 + 3 * index, 103 + 3 * index).map((one) => presentChange(one))
      await commitTo(index % 3 === 0 ? store : other, commitOf(added))
    }

    expect(failed(await store.verify())).toEqual([])
    await store.close()
    await other.close()
    const isTraced = traceIn(file)
    expect(beliefs.filter(({ id }) => isTraced(secretOf(id)))).toHaveLength(220)
    expect(beliefs.slice(0, 60).filter(({ id }) => isTraced(secretOf(id)))).toEqual([])
  })

  it('is reported as incomplete while another process reads the old text, and is completed by a scrub', async () => {
    const file = newFile()
    const store = openAt(file, { busyTimeoutMs: 0 })
    const belief = secretBelief(1)
    await commitTo(store, commitOf([presentChange(belief)]))
    const reader = new DatabaseSync(file)
    reader.exec('BEGIN; SELECT * FROM beliefs')

    await commitTo(store, commitOf([erasedChange(belief, 'erased')], { kind: 'forget' }))
    expect(failed(await store.verify())).toEqual(['forgotten'])
    expect(await store.scrub()).toBe(false)
    reader.close()
    expect(await store.scrub()).toBe(true)

    expect(failed(await store.verify())).toEqual([])
    await store.close()
    expect(traceIn(file)(secretOf(belief.id))).toBe(false)
  })
})

describe('forgetting in a file of more than 100 MB', () => {
  it('overwrites the text immediately, and leaves rewriting the file to a later scrub', async () => {
    const file = newFile()
    let store = openAt(file)
    const belief = secretBelief(1)
    await commitTo(store, commitOf([presentChange(belief)]))
    tamper(file, 'CREATE TABLE ballast (bytes BLOB)', 'INSERT INTO ballast VALUES (zeroblob(101000000))')

    await commitTo(store, commitOf([erasedChange(belief, 'erased')], { kind: 'forget' }))

    expect(await store.scrub({ ifSmall: true })).toBe(false)
    expect(failed(await store.verify())).toEqual(['forgotten'])
    await store.close()
    expect(traceIn(file)(belief.content.trim())).toBe(false)
    store = openAt(file)
    expect(await store.scrub()).toBe(true)
    expect(failed(await store.verify())).toEqual([])
    await store.close()
    expect(traceIn(file)(secretOf(belief.id))).toBe(false)
  })
})

/** A word that occurs in only one belief. */
function secretOf(id: string): string {
  const number = Number(id.slice(1))
  return `zq${[676, 26, 1].map((place) => String.fromCharCode(97 + (Math.floor(number / place) % 26))).join('')}xv`
}

/** A belief with the word in every field that is stored or indexed. */
function secretBelief(index: number): Belief {
  const id = `b${index}`
  const secret = secretOf(id)
  return sample({
    id,
    name: `Name ${secret}n of it`,
    aliases: [`${secret}a`, `other-${secret}b`, `${secret}c phrase`],
    content: `The content says ${secret}d and ${secret}e, at length: ${'word '.repeat(index % 40)}`,
    why: `Because ${secret}f.`,
    scopes: [`project:p${index % 5}`],
  })
}

/** Looks for a text in the bytes of the database and its log. No connection may be open, because reading the file drops its locks. */
function traceIn(file: string): (text: string) => boolean {
  const bytes = [file, `${file}-wal`].map((name) => (existsSync(name) ? readFileSync(name, 'latin1') : ''))
  return (text) => bytes.some((content) => content.includes(text))
}
