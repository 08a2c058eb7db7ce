import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { examine, rebuild } from '../../src/memory/explain/doctor.ts'
import { memoryFrom } from '../../src/memory/memory.ts'
import type { Ports } from '../../src/memory/ports.ts'
import { recall } from '../../src/memory/recall/recall.ts'
import { search } from '../../src/memory/recall/search.ts'
import { openModelStore } from '../../src/store/model-store.contract.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { person, ports } from '../recall/fixtures.ts'
import { temporaryDirectory } from '../temporary-directory.ts'
import { agent, everything } from './fixtures.ts'
import { operations, perform } from './operations.ts'

const random = (count: number): Uint8Array => new Uint8Array(count).fill(7)
const openIn = (dir: string) => openSqliteStore({ file: join(dir, 'state', 'credence.db'), random: randomBytes })
const standpoint = { user: 'ann', scopes: ['domain:code'], agent: null, author: person }

describe('a memory on disk', () => {
  it('goes through every operation on a belief, and is the same when opened again', async () => {
    using directory = temporaryDirectory()
    const made = ports()
    const store = openIn(directory.path)
    const memory = memoryFrom({ ...made, store }, standpoint)
    const asAgent = memoryFrom({ ...made, store }, { ...standpoint, author: agent })

    await memory.remember({ name: 'package manager', content: 'npm', aliases: ['installer'], key: 'k1' })
    await memory.remember({ name: 'package manager', content: 'npm', aliases: ['installer'], key: 'k1' })
    expect((await asAgent.remember({ name: 'Package_Manager', content: 'NPM.' })).outcome).toBe('reinforced')
    expect((await memory.correct('installer', { content: 'pnpm', name: 'pnpm' })).belief.aliases).toContain('installer')
    const wish = await asAgent.remember({ name: 'pnpm', content: 'yarn' })
    expect(wish.outcome).toBe('proposed')
    await memory.reject(wish.belief.id)
    await memory.undo()
    await memory.accept(wish.belief.id)
    expect((await memory.recall('which package manager?')).relevant.map(({ belief }) => belief.content)).toEqual([
      'yarn',
    ])
    await memory.remember({ name: 'hosting', content: 'Where?', type: 'open_question', pinned: true })
    await memory.resolve('hosting', { name: 'home server', content: 'At home' })
    await memory.remember({ name: 'secret', content: 'zebrafish', aliases: ['okapi'], key: 'secret' })
    await asAgent.pin('secret')
    await memory.correct('secret', { content: 'Zebrafish!', name: 'quagga' })
    await memory.forget('quagga')
    const records = Array.from(
      { length: 2_000 },
      (_, at) => `{"id":"r${at}","name":"thing ${at}","content":"No ${at}"}`,
    )
    expect(await memory.import(records.join('\n'), { source: 'things' })).toMatchObject({ added: 2_000 })
    expect(await memory.import(records.join('\n'), { source: 'things' })).toMatchObject({
      unchanged: 2_000,
      events: [],
    })

    expect((await examine({ store }, 'ann')).filter(({ ok }) => !ok)).toEqual([])
    expect((await rebuild({ store })).detail).toMatch(/identical/u)
    const before = await everything({ ...made, store })
    const context = await memory.recall('thing 1234 and the home server, pnpm', { nearMisses: true })
    await memory.close()

    const files = readdirSync(directory.path, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
    for (const { parentPath, name } of files)
      expect(readFileSync(join(parentPath, name), 'latin1')).not.toMatch(/zebrafish|okapi|quagga/iu)
    const reopened = openIn(directory.path)
    const again = memoryFrom({ ...made, store: reopened }, standpoint)
    expect(await everything({ ...made, store: reopened })).toEqual(before)
    expect(await again.recall('thing 1234 and the home server, pnpm', { nearMisses: true })).toEqual(context)
    await again.close()
  })

  it('gives two programs that remember the same name one belief', async () => {
    using directory = temporaryDirectory()
    const stores = [openIn(directory.path), openIn(directory.path)]
    const each = stores.map((store, at): Ports => {
      const made = ports()
      return { ...made, store, newId: () => `${at}-${made.newId()}` }
    })
    const memories = each.map((one) => memoryFrom(one, standpoint))
    await Promise.all(
      Array.from({ length: 20 }, (_, at) => memories[at % 2]?.remember({ name: 'db', content: `word ${at % 4}` })),
    )

    const heads = (await everything(each[0] as Ports)).filter(({ supersededBy }) => supersededBy === null)
    expect(heads).toHaveLength(1)
    expect((await memories[1]?.history('db'))?.chain.at(-1)).toEqual(heads[0])
    await Promise.all(stores.map((store) => store.close()))
  })

  it('answers like one in memory, after any operations', async () => {
    using directory = temporaryDirectory()
    let run = 0
    await fc.assert(
      fc.asyncProperty(operations(), async (all) => {
        run += 1
        const onDisk: Ports = {
          ...ports(),
          store: openSqliteStore({ file: join(directory.path, `${run}`, 'credence.db'), random }),
        }
        const inMemory: Ports = { ...ports(), store: openModelStore({ random }) }
        for (const one of all) expect(await perform(onDisk, one)).toBe(await perform(inMemory, one))

        const answers = async (memory: Ports) => ({
          beliefs: await everything(memory),
          events: await memory.store.events('ann', { limit: 100 }),
          context: await recall(memory, {
            user: 'ann',
            scopes: ['domain:code', 'user:universal'],
            message: 'the db, its cache, pg and storage: which tone of voice?',
            nearMisses: true,
          }),
          hits: await search(memory, {
            user: 'ann',
            query: 'alpha beta gamma rays db',
            includeRetired: true,
            limit: 50,
          }),
        })
        expect(await answers(onDisk)).toEqual(await answers(inMemory))
        await onDisk.store.close()
      }),
      { numRuns: 25 },
    )
  })
})
