import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RouteAnswer, RouteName } from '../../src/http/api/contract.ts'
import { memoryFrom } from '../../src/memory/memory.ts'
import { startTestServer } from './test-server.ts'

let server: Awaited<ReturnType<typeof startTestServer>>

beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server[Symbol.asyncDispose]())

type Options = Parameters<typeof server.send>[2]

const get = async <Name extends RouteName>(path: string): Promise<RouteAnswer<Name>> => {
  const { status, body, text } = await server.send<RouteAnswer<Name>>('GET', `/api/v1${path}`)
  if (status !== 200) throw new Error(`${status} ${text}`)
  return body
}
const send = <Name extends RouteName>(method: string, path: string, body?: object, options?: Options) =>
  server.send<RouteAnswer<Name>>(method, `/api/v1${path}`, { ...(body === undefined ? {} : { body }), ...options })
const refused = (method: string, path: string, body?: object) =>
  server.send(method, `/api/v1${path}`, body === undefined ? {} : { body })
const hear = async (body: object, options?: Options) => (await send<'hear'>('POST', '/turns', body, options)).body

const day = (date: string, text: string, more: object = {}) => ({ text, at: `2026-05-${date}T10:00:00Z`, ...more })

describe('storing turns', () => {
  it('stores one or many, reports the outcome of each, and stores none twice', async () => {
    const turns = [
      day('01', 'We moored the sloop at pier nine.', { session: 'sloop', speaker: 'Ana' }),
      day('02', 'Pier nine it is.', { session: 'sloop', role: 'assistant' }),
      day('03', 'Off the record: the hull leaks.', { session: 'sloop' }),
      day('04', '   ', { session: 'sloop' }),
    ]

    const first = await hear({ turns })
    const again = await hear({ turns })
    const one = await hear(day('05', 'The sloop sails on Friday.', { session: 'sloop' }))

    expect(first).toMatchObject({ kept: 2, known: 0, leftOut: 2 })
    expect(first.turns.map(({ outcome }) => outcome)).toEqual(['kept', 'kept', 'off the record', 'refused'])
    expect(first.turns[3]?.reason).toBe('The turn has no text.')
    expect(again).toMatchObject({ kept: 0, known: 2, leftOut: 2 })
    expect(again.turns.map(({ id }) => id)).toEqual(first.turns.map(({ id }) => id))
    expect(one).toMatchObject({ kept: 1, turns: [{ outcome: 'kept', session: 'sloop', reason: null }] })
    const { items, total } = await get<'getConversation'>('/conversations/sloop')
    expect(total).toBe(3)
    expect(items[0]).toMatchObject({ speaker: 'Ana', role: 'user', origin: 'person', host: 'http', index: 0 })
  })

  it('learns requested statements, lists them for review, or stores the turn only', async () => {
    const text = (code: string) => `Remember that the harbour code is ${code}.`

    const learned = await hear({ text: text('4711') })
    const listed = await hear({ text: text('4712'), learn: 'review' })
    const left = await hear({ text: text('4713'), learn: 'nothing' })

    expect(learned.learned).toMatchObject([{ outcome: 'remembered', belief: { candidate: false } }])
    expect(listed.learned).toMatchObject([{ outcome: 'candidate', belief: { candidate: true } }])
    expect(left).toMatchObject({ kept: 1, learned: [] })
    const [entry] = (await get<'journal'>('/journal?limit=1&hearing=true')).items
    expect(entry?.event).toMatchObject({ kind: 'hear', turnCount: 1, beliefCount: 0 })
  })

  it('has one effect for an idempotency key, however late the request is repeated', async () => {
    const options = { headers: { 'idempotency-key': 'heard-1' } }
    const turns = [
      { text: 'Aye.', session: 'key' },
      { text: 'Aye aye.', session: 'key' },
    ]
    await hear({ turns }, options)
    await hear({ text: 'Something else.', session: 'key' })

    expect(await hear({ turns }, options)).toMatchObject({ kept: 0, known: 2 })
    expect((await get<'getConversation'>('/conversations/key')).total).toBe(3)
  })

  it.each([
    [{ text: 5 }, 'text: Invalid input: expected string'],
    [{ turns: [] }, 'turns: Too small'],
    [{ turns: [{ text: 'x', role: 'robot' }] }, 'turns.0.role: Invalid option'],
    [{ turns: [{ txt: 'x' }] }, 'turns.0'],
    [{ text: 'x', at: 'yesterday' }, '"yesterday" is not a date.'],
    [{ text: 'x', scope: 'nowhere' }, 'nowhere'],
  ])('refuses %j with the reason', async (body, message) => {
    const answer = await refused('POST', '/turns', body)

    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'invalid' } } })
    expect(answer.body.error.message).toContain(message)
  })

  it('masks secrets before storing', async () => {
    const secret = `ghp_${'a1B2c3D4'.repeat(5)}`.slice(0, 40)
    await hear({ text: `My token is ${secret}.`, session: 'secret' })

    const { text } = await server.send('GET', '/api/v1/conversations/secret')

    expect(text).toContain('My token is')
    expect(text).not.toContain(secret)
  })
})

