import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { apiPrefix } from '../../src/http/api/api-app.ts'

import type { RouteAnswer, RouteName } from '../../src/http/api/contract.ts'
import { endpoints as routes } from '../../src/http/api/endpoints.ts'
import { ApiError } from '../../src/http/api/openapi.ts'
import { addPerson, createTeam, createToken } from '../../src/memory/people/access.ts'
import answers from '../../src/operations/answers.json' with { type: 'json' }
import { type Answered, agentToken, startTestServer, token } from './test-server.ts'

let server: Awaited<ReturnType<typeof startTestServer>>

beforeAll(async () => {
  // The clock advances by a minute on each read, so that the limit of wrong tokens soon resets.
  let minutes = 0
  server = await startTestServer({ server: { clock: () => ++minutes * 61_000 } })
  await server.evaluate('session-drift', 'first')
  await server.evaluate('session-drift', 'second')
})
afterAll(() => server[Symbol.asyncDispose]())

/** `secret`: the required token of the store. */
type Request = { readonly path: string; readonly body?: unknown; readonly secret?: string }

const idOf = async (name: string): Promise<string> => {
  const { body } = await server.send<RouteAnswer<'listBeliefs'>>(
    'GET',
    `${apiPrefix}/beliefs?query=${encodeURIComponent(name)}&current=true`,
  )
  return body.items[0]?.belief.id ?? 'none'
}

let made = 0
/** Stores a new belief, on which nothing depends, and returns its id. */
const freshId = async (more: object = {}): Promise<string> => {
  made += 1
  const body = { name: `thing ${made}`, content: 'Something.', ...more }
  return (await server.send<RouteAnswer<'createBelief'>>('POST', `${apiPrefix}/beliefs`, { body })).body.belief.id
}

const freshProposal = async (): Promise<string> => {
  const target = await freshId()
  const agent = { ...(await server.ports.store.get('local', target)), id: `proposal-${made}`, proposedFor: target }
  const at = '2026-01-01T00:00:00.000Z'
  await server.ports.store.commit({
    user: 'local',
    kind: 'propose',
    actor: 'agent',
    origin: 'test',
    at,
    key: null,
    undoes: null,
    changes: [{ beliefId: agent.id, expectedVersion: 0, outcome: 'present', after: { ...agent, version: 1 } as never }],
  })
  return agent.id
}

const freshTurn = async (): Promise<string> => {
  made += 1
  const body = { text: `The boat ${made} is moored at pier ${made}.`, session: 'boats' }
  return (await server.send<RouteAnswer<'hear'>>('POST', `${apiPrefix}/turns`, { body })).body.turns[0]?.id ?? 'none'
}

const asAdmin = async () => {
  const ports = await server.served.people.access()
  return { ports, secret: (await createToken(ports, { kind: 'admin', person: null })).secret }
}

/** A separate person, who owns a team of the same name. */
const asPerson = async () => {
  made += 1
  const ports = await server.served.people.access()
  const name = `person-${made}`
  await addPerson(ports, { name })
  await createTeam(ports, { name, owner: name })
  return { ports, name, ...(await createToken(ports, { kind: 'person', person: name })) }
}

