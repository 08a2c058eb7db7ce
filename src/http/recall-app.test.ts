import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { bm25System } from '../eval/system/bm25.ts'
import type { System } from '../eval/system/system.ts'
import { inMemory } from '../store/sqlite/database.ts'
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts'
import { recallApp } from './recall-app.ts'

const ours = (): System =>
  bm25System({ openStore: () => openSqliteStore({ file: inMemory, random: randomBytes }), version: 'under test' })

type Found = {
  readonly results: readonly {
    readonly id: string
    readonly score: number
    readonly clauses: readonly { readonly score: number }[]
    readonly metadata: unknown
  }[]
}

function served(system: System = ours()) {
  const bugs: unknown[] = []
  let made = 0
  const app = recallApp({
    system,
    now: () => new Date('2026-01-01'),
    newId: () => `made-${++made}`,
    onBug: (error) => bugs.push(error),
  })
  const send = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const init = { method, headers: { host: 'localhost', ...headers }, ...(body === undefined ? {} : { body: text }) }
    const response = await app.request(path, init)
    // The body has the type of a search answer. Tests that expect a different answer check its form themselves.
    return { status: response.status, headers: response.headers, body: (await response.json()) as Found }
  }
  const search = async (query: string, fields: object = {}): Promise<readonly string[]> => {
    const { body } = await send('POST', '/search', { query, user_id: 'ada', ...fields })
    return body.results.map(({ id }) => id)
  }
  return { send, search, bugs }
}

const tea = { text: 'Tea time is at four.', user_id: 'ada', metadata: { beliefId: 'tea' }, aliases: ['tea time'] }
const coffee = { text: 'Coffee at nine.', user_id: 'ada', metadata: { beliefId: 'coffee' }, aliases: ['espresso'] }

