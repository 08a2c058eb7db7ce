import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../../test/temporary-directory.ts'
import type { Turn } from '../beliefs/turn.ts'
import { memoryFrom } from '../memory/memory.ts'
import { openPorts as openPortsIn } from '../open-memory.ts'
import { openServer } from '../open-server.ts'

const openPorts = (dir: string, address: string | undefined) =>
  openPortsIn(dir, address === undefined ? {} : { server: () => openServer(dir, address) })

const standpoint = {
  user: 'local',
  scopes: ['project:one'],
  agent: null,
  author: { actor: 'person', origin: 'test' },
} as const

/** Tests that every store counts in the same way. `addressOf` returns the address of an empty PostgreSQL store; undefined tests SQLite. */
export function describeRecallCounts(name: string, addressOf: () => Promise<string | undefined>): void {
  describe(name, () => {
    it('are stored as numbers, outside the journal, and do not change the results of recall', async () => {
      using directory = temporaryDirectory()
      const store = await addressOf()
      const ports = openPorts(directory.path, store)
      const memory = memoryFrom(ports, standpoint)
      const { belief } = await memory.remember({ name: 'Redis', content: 'On port 6380.' })
      const head = await ports.store.head()
      const first = await memory.recall('Where is Redis?')
      await memory.recall('Hello there')
      await memory.recall('Why Redis?', { nearMisses: true })
      await ports.counter?.flush()

      expect((await ports.counts?.recallCounts('local', [belief.id, 'unknown']))?.get(belief.id)).toMatchObject({
        count: 1,
      })
      expect(await ports.counts?.recallDays('local')).toMatchObject([{ recalls: 2, silent: 1 }])
      expect(await ports.counts?.growth('local')).toMatchObject([
        { actor: 'person', origin: 'test', scope: 'project:one', beliefs: 1 },
      ])
      expect(await ports.store.head()).toEqual(head)
      expect(await memory.recall('Where is Redis?')).toEqual(first)
      await ports.store.close()
    })

    it('include feedback of the person on beliefs and turns, which forgetting removes', async () => {
      using directory = temporaryDirectory()
      const ports = openPorts(directory.path, await addressOf())
      const memory = memoryFrom(ports, standpoint)
      const { belief } = await memory.remember({ name: 'Redis', content: 'On port 6380.' })
      await memory.hear({ text: 'I rented a kayak near Voss.', session: 's' }, { learn: 'nothing' })
      const [turn] = (await memory.turns()).items as [Turn]
      const head = await ports.store.head()
      const before = await memory.recall('Where is Redis?')

      await memory.giveFeedback('redis', 'useful')
      await memory.giveFeedback(belief.id, 'not-useful')
      expect(await memory.giveFeedback(belief.id, 'useful')).toMatchObject({ useful: 2, notUseful: 1, belief })
      expect(await memory.giveFeedback(turn.id, 'not-useful')).toMatchObject({ useful: 0, notUseful: 1, turn })
      expect(new Set((await memory.feedback()).map(({ id }) => id))).toEqual(new Set([belief.id, turn.id]))
      expect((await memory.why('Where is Redis?', belief.id)).feedback).toMatchObject({ useful: 2, notUseful: 1 })
      expect((await memory.whyTurn('Where is the kayak?', turn.id)).feedback).toMatchObject({ useful: 0, notUseful: 1 })
      expect(await ports.store.head()).toEqual(head)
      expect(await memory.recall('Where is Redis?')).toEqual(before)
      // Ignores `settings`, which reports that the PostgreSQL server of the tests does not wait for the disk.
      expect((await ports.store.verify()).filter(({ ok, check }) => !ok && check !== 'settings')).toEqual([])

      await expect(memory.giveFeedback('nothing here', 'useful')).rejects.toMatchObject({ code: 'not_found' })
      const agent = memoryFrom(ports, { ...standpoint, author: { actor: 'agent', origin: 'test' } })
      await expect(agent.giveFeedback(belief.id, 'useful')).rejects.toMatchObject({ code: 'forbidden' })
      const other = memoryFrom(ports, { ...standpoint, user: 'other' })
      expect(await other.feedback()).toEqual([])

      await memory.forget(belief.id)
      await memory.forgetTurns({ turn: turn.id })
      expect(await ports.counts?.feedback('local', null)).toEqual([])
      await ports.store.close()
    })

    it('are written when the store is closed, and sort and filter a list', async () => {
      using directory = temporaryDirectory()
      const store = await addressOf()
      const before = memoryFrom(openPorts(directory.path, store), standpoint)
      for (const name of ['Alpha', 'Beta', 'Gamma']) await before.remember({ name, content: `About ${name}.` })
      await before.recall('Tell me about Beta')
      await before.close()

      const after = memoryFrom(openPorts(directory.path, store), standpoint)
      const names = async (options: Parameters<typeof after.list>[0]) =>
        (await after.list(options)).items.map(({ name }) => name)
      expect((await names({ order: 'recalled' }))[0]).toBe('Beta')
      expect(await names({ order: 'name' })).toEqual(['Alpha', 'Beta', 'Gamma'])
      expect((await names({ recalled: false })).sort()).toEqual(['Alpha', 'Gamma'])
      expect(await names({ recalled: true })).toEqual(['Beta'])
      await after.close()
    })
  })
}
