import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type AnyStore,
  commitOf,
  erasedChange,
  nextVersion,
  presentChange,
  sample,
} from '../../src/store/sample-beliefs.contract.ts'
import { newFile, openAt } from '../../src/store/sqlite/temporary-store.contract.ts'
import { commitFor, outcomeOf, requests } from '../../src/store/store-agreement.contract.ts'
import { tries } from '../full-counts.ts'
import { recalled, scopes } from './recalled.contract.ts'

/** The hits of full-text searches for at least two of the words, among current or all beliefs, in view or everywhere. */
const foundByText = (store: AnyStore, words: readonly string[], agent: string | null = null) =>
  Promise.all(
    [true, false].flatMap((includeRetired) =>
      [scopes, null].map((inView) =>
        store.matchText({ user: 'ada', agent, scopes: inView, words, atLeast: 2, includeRetired, limit: 100 }),
      ),
    ),
  )

// Words of the names in the histories, in other spellings, with typos, and among other words.
const fragments = [
  'Redis',
  'redis caches',
  'redisCaches',
  'rediss',
  'Redsi',
  'Postgress',
  'PostgreSQLs',
  'postgrse',
  'node.js',
  'nodejs',
  'Node js',
  'deploy-script',
  'deploy scripst',
  'Dr. Vasquez',
  'Dr Vasqez',
  'dr, Vasquez',
  'ONeil',
  '数据库',
  'Creme brulee',
  'creme brulees',
  'C++',
  'kubernets cluster',
  'kubernetes clusters',
  'Kubernetes clustr',
  'release process',
  'Release Processes',
  'relaese process',
  'half (1) plan',
  'and then',
  'the',
  'REDIS',
]
const messages = fc.array(
  fc.array(fc.constantFrom(...fragments), { minLength: 1, maxLength: 8 }).map((parts) => parts.join(' ')),
  { minLength: 1, maxLength: 4 },
)

/** Words of the names and texts in the histories, in the form in which full-text search compares them. */
const textWords = ['redi', 'redis', 'cache', 'postgresql', 'release', 'process', 'use', 'kubernetes', 'cluster']

describe('a process with earlier recalls', () => {
  it('returns the contexts, scores and near misses of a new process, after any history of any process', async () => {
    const runs = tries(40)
    let named = 0
    let found = 0
    await fc.assert(
      fc.asyncProperty(requests, messages, fc.boolean(), async (history, asked, isOwnWrite) => {
        const file = newFile()
        const warm = openAt(file)
        const other = openAt(file)
        const writer = isOwnWrite ? warm : other
        for (const request of history) {
          await outcomeOf(writer, await commitFor(writer, request))
          const fresh = openAt(file)
          for (const agent of [null, 'codex']) {
            for (const message of asked) {
              const expected = await recalled(fresh, message, agent)
              expect(await recalled(warm, message, agent)).toEqual(expected)
              named += expected.relevant.length + (expected.nearMisses?.length ?? 0)
            }
            const expected = await foundByText(fresh, textWords, agent)
            expect(await foundByText(warm, textWords, agent)).toEqual(expected)
            found += expected.flat().length
          }
          await fresh.close()
        }
        await warm.close()
        await other.close()
      }),
      { numRuns: runs },
    )
    // Guards the test: histories without recalled beliefs would prove nothing.
    expect(named).toBeGreaterThan(2 * runs)
    expect(found).toBeGreaterThan(2 * runs)
  }, 600_000)

  it('searches the changes of other processes, and a store whose index was rebuilt', async () => {
    const file = newFile()
    const store = openAt(file)
    const other = openAt(file)
    const words = ['tide', 'noon']
    const tidal = (id: string, scope: string) =>
      sample({ id, name: `Tide ${id}`, content: 'Tides at noon.', scopes: [scope] })
    const last = tidal('c', 'project:ledger')
    // Stored in reverse order of the ids. A new index is built in the order of the ids, so it numbers rows and
    // audiences differently.
    for (const belief of [last, tidal('b', 'project:ledger'), tidal('a', 'project:other')])
      await other.commit(commitOf([presentChange(belief)]))
    const found = async () =>
      (await foundByText(store, words)).map((hits) => hits.map(({ beliefId }) => beliefId).sort())
    const inView = ['b', 'c']
    expect(await found()).toEqual([inView, ['a', ...inView], inView, ['a', ...inView]])

    await other.rebuild()
    expect(await found()).toEqual([inView, ['a', ...inView], inView, ['a', ...inView]])

    await other.commit(commitOf([presentChange(nextVersion(last, { scopes: ['project:other'] }))]))
    expect((await found())[0]).toEqual(['b'])

    await other.commit(commitOf([erasedChange(nextVersion(last, {}), 'erased')]))
    await other.commit(commitOf([presentChange(tidal('d', 'project:ledger'))]))
    expect((await found())[0]).toEqual(['b', 'd'])
    await store.close()
    await other.close()
  })
})
