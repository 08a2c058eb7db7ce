import { beforeEach, describe, expect, it } from 'vitest'
import { type BeliefRecord, readRecords } from '../../memory/transfer/belief-record.ts'
import type { HearingSystem, System, SystemAnswer, SystemQuery, SystemTurn } from './system.ts'

const scopes = ['domain:boats']
const record = (id: string, name: string, fields: object = {}) => ({
  id,
  user: 'ann',
  name,
  content: `All about the ${name}.`,
  scopes,
  createdAt: '2026-01-01T00:00:00Z',
  ...fields,
})

const corpus: readonly BeliefRecord[] = readRecords(
  { now: () => new Date(0), newId: () => 'unused' },
  {
    text: JSON.stringify([
      record('m-1', 'anchor', { aliases: ['kedge'] }),
      record('m-2', 'mainsail', { type: 'decision' }),
      record('m-3', 'jib', { status: 'superseded', supersededBy: 'm-2' }),
      record('m-4', 'radio', { pinned: true }),
      record('m-5', 'berth', { type: 'open_question', pinned: true }),
      record('m-6', 'oven', { scopes: ['domain:kitchen'] }),
      record('m-7', 'anchor', { user: 'bob' }),
      record('m-8', 'ground tackle', { type: 'relation', participants: ['m-1', 'm-3'] }),
    ]),
    source: 'corpus',
    user: 'ann',
    scopes,
  },
).records.map(({ record: read }) => read)

const query = (message: string, fields: Partial<SystemQuery> = {}): SystemQuery => ({
  user: 'ann',
  scopes,
  message,
  budget: {},
  recall: {},
  ...fields,
})

const messages = [
  'Is the anchor big enough?',
  'the mainsail, the jib, the radio, the berth and the oven',
  'ground tackle',
  'nothing of the kind',
  '',
  '¿?',
]

/** The contract of every `System`, regardless of its method and results: the harness must be able to trust all of them equally. */
export function describeSystem(name: string, open: () => Promise<System>): void {
  describe(`${name} is a System`, () => {
    let system: System
    beforeEach(async () => {
      system = await open()
      await system.reset()
      return () => system.close()
    })

    const idsOf = ({ relevant }: SystemAnswer): readonly string[] => relevant.map(({ id }) => id)
    const askAll = async (): Promise<readonly SystemAnswer[]> => {
      const answers: SystemAnswer[] = []
      for (const message of messages) answers.push(await system.recall(query(message)))
      return answers
    }

    it('has a name and a version', () => {
      expect(system.name).toMatch(/^[a-z0-9-]+$/u)
      expect(system.description).not.toBe('')
      expect(system.version).not.toBe('')
    })

    it('returns only beliefs of the corpus, each once', async () => {
      await system.ingest(corpus)
      const given = new Set(corpus.map(({ id }) => id))

      for (const answer of await askAll()) {
        expect(idsOf(answer).filter((id) => !given.has(id))).toEqual([])
        expect(new Set(idsOf(answer)).size).toBe(answer.relevant.length)
      }
    })

    it('never shows items of another user, another scope or the past', async () => {
      await system.ingest(corpus)

      for (const answer of await askAll())
        expect(idsOf(answer).filter((id) => ['m-3', 'm-6', 'm-7'].includes(id))).toEqual([])
    })

    it('fills only the tiers it claims', async () => {
      await system.ingest(corpus)

      const answers = await askAll()

      for (const answer of answers) {
        if (system.tiers === 'relevant') expect(answer).toMatchObject({ prelude: null, pinned: [], questions: [] })
        else expect(answer).toMatchObject({ pinned: ['m-4'], questions: ['m-5'] })
        expect(idsOf(answer)).not.toContain('m-5')
      }
    })

    it('returns nothing to an unknown user or without a corpus', async () => {
      expect(idsOf(await system.recall(query('anchor')))).toEqual([])
      await system.ingest(corpus)
      expect(idsOf(await system.recall(query('anchor', { user: 'eve' })))).toEqual([])
    })

    it('always returns the same answer to the same question', async () => {
      await system.ingest(corpus)

      expect(await askAll()).toEqual(await askAll())
    })

    it('does not depend on the order of the beliefs in the corpus', async () => {
      await system.ingest(corpus)
      const before = (await askAll()).map((answer) => [...idsOf(answer)].sort())

      await system.reset()
      await system.ingest([...corpus].reverse())

      expect((await askAll()).map((answer) => [...idsOf(answer)].sort())).toEqual(before)
    })

    it('forgets everything when it is reset', async () => {
      await system.ingest(corpus)
      await system.reset()

      for (const answer of await askAll())
        expect(answer).toMatchObject({ prelude: null, pinned: [], relevant: [], questions: [] })
    })

    it('answers as if an update had been in the corpus from the start', async () => {
      const [anchor, ...others] = corpus as readonly [BeliefRecord, ...BeliefRecord[]]
      const created: BeliefRecord = {
        ...anchor,
        id: 'm-9',
        name: 'windlass',
        aliases: [],
        content: 'All about the windlass.',
      }
      const renamed: BeliefRecord = { ...anchor, name: 'bower', aliases: ['kedge', 'hook'], content: 'New.' }
      const asked = [query('a windlass'), query('the bower'), query('which hook?'), query('anchor'), query('kedge')]

      await system.ingest(corpus)
      await system.update({ kind: 'create', belief: created })
      await system.update({ kind: 'replace', belief: renamed })
      const updated: (readonly string[])[] = []
      for (const one of asked) updated.push(idsOf(await system.recall(one)))
      await system.reset()
      await system.ingest([renamed, ...others, created])

      for (const [at, one] of asked.entries()) expect(idsOf(await system.recall(one))).toEqual(updated[at])
    })

    it('returns falling scores, with clauses that add up to them if it has clauses', async () => {
      await system.ingest(corpus)

      for (const { relevant } of await askAll()) {
        // Scores with and without clauses are on different scales, so they are checked separately.
        for (const own of [relevant.filter((hit) => hit.clauses), relevant.filter((hit) => !hit.clauses)]) {
          const scores = own.flatMap(({ score }) => (score === null ? [] : [score]))
          expect(scores).toEqual([...scores].sort((a, b) => b - a))
        }
        for (const { score, clauses } of relevant) {
          if (clauses !== undefined)
            expect(clauses.reduce((total, clause) => total + clause.score, 0)).toBeCloseTo(score ?? Number.NaN, 12)
        }
      }
    })
  })
}