describe('a served memory', () => {
  it('reports its version, and its name if it has one', async () => {
    const { body } = await served().send('GET', '/about')

    expect(body).toEqual({ version: 'under test' })
  })

  it('stores a turn of a conversation as a statement', async () => {
    const { send, search } = served()
    const metadata = {
      beliefId: 's1-0',
      scope: 'project:suite',
      type: 'turn',
      session_id: 's1',
      index: 0,
      speaker: null,
    }

    const { status } = await send('POST', '/add', { ...coffee, metadata })

    expect(status).toBe(200)
    expect(await search('An espresso?', { scopes: ['project:suite'] })).toEqual(['s1-0'])
  })

  it('finds stored beliefs, best first, with the parts of each score', async () => {
    const { send } = served()
    await send('POST', '/add', { ...tea, metadata: { beliefId: 'tea', name: 'tea time', content: 'At four.' } })
    await send('POST', '/add', coffee)

    const { status, body } = await send('POST', '/search', { query: 'espresso at tea time?', user_id: 'ada', limit: 5 })

    expect(status).toBe(200)
    expect(body.results.map(({ id }) => id).sort()).toEqual(['coffee', 'tea'])
    for (const { id, score, clauses, metadata } of body.results) {
      expect(metadata).toEqual({ beliefId: id })
      expect(clauses.reduce((total, clause) => total + clause.score, 0)).toBeCloseTo(score)
    }
    expect(body.results[0]?.score).toBeGreaterThanOrEqual(body.results[1]?.score ?? Number.NaN)
  })

  it('returns at most as many results as requested', async () => {
    const { send, search } = served()
    for (const n of [1, 2, 3])
      await send('POST', '/add', { ...tea, beliefId: `tea-${n}`, text: `Tea time ${n}.`, metadata: { name: `t${n}` } })

    expect(await search('tea time')).toHaveLength(3)
    expect(await search('tea time', { limit: 2 })).toHaveLength(2)
    expect(await search('tea time', { limit: 0 })).toEqual([])
  })

  it('separates users and scopes', async () => {
    const { send, search } = served()
    await send('POST', '/add', { ...tea, metadata: { beliefId: 'tea', scope: 'domain:kitchen' } })

    expect(await search('tea time', { scope: 'domain:kitchen' })).toEqual(['tea'])
    expect(await search('tea time', { scope: 'domain:office', scopes: ['domain:office', 'domain:kitchen'] })).toEqual([
      'tea',
    ])
    expect(await search('tea time', { scope: ['domain:kitchen'] })).toEqual(['tea'])
    expect(await search('tea time', { scope: 'domain:office' })).toEqual([])
    expect(await search('tea time')).toEqual([])
    expect(await search('tea time', { scope: 'domain:kitchen', user_id: 'bob' })).toEqual([])
  })

  it('returns the relevant tier only', async () => {
    const { send, search } = served()
    const about = (fields: object) => ({ ...tea, metadata: { beliefId: 'tea', ...fields } })
    const silent = [
      { pinned: true },
      { superseded_by: 'other' },
      { resolved_at: '2025-01-01' },
      { type: 'open_question' },
    ]

    for (const fields of silent) {
      await send('DELETE', '/reset')
      await send('POST', '/add', about(fields))

      expect(await search('tea time'), JSON.stringify(fields)).toEqual([])
    }
  })

  it('does not let pinned beliefs take the places of results', async () => {
    const { send, search } = served()
    const pin = { ...coffee, metadata: { beliefId: 'coffee', pinned: true } }
    await send('POST', '/add', pin)
    await send('POST', '/add', tea)

    expect(await search('tea time', { limit: 1 })).toEqual(['tea'])
  })

  it.each(['POST /add', 'PUT /update'])('updates the belief if %s has a known id', async (route) => {
    const [method = '', path = ''] = route.split(' ')
    const { send, search } = served()
    await send('POST', '/add', tea)

    await send(method, path, { ...tea, aliases: ['tea time', 'brew'] })

    expect(await search('a brew at tea time')).toEqual(['tea'])
  })

  it('adds a belief if an update has an unknown id', async () => {
    const { send, search } = served()

    await send('PUT', '/update', {
      beliefId: 'tea',
      text: 'Tea time is at four.',
      user_id: 'ada',
      aliases: ['tea time'],
    })

    expect(await search('tea time')).toEqual(['tea'])
  })

  it('distinguishes beliefs that share an alias', async () => {
    const { send, search } = served()
    await send('POST', '/add', { ...tea, metadata: { beliefId: 'm-1' }, text: 'At four.' })
    await send('POST', '/add', { ...tea, metadata: { beliefId: 'm-2' }, text: 'With milk.' })

    expect([...(await search('tea time'))].sort()).toEqual(['m-1', 'm-2'])
  })

  it('treats the later of two beliefs with one name in one scope as current', async () => {
    const { send, search } = served()
    await send('POST', '/add', { ...tea, metadata: { beliefId: 'm-1', name: 'tea time', content: 'At four.' } })
    await send('POST', '/add', { ...tea, metadata: { beliefId: 'm-2', name: 'tea time', content: 'At five.' } })

    expect(await search('tea time')).toEqual(['m-2'])
  })

  it('orders two equal beliefs with the later one first', async () => {
    const { send, search } = served()
    for (const id of ['m-2', 'm-3', 'm-1']) await send('POST', '/add', { ...tea, text: id, metadata: { beliefId: id } })

    expect(await search('tea time')).toEqual(['m-1', 'm-3', 'm-2'])
  })

  it('creates an id for a belief without one, and returns it', async () => {
    const { send, search } = served()

    const { body } = await send('POST', '/add', { text: 'Tea at four.', user_id: 'ada', aliases: ['tea time'] })

    expect(body).toEqual({ id: 'made-1' })
    expect(await search('tea time')).toEqual(['made-1'])
  })

  it('is empty after a reset', async () => {
    const { send, search } = served()
    await send('POST', '/add', coffee)

    expect(await send('DELETE', '/reset')).toMatchObject({ status: 200, body: { ok: true } })

    expect(await search('espresso')).toEqual([])
    await send('PUT', '/update', { beliefId: 'coffee', text: 'At nine.', user_id: 'ada' })
    expect(await search('espresso'), 'not even its aliases are known').toEqual([])
  })
})

