import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { apiPrefix } from '../../src/http/api/api-app.ts'
import { limitInFlight } from '../../src/http/server-app.ts'
import { host, startTestServer, token } from './test-server.ts'

describe('logging in', () => {
  it('sets a cookie that no script and no other page can use', async () => {
    await using server = await startTestServer()

    const { status, headers } = await server.send('POST', `${apiPrefix}/login`, { as: 'nobody', body: { token } })

    expect(status).toBe(200)
    const cookie = headers.get('set-cookie') ?? ''
    expect(cookie).toMatch(/^credence-\w{1,8}=[\w-]+\.[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/u)
    expect(cookie).not.toContain(token)
    const value = cookie.split(';')[0]?.split('=')[1] ?? ''
    const asToken = { authorization: `Bearer ${value}` }
    expect((await server.send('GET', `${apiPrefix}/health`, { as: 'nobody', headers: asToken })).status).toBe(401)
  })

  it('starts and ends a session of the page', async () => {
    await using server = await startTestServer()

    expect((await server.send('GET', `${apiPrefix}/health`, { as: 'page' })).status).toBe(200)
    const { status, headers } = await server.send('POST', `${apiPrefix}/logout`, { as: 'page' })

    expect(status).toBe(200)
    expect(headers.get('set-cookie')).toMatch(/=; Path=\/; Max-Age=0; HttpOnly; SameSite=Strict$/u)
    // A copy of the cookie no longer works.
    expect((await server.send('GET', `${apiPrefix}/health`, { as: 'page' })).status).toBe(401)
  })

  it('accepts no cookie that this server did not set', async () => {
    await using server = await startTestServer()
    const { headers } = await server.send('POST', `${apiPrefix}/login`, { as: 'nobody', body: { token } })
    const [made = ''] = (headers.get('set-cookie') ?? '').split(';')
    const [name = '', value = ''] = made.split('=')
    const [session = '', proof = ''] = value.split('.')
    const statusOf = async (cookie: string) =>
      (await server.send('GET', `${apiPrefix}/health`, { as: 'nobody', headers: { cookie } })).status

    expect(await statusOf(made)).toBe(200)
    for (const forged of [session, `${session}.`, `z${session}.${proof}`, `${session}.${proof.toLowerCase()}a`])
      expect(await statusOf(`${name}=${forged}`), forged).toBe(401)
  })

  it('ends a session after 30 days', async () => {
    const day = 86_400_000
    let now = Date.parse('2026-03-01T00:00:00Z')
    await using server = await startTestServer({ server: { now: () => new Date(now) } })
    const statusAfter = async (ms: number) => {
      now += ms
      return (await server.send('GET', `${apiPrefix}/health`, { as: 'page' })).status
    }

    expect([await statusAfter(0), await statusAfter(30 * day), await statusAfter(1)]).toEqual([200, 200, 401])
    expect((await server.send('GET', `${apiPrefix}/health`)).status).toBe(200)
  })

  it('delays further attempts after many wrong tokens; the right token still works', async () => {
    let now = 0
    await using server = await startTestServer({ server: { clock: () => now } })
    const attempt = (given: string) =>
      server.send('POST', `${apiPrefix}/login`, { as: 'nobody', body: { token: given } })

    for (let times = 0; times < 10; times += 1) expect((await attempt('wrong')).status).toBe(401)
    const { status, headers, body } = await attempt('wrong')
    expect({ status, code: body.error.code }).toEqual({ status: 429, code: 'too_many' })
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await attempt(token)).status).toBe(200)
    expect((await server.send('GET', `${apiPrefix}/health`)).status).toBe(200)
    now = 61_000

    expect((await attempt('wrong')).status).toBe(401)
  })
})

describe('200 forms of a key', () => {
  it('are refused, except the right ones', async () => {
    let minutes = 0
    await using server = await startTestServer({ server: { clock: () => ++minutes * 61_000 } })
    const wrong = [
      ...Array.from({ length: 60 }, (_, length) => `Bearer ${token.slice(0, length % 43)}`),
      ...Array.from({ length: 60 }, (_, at) => `Bearer ${token.slice(0, at % 43)}*${token.slice((at % 43) + 1)}`),
      ...['Basic', 'Token', 'bearer:', 'Bearer:', 'Digest', ''].map((scheme) => `${scheme} ${token}`),
      'Bearer null',
      'Bearer undefined',
      'Bearer [object Object]',
      'Bearer ',
      'Bearer',
      `Bearer ${token} ${token}`,
      ...[token.toUpperCase(), token.toLowerCase(), `${token}\u00a0`, `${token}%00`, `"${token}"`].map(
        (one) => `Bearer ${one}`,
      ),
      ...Array.from({ length: 65 }, (_, size) => `Bearer ${'a'.repeat(size * 3)}`),
    ].filter((one) => one !== `Bearer ${token}`)

    expect(wrong.length).toBeGreaterThan(195)
    for (const authorization of wrong) {
      const { status } = await server.send('GET', `${apiPrefix}/health`, { as: 'nobody', headers: { authorization } })
      expect([401, 429], authorization).toContain(status)
    }
    for (const authorization of [`Bearer ${token}`, `bearer  ${token}`]) {
      const { status } = await server.send('GET', `${apiPrefix}/health`, { as: 'nobody', headers: { authorization } })
      expect(status).toBe(200)
    }
  })
})

