import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import { compose } from '../../src/cli/compose.ts'
import { openServedStore } from '../../src/cli/serve/served-store.ts'
import type { RouteName } from '../../src/http/api/contract.ts'
import { endpoints as routes } from '../../src/http/api/endpoints.ts'
import { loopbackNames } from '../../src/http/same-origin.ts'
import { serverApp } from '../../src/http/server-app.ts'
import { memoryMcp, tools } from '../../src/mcp/memory-mcp.ts'
import { type Memory, memoryFrom } from '../../src/memory/memory.ts'
import { openPorts } from '../../src/open-memory.ts'
import { people } from '../../src/operations/access.ts'
import { chance } from '../durability/durable-store.ts'
import { count } from '../full-counts.ts'
import { agentToken, host, token } from '../http/test-server.ts'
import { call } from '../mcp/served-memory.ts'
import { temporaryDirectory } from '../temporary-directory.ts'
import { attempts, bodies, guesses, type Hostile } from './hostile-requests.ts'

const seed = 31
const requests = count(5_000)
const scope = 'project:shared'
const together = 25

/** User names that are easily confused, and other names. */
const users = [
  'ada',
  'ADA',
  'Ada',
  'ada ',
  ' ada',
  'аda',
  'ａda',
  'ada\u200b',
  'adá',
  'ada\u0301',
  'ada%',
  'ada_',
  '%',
  '*',
  '_',
  'ada/..',
  '../ada',
  'ada\n',
  "ada'--",
  'ada"',
  'null',
  'undefined',
  '0',
  '[]',
  '{}',
  'local',
  'ada,ben',
  'a\\da',
  ...Array.from({ length: 22 }, (_, index) => `user-${index}`),
]

/** The data of one user, all marked with a secret word. */
type Tenant = {
  readonly user: string
  readonly mark: string
  readonly memory: Memory
  readonly beliefs: readonly string[]
  readonly turn: string
  readonly session: string
  readonly event: number
  readonly key: string
}

const asked = Object.keys(attempts) as RouteName[]
/** Routes that are not attacked here. people.slow.test.ts attacks the routes of people. */
const excludedRoutes: readonly string[] = [
  'login',
  'logout',
  'doctor',
  'doctorProgress',
  'events',
  'syncMirror',
  ...Object.keys(people),
]

