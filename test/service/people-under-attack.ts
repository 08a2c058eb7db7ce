import { tenantMcp } from '../../src/cli/serve/tenants.ts'
import { apiPrefix } from '../../src/http/api/api-app.ts'
import type { RouteName } from '../../src/http/api/contract.ts'
import { endpoints, isOfTeams } from '../../src/http/api/endpoints.ts'
import { tools } from '../../src/mcp/memory-mcp.ts'
import { memoryFrom } from '../../src/memory/memory.ts'
import { addPerson, createTeam, createToken, type Principal, setMember } from '../../src/memory/people/access.ts'
import type { Caller } from '../../src/operations/operation.ts'
import { chance } from '../durability/durable-store.ts'
import { host, startTestServer } from '../http/test-server.ts'
import { attempts, bodies, guesses, type Hostile } from './hostile-requests.ts'

/** Entry points that can be made to ignore the owner of a token, to show that the attack detects it. */
export type ForgetfulDoor = 'none' | 'http' | 'mcp'

/** A server with MCP, for the holders of tokens. */
export async function servedPeople(
  forgetful: ForgetfulDoor = 'none',
  options: Parameters<typeof startTestServer>[0] = {},
) {
  const someone = (principal: Principal): Principal => ({ ...principal, person: nameOf(0) })
  const http: Parameters<typeof startTestServer>[0] =
    forgetful === 'http'
      ? { people: { memoryOf: (who, team) => server.served.people.memoryOf(someone(who), team) } }
      : {}
  const forgotten = (caller: Caller): Caller =>
    caller.kind === 'member' && forgetful === 'mcp' ? { ...caller, principal: someone(caller.principal) } : caller
  const server = await startTestServer({
    ...options,
    ...http,
    mcpHandler: (request, caller) => mcp.fetch(request, forgotten(caller)),
  })
  const scopes = ['user:universal']
  const mcp = tenantMcp(server.served.ports, {
    version: '1',
    view: { user: 'local', scopes, homeScopes: scopes, agent: null, hasFixedScopes: false },
    memoryAs: async () => server.served.memories.agent,
    onBug: (error) => server.problems.push(error),
  })
  const ports = await server.served.people.access()
  return {
    ...server,
    ports,
    /** A request with a token of the store. */
    as: (secret: string, method: string, path: string, body?: unknown) =>
      server.send<Record<string, unknown>>(method, path, {
        as: 'nobody',
        headers: { authorization: `Bearer ${secret}` },
        ...(body === undefined ? {} : { body }),
      }),
    callTool: async (secret: string, name: string, given: object): Promise<string> => {
      const response = await server.app.request('/mcp', {
        method: 'POST',
        headers: {
          host,
          authorization: `Bearer ${secret}`,
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } }),
      })
      return response.text()
    },
  }
}

const nameOf = (number: number): string => `person-${number}`

/** A person whose data, and that of their teams, is marked with a secret word. */
type Target = {
  readonly name: string
  readonly secrets: readonly [person: string, agent: string]
  readonly teams: readonly string[]
  readonly marks: ReadonlySet<string>
  readonly hostile: Omit<Hostile, 'user'>
}

const mark = (of: string): string => `canary-${of}-end`
const marksIn = (text: string): readonly string[] => [...text.matchAll(/canary-[a-z0-9-]+?-end/gu)].map(([one]) => one)

type Attack = {
  readonly people: number
  readonly requests: number
  readonly seed: number
  readonly door?: ForgetfulDoor
  /** The address of a PostgreSQL store. Default: a separate SQLite store. */
  readonly store?: string | undefined
}

/** Concurrent requests, as on a real server. */
const atOnce = 8

/**
 * Random people, each with a memory and some in teams, send random requests about the data of others. Returns every answer with text of
 * a memory that the sender may not read, and every memory that another person changed.
 */
