import { describe, expect, it } from 'vitest'
import { apiPrefix } from '../../src/http/api/api-app.ts'
import { type Endpoint, endpoints, isOfTeams } from '../../src/http/api/endpoints.ts'
import { selfNaming, tools } from '../../src/mcp/memory-mcp.ts'
import type { Field, Fields } from '../../src/operations/field.ts'
import { postgresPrograms, sharedCluster, undurable } from '../../src/store/postgres/cluster.contract.ts'
import { createSandbox } from '../cli/sandbox.ts'
import { servingWith } from './serving.ts'

const timeout = 600_000

/** A belief and a turn that only some callers may see. Their marker is only in the content, so no request contains it. */
type Planted = { readonly marker: string; readonly belief: string; readonly turn: string; readonly session: string }

/** The holder of a token, and the markers that it may see. */
type Holder = { readonly name: string; readonly token: string | null; readonly sees: readonly string[] }

const subject = 'the harbour master'
const scopes = ['project:vault', 'domain:code', 'user:universal', 'team:platform', 'team:rivals']

/** Values of a field that request as much as possible. An unknown path parameter fails the test. */
function fieldValue(name: string, field: Field, target: Planted): unknown {
  switch (field.kind) {
    case 'whole':
      return Math.min(field.max ?? 1, name === 'limit' ? 200 : Math.max(field.min ?? 0, 1))
    case 'number':
      return 1
    case 'flag':
      return true
    case 'choice':
      return field.choices?.[0]
    case 'list':
      return /^scopes?$/u.test(name) ? scopes : undefined
    case 'object':
      return undefined
    case 'text':
      return textOf(name, target)
  }
}

function textOf(name: string, { belief, turn, session }: Planted): string | undefined {
  if (name === 'session') return session
  if (name === 'turn') return turn
  if (name === 'beliefId' || name === 'over') return belief
  if (/^(?:message|q|query|content|text|containing)$/u.test(name)) return `Who is ${subject}?`
  if (name === 'asOf') return new Date().toISOString()
  if (/^(?:name|person|owner|pack|before|after|token|caseId)$/u.test(name)) return 'not-there'
  return undefined
}

type Sent = { readonly method: string; readonly path: string; readonly body: string | null }

/** The requests to an endpoint about one target: with only the required fields, and with every option. */
function requestsTo({ method, path, operation }: Endpoint, target: Planted): readonly Sent[] {
  const { input, query = [] } = operation
  const isInPath = (name: string): boolean => path.includes(`:${name}`)
  const ids = path.startsWith('/turns') ? [target.turn] : [target.belief]
  const numbers = method === 'GET' ? Array.from({ length: 40 }, (_, place) => String(place + 1)) : ['999999']
  const placesOf = (name: string): readonly string[] => {
    if (name === 'id') return ids
    if (name === 'number') return numbers
    const value = textOf(name, target)
    if (value === undefined) throw new Error(`Say which values of :${name} in ${path} the test shall try.`)
    return [value]
  }
  const filled = [...path.matchAll(/:(\w+)/gu)].reduce<readonly string[]>(
    (paths, [whole, name = '']) =>
      paths.flatMap((one) => placesOf(name).map((value) => one.replace(whole, encodeURIComponent(value)))),
    [path],
  )
  const isInAddress = (name: string): boolean => method === 'GET' || method === 'DELETE' || query.includes(name)
  const withFields = (fields: Fields): readonly Sent[] => {
    const values = Object.entries(fields).flatMap(([name, field]) => {
      const value = isInPath(name) ? undefined : fieldValue(name, field, target)
      return value === undefined ? [] : [[name, value] as const]
    })
    const address = new URLSearchParams(
      values.flatMap(([name, value]) =>
        isInAddress(name) ? [value].flat().map((one) => [name, String(one)] as [string, string]) : [],
      ),
    )
    const body = Object.fromEntries(values.filter(([name]) => !isInAddress(name)))
    const hasBody = method !== 'GET' && method !== 'DELETE'
    return filled.map((one) => ({ method, path: `${one}?${address}`, body: hasBody ? JSON.stringify(body) : null }))
  }
  const needed = Object.fromEntries(Object.entries(input).filter(([, { presence }]) => presence === 'needed'))
  const single = Object.entries(input)
    .filter(([name]) => !(name in needed) && !isInPath(name))
    .flatMap(([name, field]) => withFields({ ...needed, [name]: field }))
  return [...withFields(needed), ...(operation.isStream ? [] : single), ...withFields(input)]
}

