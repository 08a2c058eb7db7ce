import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { NewTurn } from '../../beliefs/turn.ts'
import { commitOf, fixedRandom, sampleTurn } from '../../store/sample-beliefs.contract.ts'
import { inMemory } from '../../store/sqlite/database.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import { recompute } from '../explanation.ts'
import { pushQuotes } from './push.ts'
import { dateWindow, parseQuestion } from './question.ts'
import { rankTurns } from './rank.ts'

const view = { user: 'ada', scopes: null }

async function storeOf(turns: readonly NewTurn[]) {
  const store = openSqliteStore({ file: inMemory, random: fixedRandom })
  await store.commit(commitOf([], { kind: 'hear', turns }))
  return store
}

async function ranked(turns: readonly NewTurn[], question: string) {
  const store = await storeOf(turns)
  const speakers = await store.turnSpeakers(view)
  return rankTurns(store, { view, question: parseQuestion(question, speakers), dates: null })
}

const texts = async (turns: readonly NewTurn[], question: string): Promise<readonly string[]> =>
  (await ranked(turns, question)).map(({ turn }) => turn.text)

/** Each sentence in a separate conversation. */
const separateConversations = (...sentences: readonly string[]): readonly NewTurn[] =>
  sentences.map((text, at) => sampleTurn(text, { session: `s${at}` }))

