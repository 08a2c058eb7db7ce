import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Ports } from '../../src/memory/ports.ts'
import { recall } from '../../src/memory/recall/recall.ts'
import { type AnyStore, commitOf, present, sample } from '../../src/store/sample-beliefs.contract.ts'
import { commitFor, outcomeOf, requests } from '../../src/store/store-agreement.contract.ts'

export const residentBytes = 2 ** 26
const scopes = ['project:ledger', 'domain:code/typescript', 'user:universal']
export const view = { user: 'ada', agent: null, scopes }

/** Whether recalls of a user are answered from memory. */
export const hasIndex = (store: AnyStore, user = 'ada'): Promise<boolean> =>
  store.withSnapshot(async () => (await store.resident?.({ ...view, user })) != null)

/** Asks until the index is there. Each turn of the loop makes a part of it. */
export async function untilResident(store: AnyStore, user = 'ada'): Promise<void> {
  for (let turn = 0; turn < 10_000; turn += 1) {
    if (await hasIndex(store, user)) return
    await nextTurn()
  }
  throw new Error('The index was not made.')
}

const portsOf = (store: Ports['store']): Ports => ({ store, now: () => new Date(0), newId: () => 'unused' })

export const recalled = (store: Ports['store'], message: string, agent: string | null, nearMisses = true) =>
  recall(portsOf(store), { user: 'ada', scopes, agent, message, nearMisses })

/** What a search for words anywhere in a belief finds, current beliefs or all, in view or everywhere. */
export const foundByText = (store: AnyStore, words: readonly string[], agent: string | null = null) =>
  Promise.all(
    [true, false].flatMap((includeRetired) =>
      [scopes, null].map((inView) =>
        store.matchText({ user: 'ada', agent, scopes: inView, words, atLeast: 2, includeRetired, limit: 100 }),
      ),
    ),
  )

// Words of the names that the histories give, in other spellings, with typos, and among others.
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

/** Of names and texts in the histories. */
const textWords = ['redi', 'redis', 'cache', 'postgresql', 'release', 'process', 'use', 'kubernetes', 'cluster']

/** Two stores on the same empty data, of which the second keeps indexes in memory. */
type OpenPair = () => Promise<{ readonly stored: AnyStore; readonly inMemory: AnyStore; close(): Promise<void> }>

/** A store that keeps the forms in memory answers like one that asks its tables. */
export function describeResident(name: string, open: OpenPair, runs: number): void {
  describe(name, () => {
    it('gives the contexts, scores and near misses of the index in the store, after any history of any process', async () => {
      let named = 0
      let found = 0
      await fc.assert(
        fc.asyncProperty(requests, messages, fc.boolean(), async (history, asked, isOwnWrite) => {
          const { stored, inMemory, close } = await open()
          const writer = isOwnWrite ? inMemory : stored
          await writer.commit(commitOf([present(sample({ id: 'first' }))]))
          await untilResident(inMemory)
          for (const request of history) {
            await outcomeOf(writer, await commitFor(writer, request))
            for (const message of asked)
              for (const agent of [null, 'codex']) {
                const expected = await recalled(stored, message, agent)
                expect(await recalled(inMemory, message, agent)).toEqual(expected)
                named += expected.relevant.length + (expected.nearMisses?.length ?? 0)
              }
            for (const agent of [null, 'codex']) {
              const expected = await foundByText(stored, textWords, agent)
              expect(await foundByText(inMemory, textWords, agent)).toEqual(expected)
              found += expected.flat().length
            }
          }
          expect(await hasIndex(inMemory)).toBe(true)
          await close()
        }),
        { numRuns: runs },
      )
      // Histories that nothing is recalled from would prove nothing.
      expect(named).toBeGreaterThan(2 * runs)
      expect(found).toBeGreaterThan(2 * runs)
    }, 600_000)

    it('explains typos, plurals and phrases in the same way', async () => {
      const pool = [
        'list',
        'lists',
        'minute',
        'minutes',
        'caches',
        'cache',
        'process',
        'processes',
        'Plots',
        'plot',
        'of',
      ]
      const phrase = fc.array(fc.constantFrom(...pool), { minLength: 1, maxLength: 3 }).map((words) => words.join(' '))
      const written = fc.tuple(fc.constantFrom(...pool), fc.nat(9), fc.nat(3)).map(([word, at, edit]) => {
        if (edit === 0 || at < 2 || at >= word.length) return word
        const middle = edit === 1 ? '' : edit === 2 ? `x${word[at]}` : `${word[at + 1] ?? ''}${word[at]}`
        return word.slice(0, at) + middle + word.slice(at + (edit === 3 ? 2 : 1))
      })
      const message = fc.array(written, { minLength: 1, maxLength: 12 }).map((words) => words.join(' '))
      const forms = fc.array(fc.tuple(phrase, fc.array(phrase, { maxLength: 3 })), { minLength: 1, maxLength: 6 })
      let typos = 0
      await fc.assert(
        fc.asyncProperty(forms, fc.array(message, { minLength: 5, maxLength: 20 }), async (named, asked) => {
          const { stored, inMemory, close } = await open()
          const beliefs = named.map(([name, aliases], index) =>
            sample({ id: `b${index}`, name: `${name} ${index}`, aliases, agent: null, scopes: ['project:ledger'] }),
          )
          // Two keys of one form, of which a typo may mean either.
          beliefs.push(
            sample({ id: 'plural', name: 'unnamed', aliases: ['lists minutes'], scopes: ['project:ledger'] }),
          )
          await stored.commit(commitOf(beliefs.map((belief) => present(belief))))
          await untilResident(inMemory)
          for (const text of [...asked, 'lists minuts']) {
            const expected = await recalled(stored, text, null)
            expect(await recalled(inMemory, text, null)).toEqual(expected)
            typos += expected.relevant
              .flatMap(({ matches }) => matches)
              .filter(({ words }) => words.some(({ typo }) => typo)).length
          }
          await close()
        }),
        { numRuns: Math.ceil(runs * 0.6) },
      )
      expect(typos).toBeGreaterThan(runs / 2)
    }, 600_000)
  })
}
