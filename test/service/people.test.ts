import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apiPrefix } from '../../src/http/api/api-app.ts'
import { type Endpoint, endpoints, isOfTeams } from '../../src/http/api/endpoints.ts'
import { addPerson, createTeam, createToken, revokeToken, setMember } from '../../src/memory/people/access.ts'
import { tries } from '../full-counts.ts'
import { agentToken, token as installationToken } from '../http/test-server.ts'
import { attempts } from './hostile-requests.ts'
import { attackPeople, servedPeople } from './people-under-attack.ts'

type Served = Awaited<ReturnType<typeof servedPeople>>
let server: Served
beforeAll(async () => {
  // The clock advances by a minute on each read, so that the limit of wrong tokens soon resets.
  let minutes = 0
  server = await servedPeople('none', { server: { clock: () => ++minutes * 61_000 } })
})
afterAll(() => server[Symbol.asyncDispose]())

let made = 0
const newName = (): string => {
  made += 1
  return `p${made}`
}
/** A new person with a token. */
async function newPerson(): Promise<{ readonly name: string; readonly secret: string; readonly id: string }> {
  const name = newName()
  await addPerson(server.ports, { name })
  const { secret, token } = await createToken(server.ports, { kind: 'person', person: name })
  return { name, secret, id: token.id }
}
const newAdmin = async (): Promise<string> => (await createToken(server.ports, { kind: 'admin', person: null })).secret
const remember = (secret: string, content: string, more: object = {}, path = '/beliefs') =>
  server.as(secret, 'POST', `${apiPrefix}${path}`, { name: 'deploys', content, ...more })
const recall = async (secret: string, message = 'When are deploys?'): Promise<string> =>
  String((await server.as(secret, 'POST', `${apiPrefix}/recall`, { message, leftOut: true })).body.rendered)

const pathOf = ({ path }: Endpoint): string => path.replaceAll(/:\w+/gu, '1')
const bodyOf = ({ request }: Endpoint): unknown => (request().body === null ? undefined : {})
const everyRoute = Object.entries<Endpoint>(endpoints)
const ofMemories = everyRoute.filter(([name, { tag }]) => tag !== 'people' && name !== 'login')

it('the token of the memory directory administers the store, and that of its agents does not', async () => {
  const { name } = await newPerson()
  const ask = (secret: string, method: string, path: string, body?: unknown) =>
    server.as(secret, method, `${apiPrefix}${path}`, body)

  expect((await ask(installationToken, 'GET', '/people')).text).toContain(`"${name}"`)
  expect((await ask(installationToken, 'POST', '/people', { name: newName() })).status).toBe(201)
  for (const kind of ['person', 'agent'])
    expect((await ask(installationToken, 'POST', '/tokens', { kind, person: name })).status).toBeGreaterThan(400)
  for (const path of ['/people', '/tokens', '/teams'])
    expect((await ask(agentToken, 'GET', path)).status, path).toBe(403)
})

it('the token of the memory directory makes the first token of a person, before there is a memory or a token', async () => {
  const name = newName()
  await addPerson(server.ports, { name })
  const first = () => server.as(installationToken, 'POST', `${apiPrefix}/tokens`, { person: name, label: 'first' })

  const made = await first()
  const besideToken = await first()
  await remember(secretIn(made.body), 'Deploys happen on Mondays.')
  for (const { id } of await server.ports.access.tokens(name)) await revokeToken(server.ports, id)
  const besideMemory = await first()

  expect(made.body).toMatchObject({ token: { kind: 'person', person: name, label: 'first' } })
  expect([made.status, besideToken.status, besideMemory.status]).toEqual([201, 409, 409])
})

