import { describe, expect, it } from 'vitest'
import type { NewTurn, Turn } from '../beliefs/turn.ts'
import { parseQuestion } from '../search/turns/question.ts'
import { rankTurns } from '../search/turns/rank.ts'
import {
  type AnyStore,
  commitOf,
  erasedChange,
  nextVersion,
  presentChange,
  sample,
  sampleTurn,
} from './sample-beliefs.contract.ts'
import { commitTo, storesFrom } from './test-stores.contract.ts'

export const hear = (store: AnyStore, turns: readonly NewTurn[], user = 'ada') =>
  commitTo(store, commitOf([], { kind: 'hear', user, turns }))

const everything = { limit: 100, offset: 0 }
const textsOf = (turns: readonly Turn[]): readonly string[] => turns.map(({ text }) => text)
const inSession = async (store: AnyStore, session = 's1'): Promise<readonly string[]> =>
  textsOf((await store.listTurns({ user: 'ada', session }, everything)).items)
const rank = async (store: AnyStore, question: string, user = 'ada', scopes: readonly string[] | null = null) =>
  rankTurns(store, { view: { user, scopes }, question: parseQuestion(question), dates: null })

/** Every store of turns passes this suite. */
export function describeTurns(name: string, open: () => AnyStore): void {
  const { empty } = storesFrom(open)

  describe(`${name} keeps turns`, () => {
    it('word for word, with all of their fields', async () => {
      const store = empty()
      const turn = sampleTurn('Line one\nline two\t— 数据库 \u{1f600}\u2028', {
        speaker: 'Ana',
        messageId: 'm-1',
        role: 'assistant',
        utcOffset: -240,
        doubtful: [[0, 8]],
      })

      const event = await hear(store, [turn])

      const { messageId: _messageId, index: _index, ...rest } = turn
      expect(await store.getTurn('ada', turn.id)).toEqual({ ...rest, index: 0 })
      expect(event.turnCount).toBe(1)
      expect(await store.getTurn('bob', turn.id)).toBeNull()
    })

    it('with ids that are found by their beginning, until they are forgotten', async () => {
      const store = empty()
      await hear(store, [
        sampleTurn('one', { id: 't-ab2' }),
        sampleTurn('two', { id: 't-ab1' }),
        sampleTurn('three', { id: 't-b' }),
      ])
      await hear(store, [sampleTurn('four', { id: 't-ab3' })], 'bob')

      const before = await store.turnIdsStartingWith('ada', 't-ab', 10)
      const first = await store.turnIdsStartingWith('ada', 't-ab', 1)
      await commitTo(store, commitOf([], { kind: 'forget', forgottenTurns: ['t-ab1'] }))

      expect(before).toEqual(['t-ab1', 't-ab2'])
      expect(first).toEqual(['t-ab1'])
      expect(await store.turnIdsStartingWith('ada', 't-ab', 10)).toEqual(['t-ab2'])
      expect(await store.turnIdsStartingWith('ada', 't-ab%', 10)).toEqual([])
    })

    it('in the order in which they were said, even if an earlier one arrives later', async () => {
      const store = empty()
      await hear(store, [
        sampleTurn('first', { at: '2026-05-03T10:00:00.000Z' }),
        sampleTurn('third', { at: '2026-05-03T12:00:00.000Z' }),
      ])

      await hear(store, [
        sampleTurn('second', { at: '2026-05-03T11:00:00.000Z' }),
        sampleTurn('fourth', { at: '2026-05-03T12:00:00.000Z' }),
      ])

      expect(await inSession(store)).toEqual(['first', 'second', 'third', 'fourth'])
    })

    it('at the index that the host gives', async () => {
      const store = empty()
      const at = '2026-05-03T10:00:00.000Z'
      await hear(store, [sampleTurn('a', { at, index: 0 }), sampleTurn('c', { at, index: 1 })])

      await hear(store, [sampleTurn('b', { at, index: 1 })])

      expect(await inSession(store)).toEqual(['a', 'b', 'c'])
    })

    it('in the journal, where an undo skips them', async () => {
      const store = empty()
      await hear(store, [sampleTurn('hello')])

      expect(await store.events('ada', { limit: 10 })).toEqual([])
      expect(await store.events('ada', { limit: 10, hearing: true })).toMatchObject([{ kind: 'hear', turnCount: 1 }])
      expect(await store.lastUndoable('ada')).toBeNull()
    })

    it('and exports them in pages, in the order in which they were stored, with their message ids', async () => {
      const store = empty()
      const later = sampleTurn('later', { messageId: 'm-2', at: '2026-05-04T10:00:00.000Z', utcOffset: 330 })
      const gone = sampleTurn('gone', { session: 's2' })
      const earlier = sampleTurn('earlier', { at: '2026-05-03T10:00:00.000Z' })
      await hear(store, [later, gone])
      await hear(store, [earlier])
      await hear(store, [sampleTurn('of somebody else', { user: 'bob' })], 'bob')
      await commitTo(store, commitOf([], { kind: 'forget', user: 'ada', forgottenTurns: [gone.id] }))

      const first = await store.exportTurns('ada', { after: null, limit: 1 })
      const second = await store.exportTurns('ada', { after: first.next, limit: 5 })

      expect(first.turns).toEqual([{ ...later, index: 1 }])
      expect(second).toEqual({ turns: [{ ...earlier, index: 0 }], next: null })
      expect(await store.exportTurns('nobody', { after: null, limit: 5 })).toEqual({ turns: [], next: null })
    })

    it('by session, the latest first, with its opening', async () => {
      const store = empty()
      await hear(store, [
        sampleTurn('Hi, I am here to help.', { session: 'old', role: 'assistant' }),
        sampleTurn('My bike is blue.', { session: 'old', scope: 'project:a', utcOffset: -240 }),
      ])
      await hear(store, [sampleTurn('Later.', { session: 'new', host: 'cli' })])

      const { items, total } = await store.listSessions({ user: 'ada' }, everything)

      expect(total).toBe(2)
      expect(items).toMatchObject([
        { session: 'new', turns: 1, utcOffset: null, hosts: ['cli'], opening: 'Later.' },
        {
          session: 'old',
          turns: 2,
          utcOffset: -240,
          scopes: ['project:a', 'user:universal'],
          opening: 'My bike is blue.',
        },
      ])
    })

    it('by session, filtered, without texts of another scope', async () => {
      const store = empty()
      await hear(store, [
        sampleTurn('The canary of b.', { session: 'mixed', scope: 'project:b', at: '2026-01-01T00:00:00.000Z' }),
        sampleTurn('The wheel of a.', { session: 'mixed', scope: 'project:a', at: '2026-01-02T00:00:00.000Z' }),
        sampleTurn('Nothing.', { session: 'other', scope: 'project:a' }),
      ])
      const list = async (filter: object) => (await store.listSessions({ user: 'ada', ...filter }, everything)).items

      expect(await list({ containing: 'WHEEL' })).toMatchObject([{ session: 'mixed', turns: 1 }])
      expect(await list({ scopes: ['project:b'] })).toMatchObject([{ session: 'mixed', opening: 'The canary of b.' }])
      expect(await list({ scopes: ['project:a'], containing: 'wheel' })).toMatchObject([
        { session: 'mixed', turns: 1, scopes: ['project:a'], opening: 'The wheel of a.' },
      ])
      expect(await list({ containing: 'tram' })).toEqual([])
    })

    it('and lists those that match a filter', async () => {
      const store = empty()
      await hear(store, [
        sampleTurn('Ärger mit dem Rad', { speaker: 'Ana', at: '2026-01-01T00:00:00.000Z', session: 'a' }),
        sampleTurn('the wheel', {
          role: 'assistant',
          at: '2026-02-01T00:00:00.000Z',
          session: 'a',
          scope: 'project:x',
        }),
        sampleTurn('the WHEEL again', { speaker: 'Bo', at: '2026-03-01T00:00:00.000Z', session: 'b' }),
      ])
      const list = async (filter: object) =>
        textsOf((await store.listTurns({ user: 'ada', ...filter }, everything)).items)

      expect(await list({ containing: 'wheel' })).toEqual(['the WHEEL again', 'the wheel'])
      expect(await list({ containing: 'ärger' })).toEqual(['Ärger mit dem Rad'])
      expect(await list({ speaker: 'Bo' })).toEqual(['the WHEEL again'])
      expect(await list({ roles: ['assistant'] })).toEqual(['the wheel'])
      expect(await list({ scopes: ['project:x'] })).toEqual(['the wheel'])
      expect(await list({ since: '2026-02-01T00:00:00.000Z', until: '2026-02-20T00:00:00.000Z' })).toEqual([
        'the wheel',
      ])
      expect((await store.listTurns({ user: 'ada' }, { limit: 1, offset: 1 })).items).toHaveLength(1)
    })
  })

  describe(`${name} recognises a turn that it has`, () => {
    const known = async (store: AnyStore, turn: NewTurn) => (await store.knownTurns('ada', [turn]))[0]

    it('by the id of its host, whatever its other fields are', async () => {
      const store = empty()
      await hear(store, [sampleTurn('hello', { messageId: 'm-1' })])

      expect(await known(store, sampleTurn('HELLO', { messageId: 'm-1', session: 'elsewhere' }))).toMatchObject({
        text: 'hello',
      })
      expect(await known(store, sampleTurn('hello', { messageId: 'm-2' }))).toBeNull()
    })

    it("by its words and the person's previous words, if it arrives from another source", async () => {
      const store = empty()
      await hear(store, [
        sampleTurn('question'),
        sampleTurn('yes'),
        sampleTurn('other question', { session: 's2' }),
        sampleTurn('yes', { session: 's2' }),
      ])

      const again = sampleTurn('yes', { messageId: 'm-9', at: '2027-01-01T00:00:00.000Z' })
      const [question, yes] = await store.knownTurns('ada', [
        sampleTurn('question', { at: '2026-01-01T00:00:00.000Z' }),
        again,
      ])

      expect(question).toMatchObject({ text: 'question' })
      expect(yes).toMatchObject({ text: 'yes', session: 's1' })
      expect(await known(store, sampleTurn('yes', { session: 's3' }))).toBeNull()
      expect(await known(store, sampleTurn('yes', { role: 'assistant' }))).toBeNull()
    })

    it('by its time, if the previous turn was not stored', async () => {
      const store = empty()
      await hear(store, [sampleTurn('yes', { at: '2026-05-03T10:00:00.000Z' })])

      const [, yes] = await store.knownTurns('ada', [
        sampleTurn('never heard', { at: '2026-05-03T09:59:00.000Z' }),
        sampleTurn('yes', { at: '2026-05-03T10:00:02.000Z' }),
      ])

      expect(yes).toMatchObject({ text: 'yes' })
    })

    it('once for each time it was said', async () => {
      const store = empty()
      const twice = () => [
        sampleTurn('yes', { at: '2026-05-03T10:00:00.000Z' }),
        sampleTurn('yes', { at: '2026-05-03T11:00:00.000Z' }),
      ]
      await hear(store, twice())

      const again = await store.knownTurns('ada', twice())

      expect(new Set(again.map((turn) => (turn === null || turn === 'forgotten' ? null : turn.id))).size).toBe(2)
    })

    it('and does not store it twice', async () => {
      const store = empty()
      const turn = sampleTurn('hello')
      await hear(store, [turn])

      expect(await store.commit(commitOf([], { kind: 'hear', turns: [{ ...turn, id: 't-other' }] }))).toEqual({
        outcome: 'stale',
      })
    })
  })

  describe(`${name} forgets turns`, () => {
    it('from every list and from the index', async () => {
      const store = empty()
      const secret = sampleTurn('The zanzibar plan is on.')
      const other = sampleTurn('The weather is fine.')
      await hear(store, [secret, other])

      const event = await commitTo(store, commitOf([], { kind: 'forget', forgottenTurns: [secret.id] }))

      expect(event.turnCount).toBe(1)
      expect(await store.getTurn('ada', secret.id)).toBeNull()
      expect(await inSession(store)).toEqual(['The weather is fine.'])
      expect((await store.getTurn('ada', other.id))?.index).toBe(0)
      const postings = await store.turnPostings({ user: 'ada', scopes: null }, ['zanzibar', 'weather'])
      expect([...postings.terms.keys()]).toEqual(['weather'])
      expect(postings.units).toBe(1)
      expect(await rank(store, 'zanzibar plan')).toEqual([])
    })

    it('and removes a session with its last turn', async () => {
      const store = empty()
      const turn = sampleTurn('hello', { speaker: 'Ana' })
      await hear(store, [turn])

      await commitTo(store, commitOf([], { kind: 'forget', forgottenTurns: [turn.id] }))

      expect(await store.listSessions({ user: 'ada' }, everything)).toEqual({ items: [], total: 0 })
      expect(await store.turnSpeakers({ user: 'ada', scopes: null })).toEqual([])
    })

    it('and still finds the last step of a tool by scope and session', async () => {
      const store = empty()
      const step = (session: string, scope: string) =>
        sampleTurn(`step in ${session}`, { role: 'tool', session, scope })
      await hear(store, [
        step('one', 'project:a'),
        step('two', 'project:b'),
        sampleTurn('hello', { scope: 'project:a' }),
      ])

      const last = async (view: { scopes: readonly string[] | null; session?: string }) => {
        const row = await store.lastStep({ user: 'ada', ...view })
        return row === null ? null : (await store.turnsAt('ada', [row])).get(row)?.session
      }
      expect(await last({ scopes: null })).toBe('two')
      expect(await last({ scopes: ['project:a'] })).toBe('one')
      expect(await last({ scopes: null, session: 'one' })).toBe('one')
      expect(await last({ scopes: ['project:c'] })).toBeNull()
    })

    it('so that the same message does not return under the id of its host', async () => {
      const store = empty()
      const turn = sampleTurn('hello', { messageId: 'm-1' })
      await hear(store, [turn])
      await commitTo(store, commitOf([], { kind: 'forget', forgottenTurns: [turn.id] }))

      expect(await store.knownTurns('ada', [sampleTurn('hello', { messageId: 'm-1' })])).toEqual(['forgotten'])
    })

    it('once, and only those of the user', async () => {
      const store = empty()
      const turn = sampleTurn('hello')
      await hear(store, [turn])
      const forget = (user: string) => store.commit(commitOf([], { kind: 'forget', user, forgottenTurns: [turn.id] }))

      expect(await forget('bob')).toEqual({ outcome: 'stale' })
      expect(await forget('ada')).toMatchObject({ outcome: 'committed' })
      expect(await forget('ada')).toEqual({ outcome: 'stale' })
    })
  })

  describe(`${name} finds turns`, () => {
    it('by their words, and by the words of the turn before', async () => {
      const store = empty()
      await hear(store, [
        sampleTurn('Where did you rent the kayak?', { speaker: 'Bo' }),
        sampleTurn('At the harbour in Bergen.', { speaker: 'Ana' }),
        ...Array.from({ length: 8 }, (_, at) => sampleTurn(`Filler ${at} about nothing.`, { speaker: 'Bo' })),
      ])

      const found = await rank(store, 'Where was the kayak rented?')

      expect(found.slice(0, 2).map(({ turn }) => turn.text)).toContain('At the harbour in Bergen.')
    })

    it('of the user and the scopes only, and no others change a score', async () => {
      const store = empty()
      const kayak = 'I rented a kayak in Norway.'
      await hear(store, [sampleTurn(kayak), sampleTurn('Soup for dinner.', { session: 's2' })])
      const before = await rank(store, 'kayak in Norway', 'ada', ['user:universal'])

      await hear(store, [sampleTurn(kayak, { user: 'bob', session: 'b' })], 'bob')
      await hear(store, [sampleTurn(kayak, { scope: 'project:secret', session: 'p' })])
      const after = await rank(store, 'kayak in Norway', 'ada', ['user:universal'])

      expect(before).toHaveLength(1)
      expect(after.map(({ turn, score }) => [turn.id, score])).toEqual(
        before.map(({ turn, score }) => [turn.id, score]),
      )
      expect((await rank(store, 'kayak', 'ada', ['project:secret'])).map(({ turn }) => turn.scope)).toEqual([
        'project:secret',
      ])
      expect(await rank(store, 'kayak', 'cy')).toEqual([])
    })

    it('of one session, speaker, role or time on request', async () => {
      const store = empty()
      await hear(store, [
        sampleTurn('The kayak is red.', { session: 'a', speaker: 'Ana', at: '2026-01-01T00:00:00.000Z' }),
        sampleTurn('The kayak is blue.', { session: 'b', speaker: 'Bo', at: '2026-02-01T00:00:00.000Z' }),
        sampleTurn('Kayaks are boats.', { session: 'b', role: 'assistant', at: '2026-02-02T00:00:00.000Z' }),
      ])
      const find = async (view: object) => {
        const found = await rankTurns(store, {
          view: { user: 'ada', scopes: null, ...view },
          question: parseQuestion('kayak'),
          dates: null,
        })
        return found.map(({ turn }) => turn.text)
      }

      expect(await find({ session: 'a' })).toEqual(['The kayak is red.'])
      expect(await find({ speaker: 'Bo' })).toEqual(['The kayak is blue.'])
      expect(await find({ roles: ['assistant'] })).toEqual(['Kayaks are boats.'])
      expect(await find({ until: Date.parse('2026-01-15') })).toEqual(['The kayak is red.'])
      expect(await find({ since: Date.parse('2026-02-02') })).toEqual(['Kayaks are boats.'])
      const inTime = { user: 'ada', scopes: null, since: Date.parse('2026-02-01'), until: Date.parse('2026-02-28') }
      expect((await store.turnPostings(inTime, [])).inView?.size).toBe(2)
    })

    it('in the right passage of a long text', async () => {
      const store = empty()
      const filler = 'Nothing of interest is said in this sentence at all. '
      const long = `${filler.repeat(100)}The password hint is pelican. ${filler.repeat(100)}`
      await hear(store, [sampleTurn(long), sampleTurn('after')])

      const [best] = await rank(store, 'What is the hint, pelican?')

      expect(best?.turn.text).toBe(long)
      expect(best?.passage).toContain('pelican')
      expect(best?.passage.length).toBeLessThan(4_001)
      expect(await inSession(store)).toEqual([long, 'after'])
    })

    describe('by meaning', () => {
      const one = Int8Array.of(1, -2, 127)
      const other = Int8Array.of(-90, 90, 0)
      const message = { vectors: one, dimensions: 3 }
      const everywhere = { user: 'ada', scopes: null }

      it('once their vectors are computed, and drops those of a forgotten turn', async () => {
        const store = empty()
        const red = sampleTurn('The kayak is red.')
        const doomed = sampleTurn('The kayak is blue.', { session: 's2' })
        await hear(store, [red, doomed, sampleTurn('Boats are fun.', { role: 'assistant' })])

        expect(await store.hasVectors('ada')).toBe(false)
        const waiting = (await store.withoutVectors('ada', 'm', 'turn', { limit: 10 })).texts
        expect(waiting.map(({ text }) => text)).toEqual(['The kayak is blue.', 'The kayak is red.'])
        const [newest, oldest] = waiting
        expect((await store.withoutVectors('ada', 'm', 'turn', { limit: 1 })).texts).toEqual([newest])
        const earlier = { limit: 10, before: newest?.row ?? 0 }
        expect((await store.withoutVectors('ada', 'm', 'turn', earlier)).texts).toEqual([oldest])
        await commitTo(store, commitOf([], { kind: 'forget', forgottenTurns: [doomed.id] }))
        const kept = waiting.map(({ row }) => ({ row, vectors: one }))
        await store.keepVectors('ada', 'm', 'turn', kept)
        await store.keepVectors('bob', 'm', 'turn', kept)

        const rows = waiting.map(({ row }) => row)
        expect([...(await store.vectorsAt('ada', 'm', rows)).values()]).toEqual([one])
        expect((await store.vectorsAt('ada', 'other', rows)).size).toBe(0)
        const near = await store.turnCosines(everywhere, 'm', message)
        expect([...near.rows]).toEqual([oldest?.row])
        expect(near.cosines[0]).toBeCloseTo(1, 2)
        expect(near).toMatchObject({ isEvery: true, deviation: 0, mean: expect.closeTo(1, 2) })
        for (const [user, scopes, model] of [
          ['ada', null, 'other'],
          ['ada', ['project:elsewhere'], 'm'],
          ['bob', null, 'm'],
        ] as const)
          expect((await store.turnCosines({ user, scopes }, model, message)).rows).toHaveLength(0)
        expect((await store.withoutVectors('ada', 'm', 'turn', { limit: 10 })).texts).toEqual([])
        expect((await store.withoutVectors('bob', 'm', 'turn', { limit: 10 })).texts).toEqual([])
        expect(await store.hasVectors('ada')).toBe(true)
        expect(await store.hasVectors('bob')).toBe(false)
      })

      it('finds new vectors and no forgotten ones after the first search', async () => {
        const store = empty()
        const red = sampleTurn('The kayak is red.')
        const blue = sampleTurn('The kayak is blue.', { session: 's2' })
        await hear(store, [red])
        const embed = async (vectors: Int8Array) => {
          for (const { row } of (await store.withoutVectors('ada', 'm', 'turn', { limit: 10 })).texts)
            await store.keepVectors('ada', 'm', 'turn', [{ row, vectors }])
        }
        const found = async () => [...(await store.turnCosines(everywhere, 'm', message)).cosines].sort()
        await embed(one)
        expect(await found()).toEqual([expect.closeTo(1, 2)])
        await hear(store, [blue])
        await embed(other)
        expect(await found()).toEqual([expect.closeTo(-0.02, 2), expect.closeTo(1, 2)])
        await commitTo(store, commitOf([], { kind: 'forget', forgottenTurns: [red.id] }))
        expect(await found()).toEqual([expect.closeTo(-0.02, 2)])
      })

      it('and beliefs: the current ones, until their text changes or is forgotten', async () => {
        const store = empty()
        const boat = sample({ id: 'b1', content: 'It floats.' })
        const tea = sample({ id: 'b2' })
        await commitTo(store, commitOf([presentChange(boat), presentChange(tea)]))
        const embed = async () => {
          for (const { row, text } of (await store.withoutVectors('ada', 'm', 'belief', { limit: 10 })).texts)
            await store.keepVectors('ada', 'm', 'belief', [{ row, vectors: text === boat.content ? one : other }])
        }
        const near = async (user = 'ada', limit = 10) =>
          (await store.beliefCosines(user, 'm', message, limit)).map(({ beliefId }) => beliefId)
        expect(await store.vectorCounts('ada', 'm')).toEqual({ indexed: 0, waiting: 2 })
        await embed()

        expect(await near()).toEqual(['b1', 'b2'])
        expect(await near('ada', 1)).toEqual(['b1'])
        expect(await near('bob')).toEqual([])
        expect(await store.vectorCounts('ada', 'm')).toEqual({ indexed: 2, waiting: 0 })
        await commitTo(store, commitOf([presentChange(nextVersion(boat, { content: 'The boat was sold.' }))]))
        expect(await near()).toEqual(['b2'])
        expect((await store.withoutVectors('ada', 'm', 'belief', { limit: 10 })).texts).toMatchObject([
          { text: 'The boat was sold.' },
        ])
        await commitTo(store, commitOf([erasedChange(tea, 'erased')], { kind: 'forget' }))
        expect(await near()).toEqual([])
      })

      it('never with vectors of another model, which a new model replaces', async () => {
        const store = empty()
        await hear(store, [sampleTurn('The kayak is red.'), sampleTurn('The kayak is blue.', { session: 's2' })])
        const [newest, oldest] = (await store.withoutVectors('ada', 'old', 'turn', { limit: 10 })).texts
        for (const turn of [newest, oldest])
          await store.keepVectors('ada', 'old', 'turn', [{ row: turn?.row ?? 0, vectors: one }])

        await store.keepVectors('ada', 'new', 'turn', [{ row: newest?.row ?? 0, vectors: one }])

        const rowsOf = async (model: string) => [...(await store.turnCosines(everywhere, model, message)).rows]
        expect(await rowsOf('new')).toEqual([newest?.row])
        expect(await rowsOf('old')).toEqual([oldest?.row])
        expect(await store.vectorCounts('ada', 'new')).toEqual({ indexed: 1, waiting: 1 })
        expect((await store.withoutVectors('ada', 'new', 'turn', { limit: 10 })).texts).toEqual([oldest])
      })
    })

    it('in scripts without spaces', async () => {
      const store = empty()
      await hear(store, [sampleTurn('我的自行车是蓝色的。'), sampleTurn('今天天气很好。')])

      expect((await rank(store, '自行车'))[0]?.turn.text).toBe('我的自行车是蓝色的。')
    })
  })
}