describe(`${users.length} users of one store`, () => {
  it("can neither see nor change each other's data, by any route, tool or call", { timeout: 600_000 }, async () => {
    using directory = temporaryDirectory()
    const paths = ['home', 'work', 'tmp', 'memory', 'web'].map((name) => join(directory.path, name))
    for (const path of paths) mkdirSync(path)
    const [home, work, temporary, dir, webDirectory] = paths as [string, string, string, string, string]
    const quiet = (): PassThrough => new PassThrough().resume() as PassThrough
    const session = compose(
      {
        env: { HOME: home },
        home,
        temporary,
        workingDirectory: () => work,
        stdin: quiet,
        stdout: quiet(),
        stderr: quiet(),
      },
      async () => {},
    )
    const random = chance(seed)
    const oneOf = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item
    const ports = openPorts(dir)
    const bugs: unknown[] = []
    const tenants: Tenant[] = []
    const doors = new Map<string, { readonly app: ReturnType<typeof serverApp>['app']; readonly client: Client }>()
    for (const user of users) {
      const mark = `canary${Math.floor(random() * 1e9).toString(36)}x`
      const place = { dir, user, scopes: [scope], homeScopes: [scope], isDemo: false }
      const open = await openServedStore(session, ports, place, (line) => bugs.push(line))
      const { app } = serverApp({
        served: open.served,
        tokens: { person: token, agent: agentToken },
        endedSessions: { has: () => false, add: async () => {} },
        hosts: loopbackNames,
        webDirectory,
        onBug: (error) => bugs.push(error),
      })
      const mcp = memoryMcp({
        version: '1',
        view: { user, scopes: [scope], homeScopes: [scope], agent: null, hasFixedScopes: true },
        memoryAs: async (author) => open.memoryAs(author),
        onBug: (error) => bugs.push(error),
      }).httpHandler()
      const client = new Client(
        { name: 'agent', version: '1' },
        { versionNegotiation: { mode: { pin: '2026-07-28' } } },
      )
      const direct = (to: string | URL | Request, init?: RequestInit) => mcp.fetch(new Request(to, init))
      await client.connect(new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), { fetch: direct }))
      doors.set(user, { app, client })
      tenants.push(
        await createTenant(
          user,
          mark,
          memoryFrom(ports, { ...place, agent: null, author: { actor: 'person', origin: 'cli' } }),
        ),
      )
    }
    const before = new Map<string, string>()
    for (const tenant of tenants) before.set(tenant.user, await contentsOf(tenant))

    const marks = tenants.map(({ user, mark }) => ({ user, mark }))
    const foreign: string[] = []
    const statuses = new Map<number, number>()
    const look = (what: string, by: Tenant, text: string): void => {
      if (marks.some(({ user, mark }) => user !== by.user && text.includes(mark)))
        foreign.push(`${what}: ${text.slice(0, 300)}`)
    }
    let done = 0
    const attack = async (): Promise<void> => {
      const by = oneOf(tenants)
      const victim = oneOf(tenants.filter(({ user }) => user !== by.user))
      const hostile: Hostile = {
        id: oneOf(guesses(oneOf(victim.beliefs))),
        turn: oneOf(guesses(victim.turn)),
        session: victim.session,
        event: victim.event,
        user: victim.user,
      }
      const { app, client } = doors.get(by.user) as NonNullable<ReturnType<typeof doors.get>>
      const turn = done++
      const kind = turn % 4
      if (kind < 2) {
        const name = asked[turn % asked.length] as RouteName
        const { method, path } = routes[name]
        const sent = attempts[name]?.(hostile) ?? {}
        const url = new URL(`http://${host}/api/v1${path.replace(/:\w+/u, encodeURIComponent(sent.path ?? ''))}`)
        for (const [key, value] of Object.entries(sent.query ?? {}))
          for (const one of [value].flat()) url.searchParams.append(key, one)
        if (random() < 0.1) url.searchParams.append('user', victim.user)
        const body = random() < 0.15 ? oneOf(bodies) : sent.body
        const response = await app.request(url.href, {
          method,
          headers: {
            host,
            authorization: `Bearer ${random() < 0.5 ? token : agentToken}`,
            'x-user': encodeURIComponent(victim.user),
            'idempotency-key': random() < 0.3 ? victim.key : `own-${turn}`,
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          },
          ...(method === 'GET' || body === undefined ? {} : { body: JSON.stringify(body) }),
        })
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
        look(`${method} ${url.pathname}`, by, await response.text())
      } else if (kind === 2) {
        const tool = oneOf(tools).name
        const value = oneOf<unknown>([hostile.id, hostile.id, null, [hostile.id], { id: hostile.id }])
        const given = {
          memory_search: { query: `secret plan of ${victim.user}` },
          memory_status: {},
          memory_proposals: {},
        }[tool] ?? {
          id: value,
          ...(tool === 'memory_remember' ? { names: ['note'], statement: 'x', id: undefined } : {}),
          ...(tool === 'memory_correct' ? { content: 'Taken over.' } : {}),
        }
        const more = random() < 0.2 ? { user: victim.user } : {}
        const text = await call(client, tool, { ...given, ...more }).then((one) => JSON.stringify(one), String)
        look(tool, by, text)
      } else look('library', by, await libraryCall(by.memory, victim, hostile, oneOf))
    }
    while (done < requests) await Promise.all(Array.from({ length: together }, attack))

    const changed: string[] = []
    for (const tenant of tenants) if ((await contentsOf(tenant)) !== before.get(tenant.user)) changed.push(tenant.user)
    // A bulk delete removes all data of one user, and nothing else.
    const [first, ...others] = tenants as [Tenant, ...Tenant[]]
    const bulk = await first.memory.forgetTurns({ since: '2000-01-01' })
    for (const tenant of others)
      if ((await contentsOf(tenant)) !== before.get(tenant.user)) changed.push(`${tenant.user} after all`)
    console.log(
      `tenants: seed ${seed}, ${users.length} users, ${done} requests (${asked.length} routes, ${tools.length} tools), ${foreign.length} foreign answers, ${changed.length} foreign effects, statuses ${JSON.stringify(Object.fromEntries(statuses))}`,
    )
    expect(foreign).toEqual([])
    expect(changed).toEqual([])
    expect(bugs).toEqual([])
    expect(bulk.turns).toBeGreaterThan(0)
    expect(statuses.get(500)).toBeUndefined()
    expect(
      Object.keys(routes).filter(
        (name) =>
          !(name in attempts) && !excludedRoutes.includes(name) && !routes[name as RouteName].path.startsWith('/evals'),
      ),
    ).toEqual([])
    // Guards the test: with another user's token, the search detects foreign bytes and effects.
    const [one, two] = others as [Tenant, Tenant]
    look('own', one, JSON.stringify(await two.memory.get(two.beliefs[0] as string)))
    await two.memory.forget(two.beliefs[0] as string)
    expect(foreign).toHaveLength(1)
    expect(await contentsOf(two)).not.toBe(before.get(two.user))
    for (const { client } of doors.values()) await client.close()
    await ports.store.close()
  })
})