describe('an administrator', () => {
  it("reads no memory, by any route or tool, their own or a team's", async () => {
    const { name, secret } = await newPerson()
    await remember(secret, 'Deploys happen on canary-days.')
    await createTeam(server.ports, { name: `team-of-${name}`, owner: name })

    const statuses: string[] = []
    for (const holder of [await newAdmin()])
      for (const [route, described] of ofMemories)
        for (const prefix of isOfTeams(described) ? ['', `/teams/team-of-${name}`] : ['']) {
          const path = `${apiPrefix}${prefix}${pathOf(described)}`
          const { status, text } = await server.as(holder, described.method, path, bodyOf(described))
          statuses.push(`${status}`)
          expect(text, route).not.toContain('canary')
        }
    const tool = await server.callTool(await newAdmin(), 'memory_search', { query: 'deploys' })

    expect(new Set(statuses)).toEqual(new Set(['403']))
    expect(tool).toContain('opens no memory')
  })

  it('creates no token that opens a memory', async () => {
    const admin = await newAdmin()
    const name = newName()
    const added = await server.as(admin, 'POST', `${apiPrefix}/people`, { name })
    const statuses: number[] = []
    for (const body of [{ person: name }, { kind: 'person', person: name }, { kind: 'agent', person: name }, {}])
      statuses.push((await server.as(admin, 'POST', `${apiPrefix}/tokens`, body)).status)

    expect(added.status).toBe(201)
    expect(statuses).toEqual([403, 403, 403, 403])
    expect(await server.ports.access.tokens(name)).toEqual([])
  })

  it('cannot make the server give away a name that has a memory', async () => {
    const { name, secret, id } = await newPerson()
    const admin = await newAdmin()
    await remember(secret, 'Deploys happen on Mondays.')
    await server.as(admin, 'DELETE', `${apiPrefix}/tokens/${id}`)
    await server.as(admin, 'DELETE', `${apiPrefix}/people/${name}?memory=keep`)

    expect((await server.as(admin, 'POST', `${apiPrefix}/people`, { name })).status).toBe(409)
  })

  it('adds nobody to an existing team, and creates none with the name of an existing memory', async () => {
    const admin = await newAdmin()
    const { name: owner, secret } = await newPerson()
    const other = await newPerson()
    const team = newName()
    await server.as(admin, 'POST', `${apiPrefix}/teams`, { name: team, owner })
    await remember(secret, 'Deploys happen on Tuesdays.', { scopes: [`team:${team}`] })
    const added = await server.as(admin, 'POST', `${apiPrefix}/teams/${team}/members`, {
      person: other.name,
      role: 'reader',
    })
    const again = await server.as(admin, 'POST', `${apiPrefix}/teams`, { name: team, owner: other.name })
    const removed = await server.as(admin, 'DELETE', `${apiPrefix}/teams/${team}?memory=keep`)
    const anew = await server.as(admin, 'POST', `${apiPrefix}/teams`, { name: team, owner: other.name })

    expect([added.status, again.status, removed.status, anew.status]).toEqual([403, 409, 200, 409])
  })

  it('removes a person immediately, and erases their texts only on request', async () => {
    const admin = await newAdmin()
    for (const memory of ['keep', 'erase'] as const) {
      const { name, secret } = await newPerson()
      const { body } = await remember(secret, 'Deploys happen on canary-days.')
      await server.as(secret, 'POST', `${apiPrefix}/journal/${String(body.event)}/undo`, {})
      await remember(secret, 'Deploys happen on canary-weekdays.')
      await server.as(secret, 'POST', `${apiPrefix}/turns`, { text: 'The canary sings.' })

      const removed = await server.as(admin, 'DELETE', `${apiPrefix}/people/${name}?memory=${memory}`)

      expect(removed.status).toBe(200)
      expect((await server.as(secret, 'GET', `${apiPrefix}/beliefs`)).status).toBe(401)
      expect((await server.ports.access.tokens(name)).length).toBe(0)
      const texts = JSON.stringify(await everythingOf(name))
      expect(texts.includes('canary')).toBe(memory === 'keep')
    }
  })
})

