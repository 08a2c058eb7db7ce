import { describe, expect, it } from 'vitest'
import { about, agent, tell } from '../../test/memory/fixtures.ts'
import { ports } from '../../test/recall/fixtures.ts'
import { correct } from './change/correct.ts'
import { resolve } from './change/resolve.ts'
import { findBeliefs, type ListRequest, listBeliefs } from './list.ts'

const filled = async () => {
  const memory = ports()
  await tell(memory, 'db', 'MySQL', { pinned: true })
  await correct(memory, { ...about('db'), content: 'Postgres' })
  await tell(memory, 'db', 'Oracle', { author: agent })
  await tell(memory, 'tone', 'Short', { type: 'preference', subtype: 'style', scopes: ['domain:prose'] })
  await tell(memory, 'guess', 'Works at night', { author: agent, status: 'inferred' })
  await tell(memory, 'hosting', 'Where?', { type: 'open_question' })
  await resolve(memory, about('hosting'))
  return memory
}
const contents = async (request: Partial<ListRequest>) =>
  (await listBeliefs(await filled(), { user: 'ann', ...request })).items.map(({ content }) => content)

describe('the list of beliefs', () => {
  it('contains everything, most recently updated first', async () => {
    expect(await contents({})).toEqual(['Where?', 'Works at night', 'Short', 'Oracle', 'MySQL', 'Postgres'])
  })

  it('can be filtered by scope, type, status, pin, currency and proposal', async () => {
    expect(await contents({ scopes: ['domain:prose '] })).toEqual(['Short'])
    expect(await contents({ types: ['preference', 'open_question'] })).toEqual(['Where?', 'Short'])
    expect(await contents({ statuses: ['superseded'] })).toEqual(['MySQL'])
    expect(await contents({ pinned: true, current: true })).toEqual(['Postgres'])
    expect(await contents({ current: false })).toEqual(['Where?', 'Oracle', 'MySQL'])
    expect(await contents({ proposals: true })).toEqual(['Oracle'])
    expect(await contents({ user: 'bob' })).toEqual([])
  })

  it('has pages with the total count', async () => {
    const memory = await filled()
    const page = await listBeliefs(memory, { user: 'ann', limit: 2, offset: 5 })

    expect(page).toMatchObject({ total: 6, items: [{ content: 'Postgres' }] })
  })

  it('refuses an invalid page and an invalid scope', async () => {
    for (const request of [{ limit: 0 }, { limit: 1_001 }, { limit: 1.5 }, { offset: -1 }, { scopes: ['code'] }])
      await expect(contents(request)).rejects.toMatchObject({ code: 'invalid' })
  })
})

describe('finding', () => {
  it('filters like a list, and returns the matching words', async () => {
    const memory = ports()
    await tell(memory, 'redis', 'Sessions are cached.', { pinned: true })
    await tell(memory, 'kafka', 'Events, not sessions.')
    await tell(memory, 'sessions', 'Those of the website.', { scopes: ['project:web'] })
    await correct(memory, { ...about('kafka'), content: 'Events only.' })
    const found = async (more: object = {}) => {
      const { items, total } = await findBeliefs(memory, { user: 'ann', query: 'sessions', ...more })
      return [total, ...items.map(({ belief: { name }, strength }) => `${name} ${strength}`)]
    }

    expect(await found({ current: true })).toEqual([2, 'sessions exact', 'redis possible'])
    expect(await found({ current: false })).toEqual([1, 'kafka possible'])
    expect(await found({ scopes: ['domain:code'], current: true })).toEqual([1, 'redis possible'])
    expect(await found({ pinned: true })).toEqual([1, 'redis possible'])
    expect(await found({ current: true, limit: 1, offset: 1 })).toEqual([2, 'redis possible'])
    expect(await found({ proposals: true })).toEqual([0])
  })

  it('finds words that begin with the last word, which may be incomplete', async () => {
    const memory = await filled()
    const found = async (query: string) => {
      const { items } = await findBeliefs(memory, { user: 'ann', current: true, query })
      return items.map(({ belief: { content }, highlights }) => [content, ...highlights.map(({ text }) => text)])
    }

    expect(await found('postg')).toEqual([['Postgres', 'Postgres']])
    expect(await found('works nig')).toEqual([['Works at night', 'Works', 'night']])
    // Two letters are too few, and a word with a space after it is complete.
    expect(await found('po')).toEqual([])
    expect(await found('postg ')).toEqual([])
  })
})
