import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { about, agent, tell } from '../../../test/memory/fixtures.ts'
import { belief, ports, portsWith } from '../../../test/recall/fixtures.ts'
import type { Belief } from '../../beliefs/belief.ts'
import { correct } from '../change/correct.ts'
import { resolve } from '../change/resolve.ts'
import type { Ports } from '../ports.ts'
import type { BeliefRecord } from '../transfer/belief-record.ts'
import { type SearchRequest, search } from './search.ts'

const look = async (memory: Ports, query: string, options: Partial<SearchRequest> = {}) => {
  const { beliefs: hits, total } = await search(memory, { user: 'ann', query, ...options })
  return { hits, total, found: hits.map(({ strength, belief: { name } }) => `${strength} ${name}`) }
}
const stated = (content: string, month: number, fields: Pick<Belief, 'name'> & Partial<Belief>): BeliefRecord => {
  const record = belief({ ...fields, content })
  return { ...record, provenance: { ...record.provenance, at: `2026-0${month}-01T00:00:00.000Z` } }
}
const shelf = () =>
  portsWith(
    belief({ name: 'Redis', aliases: ['valkey'], content: 'Caches sessions', why: 'Keep entries short' }),
    belief({ name: 'sessions', content: 'Live for an hour in Redis', type: 'decision' }),
    belief({ name: 'Postgres', content: 'Keeps the ledger', scopes: ['project:ledger'] }),
    belief({ name: 'private', content: 'Caches tokens', agent: 'codex' }),
    belief({ id: 'bobs', user: 'bob', name: 'Redis', content: 'Caches sessions' }),
  )

describe('search', () => {
  it('finds words in names, aliases, content and why, with whole surface forms first', async () => {
    const memory = await shelf()

    expect((await look(memory, 'redis')).found).toEqual(['exact Redis', 'possible sessions'])
    expect((await look(memory, 'valkey')).found).toEqual(['exact Redis'])
    expect((await look(memory, 'what lives for an hour?')).found).toEqual(['possible sessions'])
    expect((await look(memory, 'entry')).found).toEqual(['possible Redis'])
  })

  it('lists the newest value of a thing before the older ones', async () => {
    const memory = await portsWith(
      stated('The build server is larch.', 1, { name: 'build server' }),
      stated('The build server is birch.', 2, { name: 'build server (2)' }),
      stated('The build server is aspen.', 3, { id: 'aspen', name: 'build server', scopes: ['project:other'] }),
    )

    const { hits } = await look(memory, 'build server', { scopes: ['domain:code'] })

    expect(hits.map(({ belief: { content } }) => content)).toEqual([
      'The build server is birch.',
      'The build server is larch.',
    ])
  })

  it('searches all scopes of the user unless scopes are given, and then also their ancestors', async () => {
    const memory = await shelf()

    expect((await look(memory, 'ledger')).found).toEqual(['possible Postgres'])
    expect((await look(memory, 'ledger', { scopes: ['domain:code'] })).found).toEqual([])
    expect((await look(memory, 'ledger', { scopes: ['project:ledger/api'] })).found).toEqual(['possible Postgres'])
    expect((await look(memory, 'postgres', { scopes: ['domain:code'] })).found).toEqual([])
  })

  it('never shows beliefs of another user or another agent', async () => {
    const memory = await shelf()

    expect((await look(memory, 'caches')).found).toEqual(['possible Redis'])
    expect((await look(memory, 'caches', { agent: 'codex' })).found.sort()).toEqual([
      'possible Redis',
      'possible private',
    ])
    expect((await look(memory, 'private', { agent: 'cursor' })).found).toEqual([])
    expect((await look(memory, 'caches', { user: 'carl' })).total).toBe(0)
  })

  it('returns the positions of the words', async () => {
    const memory = await shelf()
    const { hits } = await look(memory, 'Redis session')
    const redis = hits.find(({ belief: { name } }) => name === 'Redis')

    expect(redis?.highlights).toEqual([
      { field: 'name', start: 0, end: 5, text: 'Redis' },
      { field: 'content', start: 7, end: 15, text: 'sessions' },
    ])
  })

  it('requires at least half of the words', async () => {
    const memory = await shelf()

    expect((await look(memory, 'sessions of elephants')).found).toEqual(['exact sessions', 'possible Redis'])
    expect((await look(memory, 'hour elephants giraffes')).found).toEqual([])
  })

  it('can be filtered by type and status', async () => {
    const memory = await shelf()

    expect((await look(memory, 'redis', { types: ['decision'] })).found).toEqual(['possible sessions'])
    expect((await look(memory, 'redis', { statuses: ['inferred'] })).found).toEqual([])
  })

  it('excludes superseded, resolved and proposed beliefs unless requested, and ranks a whole form first among them too', async () => {
    const memory = ports()
    await tell(memory, 'linter', 'ESLint', { aliases: ['code checker'] })
    await correct(memory, { ...about('linter'), content: 'Biome', name: 'biome' })
    await tell(memory, 'biome', 'Oxlint', { author: agent })
    await tell(memory, 'hosting', 'Where?', { type: 'open_question' })
    await resolve(memory, about('hosting'))

    expect((await look(memory, 'eslint')).total).toBe(0)
    expect((await look(memory, 'hosting')).total).toBe(0)
    expect((await look(memory, 'hosting', { includeRetired: true })).found).toEqual(['exact hosting'])
    expect((await look(memory, 'eslint', { includeRetired: true })).found).toEqual(['possible linter'])
    const all = await look(memory, 'biome linter', { includeRetired: true })
    expect(all.found[0]).toBe('exact biome')
    expect([...all.found].sort()).toEqual(['exact biome', 'exact biome', 'exact linter'])
    expect((await look(memory, 'eslint', { statuses: ['superseded'] })).found).toEqual(['possible linter'])
  })

  it('returns pages', async () => {
    const memory = await portsWith(
      ...Array.from({ length: 25 }, (_, at) => belief({ name: `number ${at}`, content: 'About zebras' })),
    )
    const pages = await Promise.all([0, 10, 20, 30].map((offset) => look(memory, 'zebra', { offset })))

    expect(pages.map(({ hits }) => hits.length)).toEqual([10, 10, 5, 0])
    expect(pages.every(({ total }) => total === 25)).toBe(true)
    expect(new Set(pages.flatMap(({ found }) => found)).size).toBe(25)
  })

  it('finds nothing for an empty query, and refuses an invalid page', async () => {
    const memory = await shelf()

    for (const query of ['', '  ', '?!', '—']) expect(await look(memory, query)).toMatchObject({ total: 0 })
    for (const page of [{ limit: 0 }, { limit: 101 }, { limit: 0.5 }, { offset: -1 }, { scopes: ['code'] }])
      await expect(look(memory, 'redis', page)).rejects.toMatchObject({ code: 'invalid' })
  })

  it('highlights words at their exact positions, for any question', async () => {
    const memory = await shelf()
    const words = fc.constantFrom(
      'redis',
      'Sessions',
      'hour',
      'the',
      'VALKEY',
      'ledger',
      'C++',
      '北京',
      '—',
      '"',
      'entries',
    )
    await fc.assert(
      fc.asyncProperty(fc.array(words, { maxLength: 6 }), async (parts) => {
        const { hits } = await look(memory, parts.join(' '))
        for (const { belief: found, highlights } of hits)
          for (const { field, start, end, text } of highlights) {
            const texts = field === 'alias' ? found.aliases : [found[field]]
            expect(texts.map((whole) => whole.slice(start, end))).toContain(text)
          }
      }),
      { numRuns: 50 },
    )
  })
})