async function createTenant(user: string, mark: string, memory: Memory): Promise<Tenant> {
  const key = `key-${mark.slice(6)}`
  const named = { name: 'secret plan', aliases: ['plan b'], scopes: [scope] }
  const { belief, event } = await memory.remember({ ...named, content: `The plan is ${mark}.`, key })
  const { belief: newer } = await memory.correct(belief.id, { content: `The plan is ${mark} again.` })
  const { belief: question } = await memory.remember({
    name: 'open point',
    content: `Is ${mark} right?`,
    type: 'open_question',
    scopes: [scope],
  })
  const session = `talk-${belief.id.slice(-8)}`
  const { turns } = await memory.hear(
    { text: `We spoke about ${mark} and the secret plan.`, session },
    { learn: 'nothing' },
  )
  const beliefs = [belief.id, newer.id, question.id]
  return { user, mark, memory, beliefs, turn: turns[0]?.turn?.id ?? '', session, event, key }
}

/** The current state of a user's initial data. */
async function contentsOf({ memory, beliefs, turn }: Tenant): Promise<string> {
  const kept = []
  for await (const belief of memory.export()) if (beliefs.includes(belief.id)) kept.push(belief)
  const { index: _index, ...said } = await memory.turn(turn).catch(() => ({ index: 0 }))
  const history = await Promise.all(beliefs.map((id) => memory.history(id).catch(() => null)))
  return JSON.stringify([kept, said, history])
}

/** Any call of the library about another user's data, with a user among its options. */
async function libraryCall(
  memory: Memory,
  { user, turn }: Tenant,
  { id, session, event }: Hostile,
  oneOf: <Item>(items: readonly Item[]) => Item,
): Promise<string> {
  // Not in the types: a caller in JavaScript can pass anything.
  const options = { user, reference: id, author: { actor: 'person', origin: user } } as object
  const calls: readonly (() => Promise<unknown>)[] = [
    () => memory.get(id, options),
    () => memory.history(id),
    () => memory.edit(id, { why: 'taken over' }, options),
    () => memory.correct(id, { content: 'Taken over.', ...options }),
    () => memory.forget(id, { ...options, wholeChain: true }),
    () => memory.confirm(id, options),
    () => memory.resolve(id, undefined, options),
    () => memory.accept(id, options),
    () => memory.reject(id, options),
    () => memory.undo(event, options),
    () => memory.why('the secret plan', id, options),
    () => memory.turn(turn),
    () => memory.forgetTurns({ turn, ...options }, options),
    () => memory.turns({ session, ...options }),
    () => memory.list({ ...options, limit: 200 }),
    () => memory.find('secret plan', options),
    () => memory.search('What is the secret plan?', options),
    () => memory.recall('Tell me the secret plan.', options),
    () => memory.events(options),
    () => memory.get([id] as unknown as string),
    () => memory.get(null as unknown as string),
  ]
  return oneOf(calls)().then((value) => JSON.stringify(value) ?? '', String)
}