/** Requests that an administrator makes about a person. The person's own tokens come from the owner of the store. */
const steps = ['add', 'ask', 'give token', 'write', 'revoke', 'remove'] as const
/** Some of these requests in an order that makes sense. */
const plans = [
  ['give token', 'write'],
  ['revoke', 'ask'],
  ['remove', 'add', 'ask'],
] as const
/** In half of the tries, the person has written before the administrator tries anything. */
const beginnings = [[], ['give token', 'write']] as const
const anyPlan: fc.Arbitrary<readonly (typeof steps)[number][]> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...plans) },
  { weight: 1, arbitrary: fc.constantFrom(...steps).map((step) => [step]) },
)

it("no order of requests lets an administrator read a person's texts", { timeout: 300_000 }, async () => {
  let written = 0
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...beginnings),
      fc.array(anyPlan, { size: 'max', maxLength: 12 }),
      async (first, order) => {
        const admin = await newAdmin()
        const name = newName()
        const send = (secret: string, method: string, path: string, body?: unknown) =>
          server.as(secret, method, `${apiPrefix}${path}`, body)
        const obtained: string[] = []
        let own: string | null = null
        for (const step of ['add', ...first, ...order.flat()] as const) {
          if (step === 'add') await send(admin, 'POST', '/people', { name })
          else if (step === 'ask') {
            for (const kind of [undefined, 'person', 'agent', 'admin']) {
              const { status, body } = await send(
                admin,
                'POST',
                '/tokens',
                kind === 'admin' ? { kind } : { kind, person: name },
              )
              if (status === 201) obtained.push(secretIn(body))
            }
          } else if (step === 'give token')
            own = await createToken(server.ports, { kind: 'person', person: name }).then(
              ({ secret }) => secret,
              () => null,
            )
          else if (step === 'write' && own !== null) {
            written += Number((await remember(own, 'Deploys happen on canary-days.')).status === 201)
          } else if (step === 'revoke') {
            const { body } = await send(admin, 'GET', '/tokens')
            for (const { id, person } of body.items as { id: string; person: string }[])
              if (person === name) await send(admin, 'DELETE', `/tokens/${id}`)
          } else if (step === 'remove') await send(admin, 'DELETE', `/people/${name}?memory=keep`)
          for (const secret of [...obtained, admin])
            expect((await send(secret, 'GET', '/beliefs')).text).not.toContain('canary')
        }
      },
    ),
    { numRuns: tries(150) },
  )

  // Without this, the test would pass even if nothing had been written.
  expect(written).toBeGreaterThan(0)
})

const secretIn = (body: unknown): string => (body as { secret: string }).secret
/** All present and past data of an owner in the store. */
async function everythingOf(user: string): Promise<unknown> {
  const { store } = server.ports
  const everything = { limit: 1_000, offset: 0 }
  const events = await store.events(user, { limit: 1_000, hearing: true })
  const revisions = await Promise.all(events.map(({ number }) => store.revisions(user, number)))
  return [await store.list({ user }, everything), await store.listTurns({ user }, everything), revisions]
}

