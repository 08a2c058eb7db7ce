import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openModelStore } from '../model-store.contract.ts'
import { commitOf, erasedChange, fixedRandom, presentChange, sample } from '../sample-beliefs.contract.ts'
import { describeStore } from '../store.contract.ts'
import { describeAgreement } from '../store-agreement.contract.ts'
import { inMemory } from './database.ts'
import { newFile, openAt } from './temporary-store.contract.ts'

const open = () => openAt(newFile())

describeStore('The SQLite store', open)
describeStore('The SQLite store in memory', () => openAt(inMemory))
describeAgreement('The model and the SQLite store', () => openModelStore({ random: fixedRandom }), open)

describe('The SQLite store in memory', () => {
  it('never creates a file', async () => {
    const before = process.cwd()
    const directory = mkdtempSync(join(tmpdir(), 'credence-no-file-'))
    process.chdir(directory)
    try {
      const store = openAt(inMemory)
      const belief = sample({ id: 'b1' })
      await store.commit(commitOf([presentChange(belief)]))
      await store.commit(commitOf([erasedChange(belief, 'erased')], { kind: 'forget' }))
      await store.anchorJournal()
      await store.scrub()
      await store.rebuild()
      await store.close()

      expect(readdirSync(directory)).toEqual([])
    } finally {
      process.chdir(before)
      rmSync(directory, { recursive: true })
    }
  })

  it('is empty each time it is opened', async () => {
    const one = openAt(inMemory)
    const other = openAt(inMemory)
    await one.commit(commitOf([presentChange(sample({ id: 'b1' }))]))

    expect(await other.get('ada', 'b1')).toBeNull()
    expect(await one.get('ada', 'b1')).not.toBeNull()
    await one.close()
    await other.close()
  })

  it('stores people in the same database', async () => {
    const store = openAt(inMemory)
    const access = await store.access()
    await access.addPerson({ name: 'ana', createdAt: '2026-01-01T00:00:00.000Z' })

    expect((await access.people()).map(({ name }) => name)).toEqual(['ana'])
    await store.close()
  })
})