describe.each([
  ['SQLite', true],
  ['PostgreSQL', postgresPrograms !== null],
] as const)('over %s', (store, isThere) => {
  const cluster = store === 'PostgreSQL' && isThere ? sharedCluster(undurable) : null

  it.skipIf(!isThere)('no route returns a text to a caller who may not see it', { timeout }, async () => {
    using place = createSandbox()
    const address = cluster === null ? [] : ['--store', await (await cluster()).newDatabase()]
    const here = ['--dir', 'memory', ...address]
    const json = (...argv: readonly string[]) => place.json(...argv, ...here)
    const plant = async (marker: string, user: string, scope: string): Promise<Planted> => {
      const session = `talk-of-${user}-${scope.replace(':', '-')}`
      const whose = ['--user', user, '--scope', scope]
      const { belief } = await json('remember', `It is ${marker}.`, '--name', subject, ...whose)
      const heard = await json(
        'hear',
        `Who is ${subject}? It is ${marker}, by the way.`,
        '--session',
        session,
        ...whose,
      )
      return { marker, belief: belief.id, turn: heard.turns[0].turn.id, session }
    }
    const first = await plant('quokkalocal', 'local', 'project:vault')
    const secretOf = async (...argv: readonly string[]): Promise<string> => (await json(...argv)).secret
    const tokens = {
      ana: await secretOf('people', 'add', 'ana'),
      ben: await secretOf('people', 'add', 'ben'),
      cleo: await secretOf('people', 'add', 'cleo'),
      agent: await secretOf('token', 'create', 'ana', '--agent', '--scope', 'domain:code'),
      admin: await secretOf('token', 'create', '--admin'),
    }
    const revoked = await json('token', 'create', 'cleo')
    await json('token', 'revoke', revoked.token.id)
    await json('team', 'create', 'platform', '--owner', 'ana')
    await json('team', 'add-member', 'platform', 'ben', '--role', 'reader')
    await json('team', 'create', 'rivals', '--owner', 'cleo')
    const planted = [
      first,
      await plant('quokkaana', 'ana', 'project:vault'),
      await plant('quokkacode', 'ana', 'domain:code'),
      await plant('quokkaben', 'ben', 'project:vault'),
      await plant('quokkacleo', 'cleo', 'user:universal'),
      await plant('quokkateam', 'ana', 'team:platform'),
      await plant('quokkarivals', 'cleo', 'team:rivals'),
    ]
    // Switches the rate limit off; otherwise it would answer instead of the routes.
    await using server = await servingWith({ CREDENCE_REQUESTS_PER_MINUTE: '0' }, place, ...here)
    const holders: readonly Holder[] = [
      { name: 'nobody', token: null, sees: [] },
      { name: 'a wrong token', token: 'cred_wrong', sees: [] },
      { name: 'a revoked token', token: revoked.secret, sees: [] },
      { name: 'an administrator', token: tokens.admin, sees: [] },
      { name: 'the installation', token: server.token, sees: ['quokkalocal'] },
      { name: 'ana', token: tokens.ana, sees: ['quokkaana', 'quokkacode', 'quokkateam'] },
      { name: "ana's agent", token: tokens.agent, sees: ['quokkacode'] },
      { name: 'ben', token: tokens.ben, sees: ['quokkaben', 'quokkateam'] },
      { name: 'cleo', token: tokens.cleo, sees: ['quokkacleo', 'quokkarivals'] },
    ]
    const routes = Object.values(endpoints)
    const seen = new Map(holders.map(({ name }) => [name, new Set<string>()]))
    const leaks: string[] = []
    const crashes: string[] = []
    let asked = 0
    const ask = async (holder: Holder, sent: Sent, isStream: boolean, headers = {}): Promise<string> => {
      asked += 1
      const stop = new AbortController()
      const response = await fetch(`${server.url}${sent.path}`, {
        method: sent.method,
        signal: stop.signal,
        headers: {
          ...(holder.token === null ? {} : { authorization: `Bearer ${holder.token}` }),
          ...(sent.body === null ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(sent.body === null ? {} : { body: sent.body }),
      })
      const text = isStream && response.ok ? await firstPart(response) : await response.text()
      if (isStream) stop.abort()
      const what = `${holder.name}: ${sent.method} ${sent.path} ${sent.body ?? ''}`
      const isKnown = holder.sees.length > 0
      if (response.status >= 500 || (isKnown && text.includes('requests with this token')))
        crashes.push(`${response.status} ${what}`)
      for (const { marker } of planted.filter((one) => text.includes(one.marker))) {
        seen.get(holder.name)?.add(marker)
        if (!holder.sees.includes(marker)) leaks.push(`${what} shows ${marker}`)
      }
      return text
    }
    const askAll = async (holder: Holder, isWriting: boolean): Promise<void> => {
      // A caller does not try to change texts that it is allowed to change.
      const targets = planted.filter(({ marker }) => !isWriting || !holder.sees.includes(marker))
      for (const endpoint of routes.filter(({ writes }) => writes === isWriting)) {
        const teams = isOfTeams(endpoint) ? ['/teams/platform', '/teams/rivals'] : []
        const all = targets.flatMap((target) =>
          requestsTo(endpoint, target).flatMap((sent) =>
            ['', ...teams].map((prefix) => ({ ...sent, path: `${apiPrefix}${prefix}${sent.path}` })),
          ),
        )
        const different = new Map(all.map((sent) => [JSON.stringify(sent), sent]))
        for (const sent of different.values()) await ask(holder, sent, endpoint.operation.isStream === true)
      }
    }

    for (const holder of holders) await askAll(holder, false)
    for (const holder of holders)
      for (const [method, params] of [
        ...tools.map(({ name }) => ['tools/call', { name, arguments: { query: subject, id: first.belief } }] as const),
        ['resources/list', {}] as const,
        ...planted.map(({ belief }) => ['resources/read', { uri: `memory://belief/${belief}` }] as const),
        ...planted.map(({ session }) => ['resources/read', { uri: `memory://conversation/${session}` }] as const),
      ]) {
        const name = 'name' in params ? params.name : 'uri' in params ? params.uri : ''
        const { headers, _meta } = selfNaming('test-agent', { method, name })
        const body = JSON.stringify({ jsonrpc: '2.0', id: asked, method, params: { ...params, _meta } })
        const accept = 'application/json, text/event-stream'
        await ask(holder, { method: 'POST', path: '/mcp', body }, false, { ...headers, accept })
      }
    const seenBefore = new Map([...seen].map(([name, markers]) => [name, [...markers].sort()]))
    for (const holder of holders) await askAll(holder, true)

    expect(leaks).toEqual([])
    expect(crashes).toEqual([])
    // Guards the test: a caller who sees nothing at all would prove nothing.
    for (const { name, sees } of holders) expect([name, seenBefore.get(name)]).toEqual([name, [...sees].sort()])
    expect(asked).toBeGreaterThan(routes.length * holders.length)
    // No text was changed by another caller.
    for (const { marker, belief } of planted) {
      const [owner] = holders.filter(({ sees }) => sees.includes(marker))
      const prefix = marker === 'quokkateam' ? '/teams/platform' : marker === 'quokkarivals' ? '/teams/rivals' : ''
      const path = `${apiPrefix}${prefix}/beliefs/${belief}`
      expect(await ask(owner as Holder, { method: 'GET', path, body: null }, false)).toContain(marker)
    }
  })
})

async function firstPart(response: Response): Promise<string> {
  const reader = response.body?.getReader()
  const part = await reader?.read()
  return new TextDecoder().decode(part?.value)
}