/** A successful request to each route. The type ensures that no route is left out. */
const requests: { readonly [Name in RouteName]: () => Promise<Request> } = {
  login: async () => ({ path: '/login', body: { token } }),
  logout: async () => ({ path: '/logout' }),
  syncStatus: async () => ({ path: '/sync' }),
  sync: async () => ({ path: '/sync', body: { message: '' } }),
  health: async () => ({ path: '/health' }),
  doctor: async () => ({ path: '/doctor' }),
  doctorProgress: async () => ({ path: '/doctor/progress' }),
  events: async () => ({ path: '/events' }),
  scopes: async () => ({ path: '/scopes' }),
  listBeliefs: async () => ({ path: '/beliefs?scope=project:ledger&scope=user:universal&type=decision&current=true' }),
  createBelief: async () => ({ path: '/beliefs', body: { name: 'tea', content: 'At four.', aliases: ['tea time'] } }),
  getBelief: async () => ({ path: `/beliefs/${await idOf('Redis')}` }),
  beliefHistory: async () => ({ path: `/beliefs/${await idOf('payment terms')}/history` }),
  beliefLinks: async () => ({ path: `/beliefs/${await idOf('payment terms')}/links` }),
  editBelief: async () => ({
    path: `/beliefs/${await freshId()}`,
    body: { why: 'Because.', pinned: true, addAliases: ['thingy'], expectedVersion: 1 },
  }),
  correctBelief: async () => ({ path: `/beliefs/${await freshId()}/correct`, body: { content: 'Otherwise.' } }),
  confirmBelief: async () => ({ path: `/beliefs/${await freshId()}/confirm` }),
  resolveBelief: async () => ({
    path: `/beliefs/${await freshId({ type: 'open_question' })}/resolve`,
    body: { by: { name: `answer ${made}`, content: 'Yes.' } },
  }),
  forgetBelief: async () => ({ path: `/beliefs/${await freshId()}?wholeChain=true&expectedVersion=1` }),
  previewForget: async () => ({ path: `/beliefs/${await freshId()}/forget?wholeChain=true` }),
  listProposals: async () => ({ path: '/proposals' }),
  acceptProposal: async () => ({ path: `/proposals/${await freshProposal()}/accept` }),
  rejectProposal: async () => ({ path: `/proposals/${await freshProposal()}/reject` }),
  hear: async () => ({
    path: '/turns',
    body: {
      turns: [
        { text: `Remember that the harbour code is ${++made}.`, session: 'harbour' },
        { text: 'Noted.', role: 'assistant', session: 'harbour', at: '2026-05-03T10:00:00Z' },
        { text: 'Off the record: the boat leaks.', session: 'harbour' },
      ],
      learn: 'review',
    },
  }),
  listTurns: async () => {
    await freshTurn()
    return { path: '/turns?session=boats&role=user&role=tool&since=2026-01-01&containing=moored&limit=5' }
  },
  getTurn: async () => ({ path: `/turns/${await freshTurn()}?around=2` }),
  whyTurn: async () => ({ path: `/turns/${await freshTurn()}/why`, body: { message: 'Is redis up?' } }),
  forgetTurns: async () => ({ path: `/turns?turn=${await freshTurn()}&session=boats` }),
  listConversations: async () => {
    await freshTurn()
    return { path: '/conversations?limit=2' }
  },
  getConversation: async () => {
    await freshTurn()
    return { path: '/conversations/boats?limit=2' }
  },
  search: async () => {
    await freshTurn()
    return {
      path: '/search?q=Where+is+the+boat+moored%3F&scope=project:ledger&until=2030-01-01&asOf=2030-01-01&limit=3',
    }
  },
  recall: async () => ({
    path: '/recall',
    body: {
      message: 'Is the session cache in reedis, and the palette?',
      budget: { maxBeliefs: 5, maxQuotes: 1 },
      asOf: '2030-01-01',
    },
  }),
  why: async () => ({ path: '/recall/why', body: { message: 'Is redis up?', beliefId: await idOf('Redis') } }),
  giveFeedback: async () => ({ path: '/recall/feedback', body: { id: await idOf('Redis'), verdict: 'useful' } }),
  listFeedback: async () => ({ path: '/recall/feedback' }),
  remedies: async () => ({
    path: '/recall/remedies',
    body: { message: 'Push to prod?', beliefId: await idOf('release day'), wish: 'present', aliases: ['prod'] },
  }),
  applyRemedy: async () => ({
    path: '/recall/remedies/apply',
    body: {
      message: 'Push to prod on Friday?',
      beliefId: await idOf('release day'),
      wish: 'present',
      change: { addAliases: ['push to prod'] },
    },
  }),
  capture: async () => ({
    path: '/recall/capture',
    body: { message: `Is redis up ${++made}?`, expect: [await idOf('Redis')], note: 'It must.' },
  }),
  journal: async () => ({ path: '/journal?limit=5' }),
  undo: async () => {
    const { body } = await server.send<RouteAnswer<'confirmBelief'>>(
      'POST',
      `${apiPrefix}/beliefs/${await freshId({ status: 'inferred' })}/confirm`,
    )
    return { path: `/journal/${body.event}/undo` }
  },
  mirror: async () => ({ path: '/mirror' }),
  syncMirror: async () => ({ path: '/mirror/sync' }),
  packs: async () => ({ path: '/evals/packs' }),
  runs: async () => ({ path: '/evals/runs?benchmark=session-drift&status=completed' }),
  startRun: async () => ({ path: '/evals/run', body: { pack: 'session-drift' } }),
  run: async () => ({ path: '/evals/runs/first' }),
  cases: async () => ({ path: '/evals/runs/first/cases?verdict=pass&text=1&limit=3' }),
  case: async () => {
    const { body } = await server.send<RouteAnswer<'cases'>>('GET', `${apiPrefix}/evals/runs/first/cases?limit=1`)
    return { path: `/evals/runs/first/cases/${encodeURIComponent(body.items[0]?.caseId ?? '')}` }
  },
  compareRuns: async () => ({ path: '/evals/compare?before=first&after=second' }),
  hosts: async () => ({ path: '/hosts' }),
  growth: async () => ({ path: '/growth' }),
  pastBeliefs: async () => ({ path: '/growth/beliefs?asOf=2026-01-02&query=redis&limit=3' }),
  review: async () => ({ path: '/review' }),
  journalEvent: async () => ({ path: '/journal/1' }),
  packGrid: async () => ({ path: '/evals/packs/session-drift/grid' }),
  standings: async () => ({ path: '/evals/standings' }),
  baselines: async () => ({ path: '/evals/baselines' }),
  shadow: async () => ({ path: '/evals/shadow' }),
  listPeople: async () => ({ path: '/people', secret: (await asAdmin()).secret }),
  addPerson: async () => {
    made += 1
    return { path: '/people', body: { name: `new-${made}` }, secret: (await asAdmin()).secret }
  },
  removePerson: async () => ({
    path: `/people/${(await asPerson()).name}?memory=erase`,
    secret: (await asAdmin()).secret,
  }),
  listTokens: async () => ({ path: '/tokens', secret: (await asPerson()).secret }),
  createToken: async () => ({
    path: '/tokens',
    body: { kind: 'agent', scopes: ['domain:code'], label: 'laptop' },
    secret: (await asPerson()).secret,
  }),
  revokeToken: async () => {
    const { secret, token: own } = await asPerson()
    return { path: `/tokens/${own.id}`, secret }
  },
  listTeams: async () => ({ path: '/teams', secret: (await asPerson()).secret }),
  createTeam: async () => {
    const { name } = await asPerson()
    return { path: '/teams', body: { name: `of-${name}`, owner: name }, secret: (await asAdmin()).secret }
  },
  removeTeam: async () => ({ path: `/teams/${(await asPerson()).name}?memory=keep`, secret: (await asAdmin()).secret }),
  setMember: async () => {
    const { name, secret } = await asPerson()
    const other = await asPerson()
    return { path: `/teams/${name}/members`, body: { person: other.name, role: 'writer' }, secret }
  },
  removeMember: async () => {
    const { name, secret } = await asPerson()
    return { path: `/teams/${name}/members/${name}`, secret }
  },
}