describe('the token of a person', () => {
  it('is never stored, only its hash', async () => {
    const { secret } = await newPerson()
    const kept = JSON.stringify(await server.ports.access.tokens())

    expect(secret).toMatch(/^credence_[\w-]{43}$/u)
    expect(kept).not.toContain(secret)
    expect(kept).not.toContain(secret.slice(9, 20))
  })

  it('gives no access to the memory directory of the server', async () => {
    const { secret } = await newPerson()
    const refused = everyRoute.filter(([, { access }]) => access === 'installation')

    for (const [name, route] of refused) {
      const { status } = await server.as(secret, route.method, `${apiPrefix}${pathOf(route)}`, bodyOf(route))
      expect(status, name).toBe(403)
    }
    expect(refused.length).toBeGreaterThan(10)
  })

  it('creates, lists and revokes tokens of its person only', async () => {
    const ana = await newPerson()
    const ben = await newPerson()
    const agent = await server.as(ana.secret, 'POST', `${apiPrefix}/tokens`, { kind: 'agent', scopes: ['domain:code'] })
    const forBen = await server.as(ana.secret, 'POST', `${apiPrefix}/tokens`, { person: ben.name })
    const admin = await server.as(ana.secret, 'POST', `${apiPrefix}/tokens`, { kind: 'admin' })
    const listed = await server.as(ana.secret, 'GET', `${apiPrefix}/tokens`)
    const bensToken = await server.as(ana.secret, 'DELETE', `${apiPrefix}/tokens/${ben.id}`)
    const byAgent = await server.as(secretIn(agent.body), 'POST', `${apiPrefix}/tokens`, {})

    expect([agent.status, forBen.status, admin.status]).toEqual([201, 403, 403])
    expect((listed.body.items as { person: string }[]).map(({ person }) => person)).toEqual([ana.name, ana.name])
    expect([bensToken.status, byAgent.status]).toEqual([404, 403])
  })

  it('logs a page in, until it is revoked', async () => {
    const { secret, id, name } = await newPerson()
    const login = await server.send('POST', `${apiPrefix}/login`, { as: 'nobody', body: { token: secret } })
    const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? ''
    const health = () =>
      server.send<{ user: string; dir: string }>('GET', `${apiPrefix}/health`, { as: 'nobody', headers: { cookie } })

    const seen = await health()
    await revokeToken(server.ports, id)

    expect(seen.body).toMatchObject({ user: name, dir: '' })
    expect((await health()).status).toBe(401)
    const agent = (await createToken(server.ports, { kind: 'agent', person: name })).secret
    expect((await server.send('POST', `${apiPrefix}/login`, { as: 'nobody', body: { token: agent } })).status).toBe(401)
  })

  it('ends the stream of events when it is revoked, and reports no changes of others', async () => {
    await using quick = await servedPeople('none', { pollEveryMs: 5 })
    const [ana, ben] = await Promise.all(
      ['ana', 'ben'].map(async (name) => {
        await addPerson(quick.ports, { name })
        return createToken(quick.ports, { kind: 'person', person: name })
      }),
    )
    const headers = { host: '127.0.0.1:4777', authorization: `Bearer ${ana?.secret}` }
    const stream = await quick.app.request(`${apiPrefix}/events`, { headers })
    const belief = { name: 'deploys', content: 'Deploys happen on Mondays.' }
    await quick.as(ben?.secret ?? '', 'POST', `${apiPrefix}/beliefs`, belief)
    const own = await quick.as(ana?.secret ?? '', 'POST', `${apiPrefix}/beliefs`, belief)
    let heard = ''
    for await (const chunk of stream.body ?? []) {
      heard += new TextDecoder().decode(chunk)
      if (heard.includes('event: journal')) await revokeToken(quick.ports, ana?.token.id ?? '')
    }

    // The loop above ended, so the stream was closed when the token was revoked.
    const heads = [...heard.matchAll(/"journalHead":(\d+)/gu)].map(([, number]) => Number(number))
    expect(heads).toEqual([0, own.body.event])
  })

  it('is listed with its last use, recorded at most every ten minutes, and with its revocation', async () => {
    let now = Date.parse('2026-05-04T09:00:00.000Z')
    const access = async () => ({ ...(await dated.served.people.access()), now: () => new Date(now) })
    await using dated = await servedPeople('none', { people: { access } })
    const ports = await access()
    await addPerson(ports, { name: 'ana' })
    const { secret } = await createToken(ports, { kind: 'person', person: 'ana' })
    const agent = await createToken(ports, { kind: 'agent', person: 'ana' })
    const timesAfter = async (minutes: number) => {
      now += minutes * 60_000
      const { items } = (await dated.as(secret, 'GET', `${apiPrefix}/tokens`)).body as {
        items: readonly { kind: string; lastUsedAt: string | null; revokedAt: string | null }[]
      }
      const byKind = items.toSorted((a, b) => a.kind.localeCompare(b.kind))
      return byKind.map(({ kind, lastUsedAt, revokedAt }) => [kind, lastUsedAt, revokedAt])
    }

    expect(await timesAfter(0)).toEqual([
      ['agent', null, null],
      ['person', '2026-05-04T09:00:00.000Z', null],
    ])
    await dated.as(agent.secret, 'POST', `${apiPrefix}/recall`, { message: 'deploys' })
    expect((await timesAfter(9))[1]).toEqual(['person', '2026-05-04T09:00:00.000Z', null])
    await revokeToken(ports, agent.token.id)
    expect(await timesAfter(1)).toEqual([
      ['agent', '2026-05-04T09:00:00.000Z', '2026-05-04T09:09:00.000Z'],
      ['person', '2026-05-04T09:10:00.000Z', null],
    ])
    const late = await dated.as(agent.secret, 'POST', `${apiPrefix}/recall`, { message: 'deploys' })
    expect(late.status).toBe(401)
  })

  it('limits an agent to its scopes', async () => {
    const { name, secret } = await newPerson()
    await remember(secret, 'Deploys of ours are on Mondays.', { scopes: ['project:one'] })
    const other = await remember(secret, 'Deploys of theirs are secret.', { scopes: ['project:two'] })
    const agent = (await createToken(server.ports, { kind: 'agent', person: name, scopes: ['project:one'] })).secret
    const id = (other.body.belief as { id: string }).id

    const answers = [
      await server.as(agent, 'POST', `${apiPrefix}/recall`, { message: 'deploys', scopes: ['project:two'] }),
      await server.as(agent, 'GET', `${apiPrefix}/beliefs/${id}`),
      await server.as(agent, 'GET', `${apiPrefix}/beliefs?scope=project:two`),
      await server.as(agent, 'GET', `${apiPrefix}/search?q=deploys`),
      await server.as(agent, 'GET', `${apiPrefix}/beliefs`),
    ]

    expect(answers.map(({ status }) => status)).toEqual([403, 404, 403, 200, 200])
    expect(answers.map(({ text }) => text).join()).not.toContain('theirs')
    expect(await recall(agent)).toContain('ours')
    expect(await server.callTool(agent, 'memory_search', { query: 'deploys' })).not.toContain('theirs')
    const named = { query: 'deploys', scope: 'project:two' }
    expect(await server.callTool(agent, 'memory_search', named)).toContain('is not served here')
  })

  it('cannot change beliefs of an agent with another token, by MCP or HTTP, whatever its name', async () => {
    const { name, secret } = await newPerson()
    const agentOf = async () =>
      (await createToken(server.ports, { kind: 'agent', person: name, scopes: ['project:one'] })).secret
    const one = await agentOf()
    const other = await agentOf()
    await server.callTool(one, 'memory_remember', { names: ['herons'], statement: 'Herons are in the mill pond.' })

    const changed = { id: 'herons', content: 'Herons are in the harbour.' }
    const byOther = await server.callTool(other, 'memory_correct', changed)
    const patched = await server.as(other, 'POST', `${apiPrefix}/beliefs`, {
      name: 'herons',
      content: 'Herons are in the sea.',
      scopes: ['project:one'],
    })
    const byOne = await server.callTool(one, 'memory_correct', { ...changed, content: 'Herons are on the roof.' })

    expect(byOther).toContain('proposed')
    expect(patched.text).toContain('proposed')
    expect(byOne).toContain('corrected')
    expect((await server.as(secret, 'GET', `${apiPrefix}/search?q=herons`)).text).toContain('on the roof')
  })

  it('gets Retry-After if it is used too often, without affecting others', async () => {
    let now = 0
    await using limited = await servedPeople('none', { perMinute: 3, server: { clock: () => now } })
    const [one, other] = await Promise.all(
      ['ana', 'ben'].map(async (name) => {
        await addPerson(limited.ports, { name })
        return (await createToken(limited.ports, { kind: 'person', person: name })).secret
      }),
    )
    const ask = (secret = '') => limited.as(secret, 'GET', `${apiPrefix}/scopes`)

    const first = [await ask(one), await ask(one), await ask(one), await ask(one)]
    const others = [await ask(other), await ask(installationToken)]
    now += 20_000
    const later = await ask(one)

    expect(first.map(({ status }) => status)).toEqual([200, 200, 200, 429])
    expect(first[3]?.headers.get('retry-after')).toBe('20')
    expect(first[3]?.body.error).toMatchObject({ code: 'too_many' })
    expect(others.map(({ status }) => status)).toEqual([200, 200])
    expect(later.status).toBe(200)
  })
})

