import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { columnOf } from '../../../test/column-of.ts'
import { linkMessage } from '../../search/link.ts'
import { commitOf, nextVersion, presentChange, sample } from '../sample-beliefs.contract.ts'
import { commitTo } from '../test-stores.contract.ts'
import { safeSettings } from './database.ts'
import { migrations } from './migrations/migrate.ts'
import { newFile, openAt, tamper } from './temporary-store.contract.ts'

const modeOf = (path: string): number => statSync(path).mode & 0o777

describe('opening a store', () => {
  it('creates private files', async () => {
    const file = newFile()

    const store = openAt(file)
    await commitTo(store, commitOf([presentChange(sample({ id: 'b1' }))]))

    expect(modeOf(dirname(file))).toBe(0o700)
    for (const suffix of ['', '-wal', '-shm']) expect(modeOf(file + suffix)).toBe(0o600)
    await store.close()
  })

  it('removes the file with which older versions reserved space, unless opened read-only', async () => {
    const file = newFile()
    await openAt(file).close()
    writeFileSync(`${file}-reserve`, 'space')

    await openAt(file, { readonly: true }).close()
    const isKept = existsSync(`${file}-reserve`)
    await openAt(file).close()

    expect([isKept, existsSync(`${file}-reserve`)]).toEqual([true, false])
  })

  it('leaves an existing directory unchanged', async () => {
    const file = newFile()
    mkdirSync(dirname(file), { recursive: true })
    chmodSync(dirname(file), 0o755)

    await openAt(file).close()

    expect(modeOf(dirname(file))).toBe(0o755)
  })

  it('applies every migration once', async () => {
    const file = newFile()
    await openAt(file).close()
    await openAt(file).close()

    const db = new DatabaseSync(file, { readOnly: true })
    const applied = db.prepare('SELECT number, name FROM migrations').all()
    expect(applied).toEqual(migrations.map((name, index) => ({ number: index + 1, name })))
    expect(columnOf(db, 'PRAGMA user_version')[0]).toBe(migrations.length)
    db.close()
  })

  it.each([-1, 1_000])('refuses a store with the unknown schema %i', async (version) => {
    const file = newFile()
    await openAt(file).close()
    tamper(file, `PRAGMA user_version = ${version}`)

    expect(() => openAt(file)).toThrow(
      expect.objectContaining({ code: 'invalid', message: expect.stringContaining(`schema ${version}`) }),
    )
  })

  it('refuses a store of a newer version, with the reason', async () => {
    const file = newFile()
    await openAt(file).close()
    tamper(file, `PRAGMA user_version = ${migrations.length + 1}`)

    expect(() => openAt(file)).toThrow(`this version of Credence knows schemas up to ${migrations.length}`)
  })

  it('refuses a store without one of its indexes', async () => {
    const file = newFile()
    await openAt(file).close()
    tamper(file, 'DROP INDEX turns_by_time')

    expect(() => openAt(file)).toThrow('turns_by_time missing')
  })

  it('refuses a store whose header has another auto_vacuum', async () => {
    const file = newFile()
    await openAt(file).close()
    tamper(file, 'PRAGMA auto_vacuum = FULL; VACUUM')

    expect(() => openAt(file)).toThrow('its header has auto_vacuum 1, not 0')
  })

  it('syncs to disk on every commit, also when opened again', async () => {
    const file = newFile()
    for (let time = 0; time < 2; time += 1) {
      const store = openAt(file)
      await store.commit(commitOf([presentChange(sample({ id: `b${time}` }))]))
      const settings = (await store.verify()).find(({ check }) => check === 'settings')

      expect(settings).toMatchObject({ ok: true })
      await store.close()
    }
    expect(safeSettings).toEqual(
      expect.arrayContaining([
        ['journal_mode', 'wal'],
        ['synchronous', 2],
      ]),
    )
  })

  it('read-only creates and writes nothing', async () => {
    const file = newFile()
    expect(() => openAt(file, { readonly: true })).toThrow(expect.objectContaining({ code: 'not_found' }))
    const store = openAt(file)
    await commitTo(store, commitOf([presentChange(sample({ id: 'b1' }))]))

    const reader = openAt(file, { readonly: true })

    expect((await reader.get('ada', 'b1'))?.id).toBe('b1')
    await commitTo(store, commitOf([presentChange(sample({ id: 'b2' }))]))
    expect((await reader.get('ada', 'b2'))?.id).toBe('b2')
    await expect(reader.commit(commitOf([]))).rejects.toMatchObject({ code: 'unavailable' })
    await reader.close()
    await store.close()
  })

  it('refuses a store that was emptied or deleted, and starts a new one if its journal head is gone too', async () => {
    const file = newFile()
    const store = openAt(file)
    await commitTo(store, commitOf([presentChange(sample({ id: 'b1' }))]))
    await store.close()

    for (const remove of [() => truncateSync(file), () => rmSync(file)]) {
      remove()
      for (const readonly of [false, true])
        expect(() => openAt(file, { readonly })).toThrow(
          expect.objectContaining({ code: 'invalid', hint: expect.stringContaining('set-aside') }),
        )
    }
    rmSync(`${file}-head`)
    const anew = openAt(file)

    expect(await anew.get('ada', 'b1')).toBeNull()
    await anew.close()
  })

  it('reports an error once it is closed', async () => {
    const store = openAt(newFile())
    await store.close()

    await expect(store.get('ada', 'b1')).rejects.toMatchObject({ code: 'unavailable' })
  })
})