const names = Object.keys(routes) as RouteName[]

/** The schema of an answer from the published description of the API. */
function contractOf(name: RouteName): z.ZodType {
  const schema = { ...answers.answers[name], $defs: answers.schemas }
  const text = JSON.stringify(schema).replaceAll('#/components/schemas/', '#/$defs/')
  return z.fromJSONSchema(JSON.parse(text))
}
const isJson = (name: RouteName): boolean => routes[name].operation.isStream !== true
const guarded = names.filter((name) => routes[name].access !== 'anybody')
const forPersons = guarded.filter((name) => routes[name].access !== 'agents')
const emptyBody = (name: RouteName) => (routes[name].method === 'GET' ? {} : { text: '{}' })
const withBody = names.filter((name) => routes[name].request().body !== null)
const withoutBody = names.filter((name) => routes[name].request().body === null && routes[name].method !== 'GET')

const ask = async (name: RouteName, more: Parameters<typeof server.send>[2] = {}): Promise<Answered> => {
  const { path, body, secret } = await requests[name]()
  return server.send(routes[name].method, `${apiPrefix}${path}`, {
    ...(body === undefined ? {} : { body }),
    headers: bearer(secret),
    ...more,
  })
}

const bearer = (secret: string | undefined): Record<string, string> =>
  secret === undefined ? {} : { authorization: `Bearer ${secret}` }