describe('ranking turns', () => {
  it('puts turns of the person before those of the assistant, unless the question asks for the latter', async () => {
    const both = [
      sampleTurn('I like the kayak.', { session: 'a' }),
      sampleTurn('The kayak is a boat.', { session: 'b', role: 'assistant' }),
    ]

    expect((await texts(both, 'What about the kayak?'))[0]).toBe('I like the kayak.')
    expect((await texts(both, 'Which boat did you recommend, you said kayak?'))[0]).toBe('The kayak is a boat.')
  })

  it('puts the answer of the assistant before the question that it answers, if the answer is requested', async () => {
    const chat = [
      sampleTurn('Which screws should I use for the gutter?', { session: 'a' }),
      sampleTurn('For the gutter use stainless screws with a flat head.', { session: 'a', role: 'assistant' }),
    ]

    for (const asked of ['Which screws did you recommend for the gutter?', 'What did the assistant say about screws?'])
      expect((await texts(chat, asked))[0]).toContain('stainless')
    // A question that names no speaker prefers neither the person nor the assistant.
    const either = await ranked(chat, 'Remind me which screws I asked about for the gutter.')
    for (const { explain } of either) expect(JSON.stringify(explain())).not.toContain('"assistant"')
  })

  it('puts the turn of the person who is named first', async () => {
    const turns = [
      sampleTurn('I bought a red kayak.', { session: 'a', speaker: 'Ana' }),
      sampleTurn('I bought a red kayak.', { session: 'b', speaker: 'Bo' }),
    ]

    expect((await ranked(turns, 'What did Ana buy?'))[0]?.turn.speaker).toBe('Ana')
    expect((await ranked(turns, 'What did Bo buy?'))[0]?.turn.speaker).toBe('Bo')
  })

  it('returns the turns of a time, if a question asks for nothing else', async () => {
    const day = { at: '2026-02-16T15:00:00.000Z' }
    const store = await storeOf([
      sampleTurn('I run a race on 16 May.', { session: 'a', at: '2026-01-11T20:00:00.000Z' }),
      sampleTurn('All pallets are unloaded.', { session: 'b', ...day }),
      sampleTurn('One of them was wet.', { session: 'b', ...day }),
      sampleTurn('The roof is done.', { session: 'c', at: '2026-04-22T07:00:00.000Z' }),
    ])
    const answers = async (text: string): Promise<readonly string[]> => {
      const dates = await dateWindow(text, new Date('2026-06-01T00:00:00Z'))
      const found = await rankTurns(store, { view, question: parseQuestion(text), dates })
      for (const { score, explain } of found) expect(recompute(explain())).toBeCloseTo(score)
      return found.map(({ turn }) => turn.text)
    }

    for (const text of ['What happened on 16 February?', 'What did we talk about on 16 February?'])
      expect((await answers(text)).slice(0, 2).sort()).toEqual(['All pallets are unloaded.', 'One of them was wet.'])
    expect(await answers('What happened on 22 April?')).toEqual(['The roof is done.'])
    expect((await answers('What happened to the roof on 16 February?'))[0]).toBe('The roof is done.')
  })

  it('prefers a turn with a time or a number if the question asks for one', async () => {
    expect(
      (await texts(separateConversations('I sold kayaks.', 'I sold kayaks in March.'), 'When did I sell kayaks?'))[0],
    ).toContain('March')
    expect(
      (await texts(separateConversations('I sold kayaks.', 'I sold nine kayaks.'), 'How many kayaks did I sell?'))[0],
    ).toContain('nine')
  })

  it('prefers turns of the time that the question asks about', async () => {
    const turns = [
      sampleTurn('The kayak trip was fun.', { session: 'a', at: '2026-01-10T00:00:00.000Z' }),
      sampleTurn('The kayak trip was fun.', { session: 'b', at: '2026-03-10T00:00:00.000Z' }),
      sampleTurn('Soup.', { session: 'c', at: '2026-04-10T00:00:00.000Z' }),
      sampleTurn('The kayak trip was wet.', { session: 'd', at: '2026-05-10T00:00:00.000Z' }),
    ]
    const store = await storeOf(turns)
    const dates = { from: Date.parse('2026-01-01'), to: Date.parse('2026-02-01'), terms: new Set<string>() }

    const [first] = await rankTurns(store, { view, question: parseQuestion('kayak trip'), dates })

    expect(first?.turn.session).toBe('a')
  })

  it('prefers words that are together in one sentence', async () => {
    const at = '2026-05-03T10:00:00.000Z'
    const both = ['I was at home. I rented the kayak in Norway.', 'I rented it in Norway. The kayak was at home.']
    const turns = separateConversations(...both).map((turn) => ({ ...turn, at }))

    expect((await texts(turns, 'Where did I rent the kayak, in Norway?'))[0]).toBe(turns[0]?.text)
  })

  it('prefers the turn whose session mentions the subject elsewhere too', async () => {
    const at = '2026-05-03T10:00:00.000Z'
    const far = ['Soup is fine.', 'Bread is fine.', 'Milk is fine.', 'Tea is fine.']
    const session = (name: string, last: string): readonly NewTurn[] =>
      ['The kayak is red.', ...far, last].map((text) => sampleTurn(text, { session: name, at }))

    const found = await ranked([...session('b', 'My kayak sank.'), ...session('a', 'My boat sank.')], 'red kayak')

    expect(found.slice(0, 2).map(({ turn }) => turn.session)).toEqual(['b', 'a'])
  })

  it('weighs a rare word more than a common one', async () => {
    const at = '2026-05-03T10:00:00.000Z'
    const turns = separateConversations('The harbour walk.', ...Array(15).fill('The fine soup.')).map((turn) => ({
      ...turn,
      at,
    }))

    expect((await texts(turns, 'Soup, or the harbour?'))[0]).toBe('The harbour walk.')
  })

  const words = fc.array(fc.constantFrom('kayak', 'norway', 'rent', 'soup', 'blue', 'Ana', 'when', 'nine?'), {
    minLength: 1,
    maxLength: 8,
  })
  const conversation = fc.array(
    fc.record({
      text: words.map((some) => some.join(' ')),
      session: fc.constantFrom('a', 'b', 'c'),
      role: fc.constantFrom('user' as const, 'assistant' as const),
      speaker: fc.constantFrom(null, 'Ana', 'Bo'),
    }),
    { maxLength: 14 },
  )

  it('returns the score that the explanation adds up to, best first', async () => {
    await fc.assert(
      fc.asyncProperty(conversation, words, async (turns, question) => {
        const found = await ranked(
          turns.map(({ text, ...rest }) => sampleTurn(text, rest)),
          question.join(' '),
        )
        for (const [place, { score, explain }] of found.entries()) {
          expect(Number.isFinite(score)).toBe(true)
          expect(recompute(explain())).toBeCloseTo(score, 10)
          expect(score).toBeLessThanOrEqual(found[place - 1]?.score ?? Number.POSITIVE_INFINITY)
        }
      }),
      { numRuns: 60 },
    )
  })

  it('returns the steps of the last trajectory for a question about steps that matches none of their words', async () => {
    const run = (session: string) =>
      ['ls\n\nmain.py', 'edit main.py\n\nsaved', 'pytest\n\n4 passed'].map((text) =>
        sampleTurn(text, { session, role: 'tool' }),
      )
    const turns = [...run('old'), ...run('new'), sampleTurn('It is your turn to cook.', { session: 'chat' })]

    const found = await ranked(turns, 'In which step did the state evolve?')
    const chat = await ranked(turns, 'Whose turn is it to cook?')

    expect(found.map(({ turn }) => turn.session)).toEqual(['new', 'new', 'new'])
    expect(found[0]?.turn.text).toContain('edit')
    expect(chat.map(({ turn }) => turn.text)).toEqual(['It is your turn to cook.'])
    expect(await ranked(turns, 'Where is the zeppelin?')).toEqual([])
  })

  it('does not depend on ids, or on the order in which sessions were stored', async () => {
    await fc.assert(
      fc.asyncProperty(conversation, words, async (turns, question) => {
        const bySession = (order: readonly string[]) =>
          order.flatMap((session) => turns.filter((turn) => turn.session === session))
        const run = async (order: readonly string[], prefix: string) => {
          const all = bySession(order).map(({ text, ...rest }, at) => ({
            ...sampleTurn(text, rest),
            id: `${prefix}${at}`,
            at: '2026-05-03T10:00:00.000Z',
          }))
          return (await ranked(all, question.join(' ')))
            .map(({ turn, score }) => `${score.toFixed(9)} ${turn.session} ${turn.text}`)
            .sort()
        }

        expect(await run(['c', 'a', 'b'], 'x')).toEqual(await run(['a', 'b', 'c'], 'y'))
      }),
      { numRuns: 40 },
    )
  })
})