describe('MCP', () => {
  it('requires the same token', async () => {
    await using server = await startTestServer({ mcpHandler: async (request) => new Response(`mcp ${request.method}`) })

    expect((await server.send('POST', '/mcp', { as: 'nobody', text: '{}' })).status).toBe(401)
    expect((await server.send('POST', '/mcp', { headers: { origin: 'http://evil.example' } })).status).toBe(403)
    expect((await server.send('POST', '/mcp', { headers: { host: 'evil.example' } })).status).toBe(403)
    expect((await server.send('POST', '/mcp', { text: '{}' })).text).toBe('mcp POST')
  })
})

describe('a flood', () => {
  it('above the limit gets a retry time, and all other requests are answered', async () => {
    const app = new Hono()
    const waiting: (() => void)[] = []
    app.use(limitInFlight(2))
    app.get('/', async (context) => {
      await new Promise<void>((resolve) => waiting.push(resolve))
      return context.text('done')
    })

    const first = [app.request('/'), app.request('/')]
    const third = await app.request('/')
    for (const go of waiting) go()

    expect(third.status).toBe(429)
    expect(third.headers.get('retry-after')).toBe('1')
    for (const answer of first) expect((await answer).status).toBe(200)
    const again = app.request('/')
    for (const go of waiting) go()
    await new Promise(setImmediate)
    for (const go of waiting) go()
    expect((await again).status).toBe(200)
  })
})

describe('the files of the dashboard', () => {
  const built = async () => {
    const server = await startTestServer()
    const { webDirectory } = server
    mkdirSync(join(webDirectory, 'assets'))
    writeFileSync(join(webDirectory, 'index.html'), '<!doctype html><title>here</title>')
    writeFileSync(join(webDirectory, 'assets', 'index-AbC12_-9.js'), 'export {}')
    writeFileSync(join(webDirectory, 'theme.js'), '')
    writeFileSync(join(webDirectory, '.secret.js'), 'secret')
    writeFileSync(join(webDirectory, '..', 'outside.js'), 'secret')
    return server
  }

  it('need no token, because they contain no data', async () => {
    await using server = await built()
    const get = (path: string) => server.send('GET', path, { as: 'nobody' })

    for (const path of [
      '/',
      '/beliefs',
      '/beliefs/b-123',
      '/evaluation/runs/x',
      '/evaluation/runs/v1.2/cases/a.json',
    ]) {
      const { status, text, headers } = await get(path)
      expect({ status, text }).toEqual({ status: 200, text: '<!doctype html><title>here</title>' })
      expect(headers.get('cache-control')).toBe('no-cache')
      expect(headers.get('content-security-policy')).toContain("default-src 'none'")
      expect(headers.get('content-security-policy')).not.toContain('unsafe')
    }
    const asset = await get('/assets/index-AbC12_-9.js')
    expect(asset.headers.get('cache-control')).toContain('immutable')
    expect(asset.headers.get('content-type')).toContain('text/javascript')
    expect((await get('/theme.js')).headers.get('cache-control')).toBe('no-cache')
    expect((await server.send('GET', '/', { as: 'nobody', headers: { host: 'evil.example' } })).status).toBe(403)
    expect((await server.send('POST', '/', { as: 'nobody' })).status).toBe(405)
  })

  it.each([
    '/../outside.js',
    '/%2e%2e/outside.js',
    '/..%2foutside.js',
    '/assets/..%2f..%2foutside.js',
    '/assets/%2e%2e/%2e%2e/outside.js',
    '/..%5coutside.js',
    '/.secret.js',
    '/assets//index-AbC12_-9.js',
    '/%00index.html',
    '/%',
    '/nothing.js',
    '/assets/index.exe',
    `/${'a'.repeat(5_000)}.js`,
  ])('do not include %s', async (path) => {
    await using server = await built()

    const { status, text } = await server.send('GET', path, { as: 'nobody' })

    expect(status).toBe(404)
    expect(text).not.toContain('secret')
  })

  it('are reported as missing if they were not built', async () => {
    await using server = await startTestServer()

    const { status, text } = await server.send('GET', '/', { as: 'nobody' })

    expect(status).toBe(503)
    expect(text).toContain('npm run build:web')
  })
})

describe('answers of the API', () => {
  it('are compressed for browsers, and uncompressed for programs', async () => {
    await using server = await startTestServer()
    const encoding = async (headers: Readonly<Record<string, string>>) => {
      const all = { host, authorization: `Bearer ${token}`, ...headers }
      const { body, headers: answered } = await server.app.request(`${apiPrefix}/beliefs`, { headers: all })
      await body?.cancel()
      return answered.get('content-encoding')
    }

    expect(await encoding({ 'accept-encoding': 'gzip', 'sec-fetch-site': 'same-origin' })).toBe('gzip')
    expect(await encoding({ 'sec-fetch-site': 'same-origin' })).toBeNull()
    expect(await encoding({ 'accept-encoding': 'gzip' })).toBeNull()
  })
})