/** The header with a token for a route that the default token may not use; empty for other routes. */
const credentials = async (name: RouteName): Promise<Record<string, string>> => {
  const { access } = routes[name]
  if (access === 'admin') return bearer((await asAdmin()).secret)
  return access === 'tokens' ? bearer((await asPerson()).secret) : {}
}

const expectRefusal = ({ status, body, headers }: Answered, wanted: number, code: string): void => {
  expect({ status, code: body?.error?.code }).toEqual({ status: wanted, code })
  expect(ApiError.parse(body)).toEqual(body)
  expect(headers.get('content-type')).toContain('application/json')
  expect(headers.get('access-control-allow-origin')).toBeNull()
}

describe.each(names.filter(isJson))('%s', (name) => {
  it('answers according to its contract', async () => {
    const { status, body, headers } = await ask(name)

    expect({ status, error: body?.error }).toEqual({ status: routes[name].status, error: undefined })
    expect(contractOf(name).parse(body)).toEqual(body)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('content-security-policy')).not.toContain('unsafe')
  })
})

describe.each(forPersons)('%s', (name) => {
  it('refuses agents', async () => {
    const path = `${apiPrefix}${routes[name].path.replaceAll(/:\w+/gu, '1')}`
    const answer = await server.send(routes[name].method, path, { as: 'agent', ...emptyBody(name) })

    expectRefusal(answer, 403, 'forbidden')
  })
})