const said = (session: string, ...texts: readonly string[]): readonly SystemTurn[] =>
  texts.map((text, index) => ({
    id: `${session}-${index}`,
    user: 'ann',
    scope: 'project:boats',
    session,
    index,
    text,
    role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
    at: `2026-0${session.slice(1)}-01T10:0${index}:00.000Z`,
  }))

const conversation: readonly SystemTurn[] = [
  ...said('s1', 'My anchor weighs twenty kilos.', 'A heavy anchor is a safe anchor.', 'I rented a kayak near Voss.'),
  ...said('s2', 'The harbour master in Bergen is called Ingrid.', 'Noted.', 'Always answer in British English.'),
  ...said('s3', 'I sold the old mainsail.'),
]
const asked = [
  'How heavy is my anchor?',
  'Who is the harbour master in Bergen?',
  'What did step 2 show?',
  'nothing',
  '',
]

/** The contract of every memory that stores conversations. */
export function describeHearing(name: string, open: () => Promise<HearingSystem>): void {
  describe(`${name} hears conversations`, () => {
    let system: HearingSystem
    beforeEach(async () => {
      system = await open()
      await system.reset()
      return () => system.close()
    })

    const at = '2026-05-01T10:00:00.000Z'
    const ask = (message: string): Promise<SystemAnswer> =>
      system.recall(query(message, { scopes: ['project:boats'], at, budget: { maxBeliefs: 100 } }))
    const askAll = async (): Promise<readonly SystemAnswer[]> => {
      const answers: SystemAnswer[] = []
      for (const message of asked) answers.push(await ask(message))
      return answers
    }

    it('has a name and a version', () => {
      expect(system.name).toMatch(/^[a-z0-9-]+$/u)
      expect(system.description).not.toBe('')
      expect(system.version).not.toBe('')
    })

    it('returns only turns or sessions that it received, each once, best first', async () => {
      await system.hear(conversation)
      const told = new Set(conversation.flatMap(({ id, session }) => [id, session]))

      for (const { relevant, pinned } of await askAll()) {
        const ids = relevant.map(({ id }) => id)
        expect([...ids, ...pinned].filter((id) => !told.has(id))).toEqual([])
        expect(new Set(ids).size).toBe(ids.length)
      }
    })

    it('always returns the same answer to the same question', async () => {
      await system.hear(conversation)

      expect(await askAll()).toEqual(await askAll())
    })

    it('returns the same answers if the turns arrive in parts', async () => {
      await system.hear(conversation)
      const whole = (await askAll()).map(({ relevant }) => relevant)
      await system.reset()
      for (const turn of conversation) await system.hear([turn])

      expect((await askAll()).map(({ relevant }) => relevant)).toEqual(whole)
    })

    it('returns nothing without turns, and forgets everything when it is reset', async () => {
      const nothing = { pinned: [], relevant: [] }
      for (const answer of await askAll()) expect(answer).toMatchObject(nothing)
      await system.hear(conversation)
      await system.reset()

      for (const answer of await askAll()) expect(answer).toMatchObject(nothing)
    })
  })
}