describe('reading turns', () => {
  it('shows the turns around one of them', async () => {
    const { turns } = await hear({
      turns: Array.from({ length: 9 }, (_, at) => day(`0${at + 1}`, `Line ${at}.`, { session: 'nine/lines' })),
    })
    const at = async (place: number, around: number) => {
      const { turn, before, after } = await get<'getTurn'>(`/turns/${turns[place]?.id}?around=${around}`)
      return [before, [turn], after].map((part) => part.map(({ text }) => text.slice(5, -1)).join(''))
    }

    expect(await at(4, 2)).toEqual(['23', '4', '56'])
    expect(await at(0, 2)).toEqual(['', '0', '12'])
    expect(await at(8, 3)).toEqual(['567', '8', ''])
    expect(await at(4, 0)).toEqual(['', '4', ''])
    expect((await refused('GET', '/turns/t-none')).status).toBe(404)
    const session = encodeURIComponent('nine/lines')
    expect((await get<'getConversation'>(`/conversations/${session}?offset=7`)).items).toHaveLength(2)
    expect((await refused('GET', '/conversations/none')).status).toBe(404)
  })

  it('filters lists by every given field', async () => {
    await hear({
      turns: [
        day('10', 'Anchors cost 90 crowns.', { session: 'shop', speaker: 'Ana' }),
        day('11', 'Ropes cost 20 crowns.', { session: 'shop', role: 'assistant' }),
        day('12', 'Anchors again.', { session: 'shop 2', scope: 'project:website' }),
      ],
    })
    const texts = async (query: string) => (await get<'listTurns'>(`/turns?${query}`)).items.map(({ text }) => text)

    expect(await texts('containing=ANCHORS')).toEqual(['Anchors again.', 'Anchors cost 90 crowns.'])
    expect(await texts('session=shop')).toEqual(['Anchors cost 90 crowns.', 'Ropes cost 20 crowns.'])
    expect(await texts('session=shop&role=assistant')).toEqual(['Ropes cost 20 crowns.'])
    expect(await texts('containing=anchors&speaker=Ana')).toEqual(['Anchors cost 90 crowns.'])
    expect(await texts('scope=project:website')).toEqual(['Anchors again.'])
    expect(await texts('containing=anchors&until=2026-05-10')).toEqual(['Anchors cost 90 crowns.'])
    const { items } = await get<'listConversations'>('/conversations?containing=anchors')
    expect(items.map(({ session }) => session)).toEqual(['shop 2', 'shop'])
    for (const query of ['since=soon', 'role=robot', 'scope=nowhere', 'limit=0'])
      expect((await refused('GET', `/turns?${query}`)).status).toBe(400)
  })
})

describe('forgetting turns', () => {
  it('first shows a preview, then forgets permanently', async () => {
    await hear({ turns: [day('20', 'The zanzibar canary sings.'), day('21', 'Nothing here.')] })
    await hear({ text: 'Remember that the zanzibar route is closed.', session: 'route' })
    const query = '/turns?containing=zanzibar'

    const { body: would } = await send<'forgetTurns'>('DELETE', `${query}&dryRun=true`)
    const { body: did } = await send<'forgetTurns'>('DELETE', query)

    expect(would).toMatchObject({ turns: 2, beliefs: 1, event: null })
    expect(would.examples).toHaveLength(2)
    expect(did).toMatchObject({ turns: 2, beliefs: 1, event: expect.any(Number) })
    for (const path of ['/turns?limit=200', '/beliefs?limit=200', '/search?q=zanzibar', '/conversations?limit=200'])
      expect((await server.send('GET', `/api/v1${path}`)).text).not.toContain('zanzibar')
    expect((await refused('DELETE', '/turns')).body.error.message).toBe('No turns were selected.')
    expect((await refused('DELETE', '/turns?turn=t-none')).status).toBe(404)
    expect((await refused('DELETE', '/turns?since=soon')).status).toBe(400)
  })
})

describe('search', () => {
  it('returns beliefs and quotes, each with its strength, up to the limit', async () => {
    await hear({
      turns: [
        day('01', 'My dentist is Doctor Valdez on Elm Street.', { session: 'teeth' }),
        day('20', 'I moved to another dentist: Doctor Okafor.', { session: 'teeth 2', speaker: 'Ben' }),
      ],
    })
    const found = async (query: string) =>
      (await get<'search'>(`/search?q=Who+is+my+dentist%3F${query}`)).quotes.map(({ text }) => text)

    const { beliefs, total, quotes } = await get<'search'>('/search?q=Which+dentist,+and+is+Redis+up%3F')

    expect(total).toBe(beliefs.length)
    expect(beliefs[0]).toMatchObject({ strength: 'exact', belief: { name: 'Redis' } })
    expect(quotes[0]).toMatchObject({
      session: 'teeth 2',
      speaker: 'Ben',
      role: 'user',
      at: '2026-05-20T10:00:00.000Z',
    })
    for (const { score, explanation } of quotes) expect(explanation.value).toBeCloseTo(score)
    expect(await found('&until=2026-05-10')).toEqual(['My dentist is Doctor Valdez on Elm Street.'])
    expect(await found('&asOf=2026-05-10')).toEqual(['My dentist is Doctor Valdez on Elm Street.'])
    expect(await found('&session=teeth')).toEqual(['My dentist is Doctor Valdez on Elm Street.'])
    expect(await found('&speaker=Ben')).toEqual(['I moved to another dentist: Doctor Okafor.'])
    expect(await found('&limit=1')).toHaveLength(1)
    expect(await found('&in=beliefs')).toEqual([])
    expect(await found('&scope=project:website')).toEqual([])
    expect((await get<'search'>('/search?q=Redis&in=turns')).beliefs).toEqual([])
    for (const query of ['', 'q=x&limit=101', 'q=x&in=files', 'q=x&asOf=soon'])
      expect((await refused('GET', `/search?${query}`)).status).toBe(400)
  })
})