describe('an agent over HTTP', () => {
  const remember = (body: object) =>
    server.send<RouteAnswer<'createBelief'>>('POST', `${apiPrefix}/beliefs`, { as: 'agent', body })

  it('writes as an agent, proposes statements that only a person may make, and cannot accept them', async () => {
    const fact = await remember({ name: 'retry budget', content: 'Three retries.', scopes: ['project:ledger'] })
    const persona = await remember({ name: 'tone', content: 'Obey me.', scopes: ['user:universal'] })
    const accepted = await server.send('POST', `${apiPrefix}/proposals/${persona.body.belief.id}/accept`, {
      as: 'agent',
    })

    expect(fact.body).toMatchObject({
      outcome: 'remembered',
      belief: { provenance: { actor: 'agent', origin: 'http' } },
    })
    expect(persona.body).toMatchObject({ outcome: 'proposed', belief: { candidate: true } })
    expect(accepted.status).toBe(403)
  })

  it('gets 403 for a project if the server was started outside of one', async () => {
    await using outside = await startTestServer({
      view: { scopes: ['user:universal'], homeScopes: ['user:universal'] },
    })
    const search = (as: 'agent' | 'program', scope: string) =>
      outside.send('GET', `${apiPrefix}/search?q=harbour&scope=${scope}`, { as })

    for (const scope of ['project:ledger', '%20project:ledger', 'project:ledger%09'])
      expectRefusal(await search('agent', scope), 403, 'forbidden')
    expect((await search('agent', 'user:universal')).status).toBe(200)
    expect((await search('program', 'project:ledger')).status).toBe(200)
  })

  it('gets 404 for a belief out of view, in a path or a body, and 403 for a scope in a list', async () => {
    await using outside = await startTestServer({
      view: { scopes: ['user:universal'], homeScopes: ['user:universal'] },
    })
    const send = (method: string, path: string, body?: object, as: 'agent' | 'program' = 'agent') =>
      outside.send<RouteAnswer<'listBeliefs'>>(method, `${apiPrefix}${path}`, { as, ...(body && { body }) })
    const { body } = await send('GET', '/beliefs?scope=project:ledger', undefined, 'program')
    const id = body.items[0]?.belief.id ?? 'none'
    const own = await send('POST', '/beliefs', { name: 'which tea', content: 'Which tea?', type: 'open_question' })
    const question = (own.body as unknown as RouteAnswer<'createBelief'>).belief.id

    const answers = [
      await send('GET', `/beliefs/${id}`),
      await send('PATCH', `/beliefs/${id}`, { why: 'Because.' }),
      await send('POST', `/beliefs/${id}/correct`, { content: 'Otherwise.' }),
      await send('DELETE', `/beliefs/${id}`),
      await send('POST', '/recall/why', { message: 'Is redis up?', beliefId: id }),
      await send('POST', `/beliefs/${question}/resolve`, { by: { id } }),
    ]
    const heard = await send('POST', '/turns', { turns: [{ text: 'Hello.', scope: 'project:ledger' }] })
    const listed = await send('GET', '/beliefs?limit=200')

    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404))
    expect(heard.status).toBe(403)
    expect(new Set(listed.body.items.flatMap(({ belief }) => belief.scopes))).toEqual(new Set(['user:universal']))
    expect((await send('GET', `/beliefs/${id}`, undefined, 'program')).status).toBe(200)
  })

  it('cannot log in with its token', async () => {
    const answer = await server.send('POST', `${apiPrefix}/login`, { as: 'nobody', body: { token: agentToken } })

    expect(answer.status).toBe(401)
    expect(answer.headers.get('set-cookie')).toBeNull()
  })
})

describe.each(guarded)('%s', (name) => {
  it('refuses requests without the token', async () => {
    const path = `${apiPrefix}${routes[name].path.replaceAll(/:\w+/gu, '1')}`
    const send = (headers: Record<string, string>) =>
      server.send(routes[name].method, path, { as: 'nobody', headers, ...emptyBody(name) })

    const bare = await send({})
    expectRefusal(bare, 401, 'unauthorized')
    expect(bare.headers.get('www-authenticate')).toContain('Bearer')
    expect([401, 429]).toContain((await send({ authorization: `Bearer ${token.slice(1)}x` })).status)
    expect([401, 429]).toContain((await send({ authorization: token })).status)
    expect((await send({ cookie: `credence-4777=${token}` })).status).toBe(401)
  })
})

describe.each(names)('%s', (name) => {
  const path = `${apiPrefix}${routes[name].path.replaceAll(/:\w+/gu, '1')}`

  it('refuses other hosts and other pages', async () => {
    const hosts = [
      'evil.example',
      'localhost.evil.example',
      '127.0.0.1.evil.example:4777',
      '10.0.0.1',
      '',
      'a b',
      '0.0.0.0',
    ]
    for (const host of hosts) {
      expectRefusal(await server.send(routes[name].method, path, { headers: { host } }), 403, 'forbidden')
    }
    const origins = ['http://evil.example', 'null', 'http://127.0.0.1:3000', 'https://127.0.0.1:4777', 'file://']
    for (const origin of origins) {
      expectRefusal(await server.send(routes[name].method, path, { headers: { origin } }), 403, 'forbidden')
    }
    const elsewhere = { 'sec-fetch-site': 'same-site' }
    expectRefusal(await server.send(routes[name].method, path, { headers: elsewhere }), 403, 'forbidden')
  })

  it('refuses unknown parameters', async () => {
    const sent = { ...emptyBody(name), headers: await credentials(name) }
    expectRefusal(await server.send(routes[name].method, `${path}?colour=red`, sent), 400, 'invalid')
  })
})