describe('pushing quotes', () => {
  const life = separateConversations(
    'By the way, last summer I rented a kayak in Norway near Voss.',
    'Can you help me write an email to my landlord?',
    'My sister Ingrid works as a nurse in Bergen.',
    'I like the recipe for pumpkin soup in winter.',
  )
  const push = async (message: string) => pushQuotes(await storeOf(life), view, message)

  it('shows the sentence that answers, and the words that it shares with the message', async () => {
    const { quotes, asked } = await push('Where did I rent that kayak in Norway?')

    expect(quotes).toMatchObject([{ text: life[0]?.text, shared: ['rent', 'kayak', 'Norway'], isEarlier: false }])
    expect(asked).toEqual(['rent', 'kayak', 'Norway'])
  })

  it('stays silent about subjects that were never mentioned, and for general requests', async () => {
    expect((await push('Write a python function that sorts a list')).quotes).toEqual([])
    expect((await push('hello there')).quotes).toEqual([])
    expect((await push('')).quotes).toEqual([])
  })

  it('reports the probability of the best candidate', async () => {
    const { quotes, considered, probability, levels } = await push(
      'Translate this recipe for pancakes into French, please',
    )

    expect(quotes).toEqual([])
    expect(considered[0]?.text).toBe(life[3]?.text)
    expect(probability).toBeGreaterThan((considered[0]?.probability ?? 1) - 1e-9)
    expect(probability).toBeLessThan(levels.perhaps)
  })

  it('puts the newest first and marks older turns about the same thing', async () => {
    const store = await storeOf([
      sampleTurn('My running shoe size is 42 for the Brooks shoes.', { session: 'a', at: '2026-01-01T00:00:00.000Z' }),
      sampleTurn('My running shoe size is 43 now for the Brooks shoes.', {
        session: 'b',
        at: '2026-03-01T00:00:00.000Z',
      }),
    ])

    const { quotes } = await pushQuotes(store, view, 'What is my running shoe size for Brooks?')

    expect(quotes.map(({ text, isEarlier }) => [text.includes('43'), isEarlier])).toEqual([
      [true, false],
      [false, true],
    ])
  })

  it('does not quote the line that announces a pasted text, which has no content of its own', async () => {
    const mail = 'Dear tenants, the heating will be off on Saturday 14 November between 8 and 12.'
    const store = await storeOf([sampleTurn(`Here is the mail from the landlord:\n\n${mail}`, { session: 'a' })])

    expect((await pushQuotes(store, view, 'What did the landlord write about the heating?')).quotes).toEqual([])
  })

  it('never quotes a document, a tool or an assistant without a request', async () => {
    const text = 'The zanzibar kayak expedition leaves from the Voss harbour.'
    const store = await storeOf([
      sampleTurn(text, { session: 'a', origin: 'document' }),
      sampleTurn(text, { session: 'b', role: 'tool', origin: 'tool' }),
      sampleTurn(text, { session: 'c', role: 'assistant', origin: 'agent' }),
    ])

    expect((await pushQuotes(store, view, 'Where does my zanzibar kayak expedition leave from?')).quotes).toEqual([])
    const asked = await pushQuotes(store, view, 'Where did you said the zanzibar kayak expedition leaves from?')
    expect(asked.quotes.map(({ turn }) => turn.role)).toEqual(['assistant'])
  })

  it('returns a score that its explanation adds up to', async () => {
    const { considered } = await push('Where did I rent that kayak in Norway?')

    expect(considered.length).toBeGreaterThan(0)
    for (const { explanation, score, probability } of considered) {
      expect(recompute(explanation)).toBeCloseTo(score, 10)
      expect(probability).toBeCloseTo(1 / (1 + Math.exp(-score)), 10)
    }
  })
})