describe('a request that is refused', () => {
  it.each([
    ['invalid JSON', '{"text": ', 'not JSON'],
    ['no body', undefined, 'not JSON'],
    ['a body that is not an object', [], 'the body'],
    ['no user', { text: 'x' }, 'user_id'],
    ['no text', { user_id: 'ada' }, 'text'],
    ['an empty text', { user_id: 'ada', text: '' }, 'text: must not be empty'],
    ['invalid aliases', { user_id: 'ada', text: 'x', aliases: 'tea' }, 'aliases'],
    ['invalid metadata', { user_id: 'ada', text: 'x', metadata: [] }, 'metadata'],
    ['an invalid scope', { user_id: 'ada', text: 'x', metadata: { scope: 'office' } }, '"office" is not a scope'],
  ])('has %s', async (_what, body, reason) => {
    const { send } = served()

    expect(await send('POST', '/add', body)).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid', message: expect.stringContaining(reason) } },
    })
  })

  it.each([
    [{ limit: -1 }, 'limit'],
    [{ limit: 1.5 }, 'limit'],
    [{ limit: 1001 }, 'limit'],
    [{ query: 7 }, 'query'],
    [{ scope: 'office' }, '"office" is not a scope'],
  ])('searches with %j', async (fields, reason) => {
    const { send } = served()

    expect(await send('POST', '/search', { query: 'x', user_id: 'ada', ...fields })).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid', message: expect.stringContaining(reason) } },
    })
  })

  it('has a body that is too long, with or without a content length', async () => {
    const { send } = served()
    const body = JSON.stringify({ ...tea, text: 'x'.repeat(1_000_001) })

    expect(await send('POST', '/add', body)).toMatchObject({ status: 413, body: { error: { code: 'invalid' } } })
    expect(await send('POST', '/add', 'x', { 'content-length': '1000001' })).toMatchObject({ status: 413 })
  })

  it('requests a missing route', async () => {
    const { send } = served()

    expect(await send('GET', '/beliefs')).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
    const wrongMethod = await send('GET', '/search')
    expect(wrongMethod).toMatchObject({ status: 405 })
    expect(wrongMethod.headers.get('allow')).toBe('POST')
  })

  it.each([
    ['another host', { host: 'memory.example' }],
    ['a host that begins like a loopback address', { host: '127.0.0.1.example' }],
    ['an invalid host', { host: '::::' }],
    ['a page of another host', { origin: 'https://example.org' }],
    ['a page without a host', { origin: 'null' }],
    ['a page of another local server', { origin: 'http://localhost:3000' }],
    ['a cross-site page without an origin', { 'sec-fetch-site': 'cross-site' }],
  ])('comes from %s', async (_whence, headers) => {
    const { send } = served()

    expect(await send('DELETE', '/reset', undefined, headers)).toMatchObject({
      status: 403,
      body: { error: { code: 'forbidden' } },
    })
  })

  it.each(['localhost:8080', '127.0.0.1', '[::1]:8080', 'LOCALHOST'])('does not come from %s', async (host) => {
    const { send } = served()

    expect(await send('DELETE', '/reset', undefined, { host, origin: `http://${host}` })).toMatchObject({ status: 200 })
  })

  it('causes an unexpected error, whose details are only in the log', async () => {
    const broken: System = { ...ours(), recall: () => Promise.reject(new TypeError('secret detail')) }
    const { send, bugs } = served(broken)

    const { status, body } = await send('POST', '/search', { query: 'x', user_id: 'ada' })

    expect(status).toBe(500)
    expect(JSON.stringify(body)).not.toContain('secret')
    expect(bugs).toEqual([expect.objectContaining({ message: 'secret detail' })])
  })
})