export async function attackPeople({ people, requests, seed, door = 'none', store }: Attack) {
  await using server = await servedPeople(door, { store })
  const { ports } = server
  const random = chance(seed)
  const oneOf = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item
  const targets: Target[] = []
  const teamNames = Array.from({ length: Math.ceil(people / 10) }, (_, number) => `team-${number}`)
  for (let number = 0; number < people; number += 1) {
    const name = nameOf(number)
    await addPerson(ports, { name })
    const team = teamNames[number]
    if (team !== undefined) await createTeam(ports, { name: team, owner: name })
    const joined = team === undefined && number % 3 === 0 ? oneOf(teamNames.slice(0, number)) : null
    if (joined !== null) await setMember(ports, { team: joined, person: name, role: oneOf(['reader', 'writer']) })
    const teams = [team, joined].filter((one) => one !== undefined && one !== null)
    const scopes = ['user:universal', ...teams.map((one) => `team:${one}`)]
    const author = { actor: 'person', origin: 'test' } as const
    const memory = memoryFrom(ports, { user: name, scopes, agent: null, author })
    const own = { name: 'secret plan', scopes: ['user:universal'], aliases: ['plan b'] }
    const { belief, event } = await memory.remember({ ...own, content: `The plan is ${mark(name)}.` })
    const said = await memory.hear({ text: `The secret plan is ${mark(name)}.`, session: name }, { learn: 'nothing' })
    if (team !== undefined) {
      const shared = memoryFrom(ports, { user: `team:${team}`, scopes: [`team:${team}`], agent: null, author })
      await shared.remember({ ...own, scopes: [`team:${team}`], content: `The plan is ${mark(team)}.` })
    }
    const secrets = [
      (await createToken(ports, { kind: 'person', person: name })).secret,
      (await createToken(ports, { kind: 'agent', person: name, scopes })).secret,
    ] as const
    const hostile = { id: belief.id, turn: said.turns[0]?.turn?.id ?? '', session: name, event }
    targets.push({ name, secrets, teams, marks: new Set([name, ...teams].map(mark)), hostile })
  }
  const contents = async ({ name, hostile: { id, turn } }: Target): Promise<string> =>
    JSON.stringify([await ports.store.get(name, id), await ports.store.getTurn(name, turn)])
  const before = new Map<string, string>()
  for (const target of targets) before.set(target.name, await contents(target))

  const leaks: string[] = []
  const statuses = new Map<number, number>()
  let own = 0
  let shared = 0
  /**
   * People who undid their own change by accident. On PostgreSQL events are numbered per person, so two people's events
   * can have the same number.
   */
  const undidOwn = new Set<string>()
  const asked = Object.keys(attempts) as RouteName[]
  const request = async (turn: number): Promise<void> => {
    const by = oneOf(targets)
    const victim = oneOf(targets.filter((target) => target !== by))
    const secret = oneOf(by.secrets)
    const hostile = {
      ...victim.hostile,
      id: oneOf(guesses(victim.hostile.id)),
      turn: oneOf(guesses(victim.hostile.turn)),
      user: victim.name,
    }
    let answer: string
    if (turn % 4 === 3) {
      const tool = oneOf(tools).name
      const question = { query: `What is the secret plan of ${victim.name}?` }
      const scope = random() < 0.3 ? { scope: `team:${oneOf(teamNames)}` } : {}
      const given = tool === 'memory_search' ? { ...question, ...scope } : { id: hostile.id, ...scope }
      const statement = tool === 'memory_remember' ? { statement: 'A note.', id: undefined } : {}
      answer = await server.callTool(secret, tool, {
        ...(['memory_status', 'memory_proposals'].includes(tool) ? {} : given),
        ...statement,
        ...(tool === 'memory_correct' ? { content: 'Taken over.' } : {}),
      })
    } else {
      const name = oneOf(asked)
      const { method, path } = endpoints[name]
      const sent = attempts[name]?.(hostile) ?? {}
      const team = isOfTeams(endpoints[name]) && random() < 0.3 ? `/teams/${oneOf(teamNames)}` : ''
      if (name === 'undo' && victim.hostile.event === by.hostile.event) undidOwn.add(by.name)
      const url = new URL(
        `http://${host}${apiPrefix}${team}${path.replace(/:\w+/u, encodeURIComponent(sent.path ?? ''))}`,
      )
      for (const [key, value] of Object.entries(sent.query ?? {}))
        for (const one of [value].flat()) url.searchParams.append(key, one)
      if (random() < 0.1) url.searchParams.append('user', victim.name)
      const body = random() < 0.1 ? oneOf(bodies) : sent.body
      const { status, text } = await server.send(method, url.pathname + url.search, {
        as: 'nobody',
        headers: { authorization: `Bearer ${secret}`, 'x-user': victim.name },
        ...(method === 'GET' || body === undefined ? {} : { body }),
      })
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      answer = text
    }
    for (const found of marksIn(answer)) {
      if (!by.marks.has(found)) leaks.push(`${by.name} saw ${found}`)
      else if (found === mark(by.name)) own += 1
      else shared += 1
    }
  }
  for (let turn = 0; turn < requests; turn += atOnce)
    await Promise.all(Array.from({ length: atOnce }, (_, at) => request(turn + at)))
  const changed: string[] = []
  for (const target of targets.filter(({ name }) => !undidOwn.has(name)))
    if ((await contents(target)) !== before.get(target.name)) changed.push(target.name)
  return { leaks, changed, own, shared, statuses, problems: server.problems }
}