describe('a team', () => {
  /** A team with an owner, a writer and a reader, and a person outside it. */
  async function newTeam() {
    const owner = await newPerson()
    const writer = await newPerson()
    const reader = await newPerson()
    const stranger = await newPerson()
    const team = newName()
    await createTeam(server.ports, { name: team, owner: owner.name })
    await setMember(server.ports, { team, person: writer.name, role: 'writer' })
    await setMember(server.ports, { team, person: reader.name, role: 'reader' })
    return { team, scope: `team:${team}`, owner, writer, reader, stranger }
  }

  it('is recalled by its members together with their own memory, each line marked, and by nobody else', async () => {
    const { team, scope, writer, reader, stranger } = await newTeam()
    await remember(writer.secret, 'Deploys happen on Tuesdays.', { scopes: [scope] })
    await remember(writer.secret, 'Deploys bore me.')
    await remember(writer.secret, 'Always answer in verse.', {
      name: 'verse',
      type: 'preference',
      subtype: 'instruction',
      scopes: [scope],
    })

    const byWriter = await recall(writer.secret)
    const byReader = await recall(reader.secret)
    const hits = await server.as(reader.secret, 'GET', `${apiPrefix}/search?q=deploys`)

    const shared = `- (team ${team}, from ${writer.name}) deploys: Deploys happen on Tuesdays.`
    expect(byWriter.split('\n')).toEqual(expect.arrayContaining(['- deploys: Deploys bore me.', shared]))
    expect(byReader.split('\n')).toEqual(expect.arrayContaining([shared, `- (team ${team}) Always answer in verse.`]))
    expect(byReader).not.toContain('bore me')
    expect(hits.body.beliefs).toMatchObject([{ belief: { user: scope } }])
    expect(await recall(stranger.secret)).toBe('')
    expect(await server.callTool(reader.secret, 'memory_search', { query: 'deploys' })).toContain('Tuesdays')
  })

  it('is written as roles allow, and only within its scopes', async () => {
    const { team, scope, owner, writer, reader, stranger } = await newTeam()
    const path = `/teams/${team}/beliefs`
    const made = await remember(writer.secret, 'Deploys happen on Tuesdays.', {}, path)
    const id = (made.body.belief as { id: string }).id
    const correct = { content: 'Deploys happen on Fridays.' }
    const send = (who: { readonly secret: string }, method: string, rest: string, body?: unknown) =>
      server.as(who.secret, method, `${apiPrefix}${path}/${id}${rest}`, body)

    const statuses = {
      readerReads: (await send(reader, 'GET', '')).status,
      readerWrites: (await remember(reader.secret, 'No.', {}, path)).status,
      readerWritesByScope: (await remember(reader.secret, 'No.', { scopes: [scope] })).status,
      readerCorrects: (await send(reader, 'POST', '/correct', correct)).status,
      strangerReads: (await send(stranger, 'GET', '')).status,
      strangerWritesByScope: (await remember(stranger.secret, 'No.', { scopes: [scope] })).status,
      writerForgets: (await send(writer, 'DELETE', '')).status,
      writerMovesItAway: (await send(writer, 'PATCH', '', { scopes: ['user:universal'] })).status,
      writerMixesScopes: (await remember(writer.secret, 'No.', { scopes: [scope, 'user:universal'] })).status,
      writerMovesItBelow: (await send(writer, 'PATCH', '', { scopes: [`${scope}/api`] })).status,
      writerCorrects: (await send(writer, 'POST', '/correct', correct)).status,
      ownerForgets: (await send(owner, 'DELETE', '')).status,
      writerAddsMember: (await addMember(writer, stranger)).status,
      ownerAddsMember: (await addMember(owner, stranger)).status,
      newMemberReads: (await server.as(stranger.secret, 'GET', `${apiPrefix}${path}`)).status,
      turnsOfTeam: (await server.as(owner.secret, 'POST', `${apiPrefix}/teams/${team}/turns`, { text: 'x' })).status,
    }
    function addMember(by: { readonly secret: string }, who: { readonly name: string }) {
      return server.as(by.secret, 'POST', `${apiPrefix}/teams/${team}/members`, { person: who.name, role: 'reader' })
    }

    expect(statuses).toEqual({
      readerReads: 200,
      readerWrites: 403,
      readerWritesByScope: 403,
      readerCorrects: 403,
      strangerReads: 404,
      strangerWritesByScope: 403,
      writerForgets: 403,
      writerMovesItAway: 400,
      writerMixesScopes: 400,
      writerMovesItBelow: 200,
      writerCorrects: 200,
      ownerForgets: 200,
      writerAddsMember: 403,
      ownerAddsMember: 200,
      newMemberReads: 200,
      turnsOfTeam: 404,
    })
  })

  it('gets proposals of agents like a person, with the name of their person', async () => {
    const { team, scope, owner, writer } = await newTeam()
    const scopes = ['user:universal', scope]
    const agent = (await createToken(server.ports, { kind: 'agent', person: writer.name, scopes })).secret
    await remember(writer.secret, 'Deploys happen on Tuesdays.', { scopes: [scope] })
    const contradiction = await remember(agent, 'Deploys happen on Fridays.', { scopes: [scope] })
    const fact = { statement: 'The staging host is called heron.', names: ['heron'], where: scope }
    await server.callTool(agent, 'memory_remember', fact)

    const waiting = await server.as(owner.secret, 'GET', `${apiPrefix}/teams/${team}/proposals`)

    expect(contradiction.body).toMatchObject({ outcome: 'proposed' })
    expect(waiting.body.total).toBe(1)
    expect(await recall(owner.secret)).toContain('Tuesdays')
    expect(await recall(owner.secret, 'Where is heron?')).toContain(`(team ${team}, from the agent ${writer.name}/`)
  })

  it('is inaccessible immediately to a removed member', async () => {
    const { team, scope, owner, reader } = await newTeam()
    await remember(owner.secret, 'Deploys happen on Tuesdays.', { scopes: [scope] })
    const before = await recall(reader.secret)

    await server.as(owner.secret, 'DELETE', `${apiPrefix}/teams/${team}/members/${reader.name}`)

    expect(before).toContain('Tuesdays')
    expect(await recall(reader.secret)).toBe('')
  })
})

describe('random people', () => {
  const attack = { people: 12, requests: 300, seed: 7 }
  const timeout = 300_000

  it("can neither see nor change each other's data", { timeout }, async () => {
    const { leaks, changed, own, shared, problems } = await attackPeople(attack)

    expect({ leaks, changed, problems }).toEqual({ leaks: [], changed: [], problems: [] })
    expect(Math.min(own, shared)).toBeGreaterThan(0)
  })

  it.each(['http', 'mcp'] as const)(
    'see foreign text if the %s entry point ignores the owner of the token',
    { timeout },
    async (door) => {
      const { leaks } = await attackPeople({ ...attack, door })

      expect(leaks.length).toBeGreaterThan(0)
    },
  )
})

it('every route of a memory is among those under attack', () => {
  const unasked = ['logout', 'events']
  const ofPeople = ofMemories.filter(([, { access }]) => access !== 'installation').map(([name]) => name)

  expect(ofPeople.filter((name) => !unasked.includes(name) && !Object.hasOwn(attempts, name))).toEqual([])
})