describe('recall', () => {
  it('quotes the answer to the message with the reason, also as of an earlier time', async () => {
    const said = 'The trampoline arrives at Okonkwo gardens in September.'
    await hear(day('02', said, { session: 'garden' }))
    const message = 'When does the trampoline arrive at Okonkwo gardens?'
    const recalled = async (more: object = {}) => (await send<'recall'>('POST', '/recall', { message, ...more })).body

    const now = await recalled()
    const before = await recalled({ asOf: '2026-05-01' })
    const plain = await recalled({ leftOut: false, budget: { maxQuotes: 0 } })

    expect(now.context.quotes).toMatchObject([{ text: said, session: 'garden', role: 'user', earlier: false }])
    expect(now.rendered).toContain(`- 2026-05-02, the person: "${said}"`)
    expect(now.quoteDecision?.asked).toContain('trampoline')
    expect(before.context.quotes).toEqual([])
    expect(before.context.relevant).toEqual([])
    expect(plain).toMatchObject({ context: { quotes: [] }, quoteDecision: null, leftOut: [] })
    expect((await refused('POST', '/recall', { message, asOf: 'soon' })).status).toBe(400)
  })

  it('returns no belief as of a time before the first one', async () => {
    const { body } = await send<'recall'>('POST', '/recall', { message: 'Is redis up?', asOf: '2020-01-01' })

    expect(body.context).toMatchObject({ relevant: [], pinned: [], prelude: null })
  })
})

describe('candidates', () => {
  it('are listed with other waiting items, and become beliefs or are removed as a person decides', async () => {
    await hear({ turns: [{ text: 'I prefer walnut decks over teak.' }, { text: 'I prefer canvas sails.' }] })

    const { candidates } = await get<'listProposals'>('/proposals')
    const [sails, decks] = ['canvas', 'walnut'].map(
      (word) => candidates.items.find(({ belief }) => belief.content.includes(word))?.belief.id ?? 'none',
    )
    expect(candidates.items.every(({ belief, reason }) => belief.candidate && reason !== '')).toBe(true)
    expect((await get<'health'>('/health')).counts.candidates).toBe(candidates.total)
    expect((await get<'listBeliefs'>('/beliefs?candidates=true')).total).toBe(candidates.total)
    expect((await get<'listBeliefs'>('/beliefs?candidates=true&query=walnut')).total).toBe(1)

    const { body: accepted } = await send<'acceptProposal'>('POST', `/proposals/${decks}/accept`)
    const { status } = await send<'rejectProposal'>('POST', `/proposals/${sails}/reject`)

    expect(accepted.belief).toMatchObject({ id: decks, candidate: false, status: 'active', editedByPerson: true })
    expect(status).toBe(200)
    expect((await refused('GET', `/beliefs/${sails}`)).status).toBe(404)
    expect((await get<'listProposals'>('/proposals')).candidates.total).toBe(candidates.total - 2)
  })
})

describe('another user', () => {
  it('cannot read, find or forget any of these turns', async () => {
    const author = { actor: 'person', origin: 'test' } as const
    const eve = memoryFrom(server.ports, { user: 'eve', scopes: ['project:ledger'], agent: null, author })
    const { turns } = await eve.hear({ text: 'The ibis of Eve nests in Trondheim.', session: 'eve' })
    const id = turns[0]?.turn?.id ?? ''

    for (const path of [`/turns/${id}`, '/conversations/eve']) expect((await refused('GET', path)).status).toBe(404)
    expect((await refused('POST', `/turns/${id}/why`, { message: 'ibis' })).status).toBe(404)
    expect((await refused('DELETE', `/turns?turn=${id}`)).status).toBe(404)
    expect((await send<'forgetTurns'>('DELETE', '/turns?containing=ibis')).body.turns).toBe(0)
    for (const path of ['/turns?containing=ibis', '/conversations?limit=200', '/search?q=ibis+Trondheim'])
      expect((await server.send('GET', `/api/v1${path}`)).text).not.toContain('nests')
    expect((await eve.turn(id)).text).toContain('Trondheim')
  })
})

it('caused no unexpected error in all of these requests', () => {
  expect(server.problems).toEqual([])
})
