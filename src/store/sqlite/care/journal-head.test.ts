import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { commitOf, presentChange, sample } from '../../sample-beliefs.contract.ts'
import { commitTo } from '../../test-stores.contract.ts'
import { setAsideCorruptStore } from '../store-file.ts'
import { newFile, openAt, tamper } from '../temporary-store.contract.ts'

const headOf = (file: string) => JSON.parse(readFileSync(`${file}-head`, 'utf8'))

/** A closed store with this many events, each with one new belief. */
async function storeWith(events: number): Promise<string> {
  const file = newFile()
  const store = openAt(file)
  for (let number = 1; number <= events; number += 1)
    await commitTo(store, commitOf([presentChange(sample({ id: `b${number}`, name: `Name ${number}` }))]))
  await store.close()
  return file
}

/** Removes the newest events from the journal, and with `effects` also the beliefs that they created. */
function truncate(file: string, after: number, { effects }: { readonly effects: boolean }): void {
  const triggers = ['events_are_never_deleted', 'changes_are_never_deleted', 'turns_are_never_deleted']
  tamper(
    file,
    'PRAGMA foreign_keys = OFF',
    ...triggers.map((trigger) => `DROP TRIGGER ${trigger}`),
    `DELETE FROM changes WHERE event > ${after}`,
    `DELETE FROM events WHERE number > ${after}`,
    ...(effects ? [`UPDATE derivation SET analysis = 'other'`] : []),
  )
}

async function journalFinding(file: string) {
  const store = openAt(file)
  const finding = (await store.verify()).find(({ check }) => check === 'journal')
  await store.close()
  return finding
}

describe('the head of a journal, in a file next to the store,', () => {
  it('names the newest event after every commit, and only its owner may read it', async () => {
    const file = await storeWith(3)
    const store = openAt(file)

    expect(headOf(file)).toEqual(await store.head())
    expect(statSync(`${file}-head`).mode & 0o777).toBe(0o600)
    await store.close()
  })

  it('shows that events were cut off, however many, even after more have been written', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 4 }), fc.nat({ max: 7 }), async (kept, more) => {
        const file = await storeWith(5)
        truncate(file, kept, { effects: false })
        const store = openAt(file)
        for (let number = 0; number < more; number += 1) {
          // New names, because the names of the old beliefs are still taken.
          await commitTo(store, commitOf([presentChange(sample({ id: `c${number}`, name: `Other ${number}` }))]))
        }
        await store.close()

        const finding = await journalFinding(file)

        expect(finding).toMatchObject({ ok: false })
        expect(finding?.detail).toMatch(/missing|not the event that was committed/)
      }),
      { numRuns: 12 },
    )
  })

  it('keeps a rebuild from removing the beliefs of the missing events', async () => {
    const file = await storeWith(3)
    truncate(file, 1, { effects: false })
    const store = openAt(file)

    await expect(store.rebuild()).rejects.toMatchObject({ code: 'conflict', hint: expect.stringContaining('backup') })

    expect(await store.idsStartingWith('ada', 'b3', 1)).toEqual(['b3'])
    await store.close()
  })

  it('keeps another version from deriving the tables without them', async () => {
    const file = await storeWith(3)
    truncate(file, 1, { effects: true })
    const store = openAt(file)

    await expect(store.get('ada', 'b3')).rejects.toMatchObject({ code: 'conflict' })
    await store.close()
  })

  it('is set again when the journal is accepted as complete', async () => {
    const file = await storeWith(3)
    truncate(file, 1, { effects: false })
    const store = openAt(file)

    await store.anchorJournal()
    await store.rebuild()

    expect(headOf(file)).toEqual(await store.head())
    expect((await store.verify()).filter(({ ok }) => !ok)).toEqual([])
    expect(await store.get('ada', 'b3')).toBeNull()
    await store.close()
  })

  it('of an empty journal matches every journal', async () => {
    const file = await storeWith(0)
    const store = openAt(file)
    await store.anchorJournal()

    expect((await store.verify()).filter(({ ok }) => !ok)).toEqual([])
    await commitTo(store, commitOf([presentChange(sample({ id: 'b1' }))]))
    expect(headOf(file)).toEqual(await store.head())
    await store.close()
  })

  it('may lag behind after a crash, and may be missing', async () => {
    const file = await storeWith(1)
    const early = readFileSync(`${file}-head`)
    const store = openAt(file)
    await commitTo(store, commitOf([presentChange(sample({ id: 'b2', name: 'Name 2' }))]))
    await store.close()

    for (const restore of [
      () => writeFileSync(`${file}-head`, early),
      () => rmSync(`${file}-head`),
      () => writeFileSync(`${file}-head`, ''),
    ]) {
      restore()
      expect(await journalFinding(file)).toMatchObject({ ok: true })
    }
    const again = openAt(file)
    await commitTo(again, commitOf([presentChange(sample({ id: 'b3', name: 'Name 3' }))]))
    expect(headOf(file)).toEqual(await again.head())
    await again.close()
  })

  it('is behind the journal, never ahead, if the process dies between a commit and writing it', async () => {
    const file = await storeWith(2)
    const store = openAt(file)
    // A directory in place of the file makes writing fail.
    rmSync(`${file}-head`)
    mkdirSync(`${file}-head`)
    await commitTo(store, commitOf([presentChange(sample({ id: 'b3', name: 'Name 3' }))]))
    rmSync(`${file}-head`, { recursive: true })

    expect((await store.verify()).filter(({ ok }) => !ok)).toEqual([])
    await commitTo(store, commitOf([presentChange(sample({ id: 'b4', name: 'Name 4' }))]))
    expect(headOf(file)).toEqual(await store.head())
    await store.close()
  })

  it('of an older version, which is shorter, is read and replaced', async () => {
    const file = await storeWith(2)
    writeFileSync(`${file}-head`, `${JSON.stringify(headOf(file))}\n`)
    truncate(file, 1, { effects: false })
    expect(await journalFinding(file)).toMatchObject({ ok: false })

    const store = openAt(file)
    await store.anchorJournal()

    expect(headOf(file)).toEqual(await store.head())
    await store.close()
  })

  it('is never ahead of the journal, with any number of writers', async () => {
    const file = await storeWith(1)
    const stores = [openAt(file), openAt(file)]
    for (let round = 0; round < 20; round += 1) {
      await Promise.all(
        stores.map((store, index) =>
          commitTo(store, commitOf([presentChange(sample({ id: `r${round}-${index}`, name: `R ${round} ${index}` }))])),
        ),
      )
      const { number, hash } = headOf(file)
      expect((await stores[0]?.event('ada', number))?.hash).toBe(hash)
    }
    for (const store of stores) await store.close()
  })

  it('that cannot be read is reported and not changed', async () => {
    const file = await storeWith(2)
    writeFileSync(`${file}-head`, 'not a head')
    const store = openAt(file)
    await commitTo(store, commitOf([presentChange(sample({ id: 'b3', name: 'Name 3' }))]))
    await store.close()

    expect(await journalFinding(file)).toMatchObject({ ok: false, detail: expect.stringContaining('cannot be read') })
    expect(readFileSync(`${file}-head`, 'utf8')).toBe('not a head')
  })

  it('is moved with a store that is set aside', async () => {
    const file = await storeWith(2)

    const aside = setAsideCorruptStore(file)

    expect(existsSync(`${file}-head`)).toBe(false)
    expect(existsSync(`${aside}-head`)).toBe(true)
  })
})