describe('an open store', () => {
  it('immediately sees writes of another connection', async () => {
    const file = newFile()
    const one = openAt(file)
    const other = openAt(file)
    const belief = sample({ id: 'b1', name: 'Redis' })
    const known = sample({ id: 'b0', content: 'Before.' })
    const view = { user: 'ada', agent: null, scopes: belief.scopes }
    await commitTo(one, commitOf([presentChange(known)]))
    expect((await other.get('ada', 'b0'))?.content).toBe('Before.')
    // Reads before the change, so that `other` may cache the empty answers.
    await Promise.all([other.get('ada', 'b1'), other.formLengths('ada', ['redis']), other.postings(view, ['redis'])])
    await other.wordsNear('ada', ['rediss'])

    await commitTo(one, commitOf([presentChange(belief), presentChange(nextVersion(known, { content: 'After.' }))]))

    expect((await other.get('ada', 'b0'))?.content).toBe('After.')
    expect((await other.get('ada', 'b1'))?.name).toBe('Redis')
    expect([...(await other.formLengths('ada', ['redis']))]).toEqual([['redis', [1]]])
    expect((await other.postings(view, ['redis'])).size).toBe(1)
    expect([...(await other.wordsNear('ada', ['rediss']))]).toEqual([['rediss', ['redis']]])
    await one.close()
    await other.close()
  })

  const eventsIn = (file: string): number => {
    const db = new DatabaseSync(file, { readOnly: true })
    const count = columnOf<number>(db, 'SELECT count(*) FROM events')[0]
    db.close()
    return Number(count)
  }

  it('reads one state in a snapshot while another connection writes, and the newest state afterwards', async () => {
    const file = newFile()
    const one = openAt(file)
    const other = openAt(file)
    const belief = sample({ id: 'b1', content: 'Before.' })
    await commitTo(one, commitOf([presentChange(belief)]))

    const seen = await other.withSnapshot(async () => {
      const before = await other.get('ada', 'b1')
      const change = commitTo(one, commitOf([presentChange(nextVersion(belief, { content: 'After.' }))]))
      // Awaiting the commit would end the snapshot.
      while (eventsIn(file) < 2) await Promise.resolve()
      const after = await other.get('ada', 'b1')
      await change
      return [before?.content, after?.content]
    })

    expect(seen).toEqual(['Before.', 'Before.'])
    expect((await other.get('ada', 'b1'))?.content).toBe('After.')
    await one.close()
    await other.close()
  })

  it('finds every phrase of a word that has become common', async () => {
    const store = openAt(newFile())
    const names = ['main', 'main square', 'main square fountain', 'mains', 'mainly']
    for (const [index, name] of names.entries())
      await commitTo(store, commitOf([presentChange(sample({ id: `b${index}`, name }))]))
    const view = { user: 'ada', agent: null, scopes: sample({ id: 'any' }).scopes }
    const found = async (message: string) =>
      (await linkMessage(message, view, store)).links.map((link) => link.posting.beliefId).sort()

    const first = await found('the main square fountain')
    for (let time = 0; time < 6; time += 1) expect(await found('the main square fountain')).toEqual(first)

    expect(first).toEqual(['b0', 'b1', 'b2', 'b3'])
    await store.close()
  })

  it('refuses to write to a file that was replaced or deleted', async () => {
    const file = newFile()
    const store = openAt(file)
    await commitTo(store, commitOf([presentChange(sample({ id: 'b1' }))]))
    renameSync(file, `${file}.moved`)

    const write = store.commit(commitOf([presentChange(sample({ id: 'b2' }))]))

    await expect(write).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('moved') })
    renameSync(`${file}.moved`, file)
    await commitTo(store, commitOf([presentChange(sample({ id: 'b2' }))]))
    rmSync(join(`${file}-wal`))
    await expect(store.commit(commitOf([]))).rejects.toMatchObject({ code: 'unavailable' })
    await store.close()
  })

  it('stops waiting for a connection that does not finish', async () => {
    const file = newFile()
    const store = openAt(file, { busyTimeoutMs: 20 })
    const busy = new DatabaseSync(file)
    busy.exec('BEGIN IMMEDIATE')

    await expect(store.commit(commitOf([]))).rejects.toMatchObject({ code: 'unavailable' })

    busy.exec('ROLLBACK')
    busy.close()
    expect((await store.commit(commitOf([]))).outcome).toBe('committed')
    await store.close()
  })
})