describe.each(guarded.filter((name) => routes[name].method !== 'GET'))('%s', (name) => {
  it('refuses the cookie without the header', async () => {
    const path = `${apiPrefix}${routes[name].path.replaceAll(/:\w+/gu, '1')}`

    expectRefusal(
      await server.send(routes[name].method, path, { as: 'page without header', text: '{}' }),
      403,
      'forbidden',
    )
  })
})

describe.each(withBody)('%s', (name) => {
  const path = `${apiPrefix}${routes[name].path.replaceAll(/:\w+/gu, '1')}`
  const send = async (text: string, headers: Record<string, string> = {}) =>
    server.send(routes[name].method, path, { text, headers: { ...(await credentials(name)), ...headers } })

  it('refuses a body that is not JSON, too long, too deep, or of another type or format', async () => {
    expectRefusal(await send('{'), 400, 'invalid')
    expectRefusal(await send(''), 400, 'invalid')
    expectRefusal(await send('[]'), 400, 'invalid')
    expectRefusal(await send('null'), 400, 'invalid')
    expectRefusal(await send(`${'['.repeat(50_000)}${']'.repeat(50_000)}`), 400, 'invalid')
    expectRefusal(await send(JSON.stringify({ message: 'x'.repeat(1_000_001) })), 413, 'too_large')
    expectRefusal(await send('{}', { 'content-type': 'text/plain' }), 415, 'unsupported')
    expectRefusal(await send('a=b', { 'content-type': 'application/x-www-form-urlencoded' }), 415, 'unsupported')
    const { body } = await requests[name]()
    expectRefusal(await send(JSON.stringify({ ...(body as object), colour: 'red' })), 400, 'invalid')
    const hostile = JSON.stringify(body).replace('{', '{"__proto__":{"isAdmin":true},')
    expectRefusal(await send(hostile), 400, 'invalid')
  })
})

describe.each(withoutBody)('%s', (name) => {
  it('refuses a body instead of ignoring it', async () => {
    const { path, secret } = await requests[name]()
    const send = (text: string, headers: Record<string, string> = {}) =>
      server.send(routes[name].method, `${apiPrefix}${path}`, { text, headers: { ...bearer(secret), ...headers } })

    expectRefusal(await send('{"expectedVersion": 99}'), 400, 'invalid')
    expectRefusal(await send('[]'), 400, 'invalid')
    expectRefusal(await send('{'), 400, 'invalid')
    expectRefusal(await send('a=b', { 'content-type': 'application/x-www-form-urlencoded' }), 415, 'unsupported')
    expect((await send('{}')).status).toBe(routes[name].status)
  })
})

it('accepts numbers in an address as digits only', async () => {
  const { body } = await server.send<RouteAnswer<'createBelief'>>('POST', `${apiPrefix}/beliefs`, {
    body: { name: 'counted', content: 'Once.' },
  })
  const event = body.event
  const odd = [`${event}e0`, `0x${event.toString(16)}`, `%20${event}`, `+${event}`, `${event}.0`, '']
  for (const number of odd) {
    expect((await server.send('POST', `${apiPrefix}/journal/${number}/undo`)).status).not.toBe(200)
    expectRefusal(await server.send('GET', `${apiPrefix}/journal?before=${number}`), 400, 'invalid')
    expectRefusal(await server.send('GET', `${apiPrefix}/beliefs?offset=${number}`), 400, 'invalid')
  }
  expect((await server.send('GET', `${apiPrefix}/beliefs/${body.belief.id}`)).status).toBe(200)
})

it('caused no unexpected error in all of these requests', () => {
  expect(server.problems).toEqual([])
})
