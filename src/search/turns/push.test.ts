import { describe, expect, it } from 'vitest'
import { ports } from '../../../test/recall/beliefs-at-hand.ts'
import type { HeardTurn } from '../../memory/conversation/hear.ts'
import { memoryFrom } from '../../memory/memory.ts'
import { pushQuotes } from './push.ts'

const scopes = ['project:ledger']

type Said = string | HeardTurn

/** Quotes from a conversation that was heard in this order, one day after the other, each turn in a session of its own. */
async function conversation(...turns: readonly Said[]) {
  const { store, ...others } = ports()
  const author = { actor: 'person', origin: 'test' } as const
  const memory = memoryFrom({ store, ...others }, { user: 'ann', scopes, agent: null, author })
  const heard = turns.map((said, day) => ({
    session: `s${day}`,
    at: new Date(Date.UTC(2026, 0, 1 + day)).toISOString(),
    ...(typeof said === 'string' ? { text: said } : said),
  }))
  await memory.hear(heard, { learn: 'nothing' })
  const push = (message: string) => pushQuotes(store, { user: 'ann', scopes }, message)
  return { push, quoted: async (message: string) => (await push(message)).quotes.map(({ text }) => text) }
}

const kayak = 'I rented a kayak near Voss in Norway.'
const sameSession = { session: 's' }

describe('the threshold of quotes', () => {
  it('is passed by a sentence that answers, and not by one that shares an everyday word', async () => {
    const { quoted } = await conversation(kayak, 'The bus stop is near the harbour.')

    expect(await quoted('Where did I rent that kayak in Norway?')).toEqual([kayak])
    expect(await quoted('Which pharmacy is near my office on Sunday evenings?')).toEqual([])
  })

  it('is almost as high for the second quote as for the first', async () => {
    const close = 'Norway has expensive coffee.'
    const weak = 'We pay the rent of the cellar on Friday.'
    const { push } = await conversation(close, weak, kayak)

    const { quotes, threshold } = await push('Did I ever rent a kayak in Norway?')

    expect(quotes.map(({ text }) => text)).toEqual([kayak, close])
    expect(quotes[1]?.score).toBeLessThan(threshold)
    expect((await push('When do I pay the rent of the cellar?')).quotes[0]?.text).toBe(weak)
  })

  it('grows with how much was said, so that a weak match in a large store is no quote', async () => {
    const weak = 'Norway has expensive coffee.'
    const message = 'Where did I rent that kayak in Norway?'
    const filler = Array.from({ length: 150 }, (_, at) => `${at}: ${'we walked to the old market again, '.repeat(20)}`)
    const small = await conversation(weak)
    const large = await conversation(weak, ...filler)

    expect(await small.quoted(message)).toEqual([weak])
    expect(await large.quoted(message)).toEqual([])
    expect((await large.push(message)).unmet).toBe('score')
    expect((await large.push(message)).threshold).toBeGreaterThan((await small.push(message)).threshold)
  })

  it('shows at most three quotes, and no text twice', async () => {
    const said = ['one', 'two', 'three', 'four', 'five'].map(
      (word) => `The kayak in Norway has scratch number ${word}.`,
    )
    const { quoted } = await conversation(...said, ...said)

    const quotes = await quoted('Which scratch has the kayak in Norway?')

    expect(quotes).toHaveLength(3)
    expect(new Set(quotes).size).toBe(3)
  })

  it('needs two uncommon words in one sentence if the message is no question', async () => {
    const { quoted } = await conversation('The sourdough is in the fridge.', 'Basil likes the greenhouse. Mulch helps.')

    expect(await quoted('Sourdough again today.')).toEqual([])
    expect(await quoted('The basil in the greenhouse looks well.')).toHaveLength(1)
  })
})

describe('the speaker of a quote', () => {
  const byAnn = { text: 'The marathon was cold.', speaker: 'Ann' }
  const byBo = { text: 'My marathon took five hours.', speaker: 'Bo' }

  it('is the person that the message names', async () => {
    const message = 'How long did Bo take for the marathon?'
    const both = await conversation(byAnn, byBo)
    const other = await conversation(byAnn, { text: 'Tea is fine.', speaker: 'Bo' })

    expect((await both.quoted(message))[0]).toBe(byBo.text)
    expect(await other.quoted(message)).toEqual([])
    expect(await other.quoted('How was the marathon?')).toEqual([byAnn.text])
  })

  it('is the assistant only if the message asks for its words', async () => {
    const { quoted } = await conversation({ text: 'The sauce needs saffron and fennel.', role: 'assistant' })

    expect(await quoted('Does the sauce need saffron and fennel?')).toEqual([])
    expect(await quoted('What did you tell me about saffron and fennel?')).toHaveLength(1)
  })

  it('is no document, no tool and no text whose paste the person announced', async () => {
    const text = 'Kayak rental in Norway costs 40 euros.'
    const { quoted } = await conversation(
      { text, origin: 'document' },
      { text, role: 'tool' },
      { text: 'I am pasting their mail now, it follows.', ...sameSession },
      { text, ...sameSession },
    )

    expect(await quoted('What does kayak rental in Norway cost?')).toEqual([])
  })
})

describe('a topic that came up again later, in turns that are not shown', () => {
  const lease = { text: 'The lease of the bakery costs 900 euros.', session: 'lease' }
  const later = Array.from({ length: 8 }, (_, at) => [
    { text: 'I am pasting their mail now, it follows.', session: `mail ${at}` },
    { text: `Mail ${at}: the lease of the bakery costs more.`, session: `mail ${at}` },
  ]).flat()
  const message = 'What does the lease of the bakery cost?'

  it('keeps the person from being quoted with a value that may be outdated, but not a dialogue', async () => {
    const alone = await conversation(lease)
    const own = await conversation(lease, ...later)
    const dialogue = await conversation({ ...lease, speaker: 'Ann' }, ...later)

    expect(await alone.quoted(message)).toEqual([lease.text])
    expect(await own.quoted(message)).toEqual([])
    expect(await dialogue.quoted(message)).toEqual([lease.text])
  })
})

describe('a correction', () => {
  const pressure = { text: 'The tyre pressure of the trailer is 2.3 bar.', speaker: 'Ann', ...sameSession }
  const correction = { text: 'Wait no, 9.9 bar.', speaker: 'Ann', ...sameSession }
  const message = 'What is the tyre pressure of the trailer?'

  it('by the same person is quoted before the sentence that it corrects', async () => {
    const { push } = await conversation(pressure, correction)

    const { quotes } = await push(message)

    expect(quotes.map(({ text, isEarlier }) => [text, isEarlier])).toEqual([
      [correction.text, false],
      [pressure.text, true],
    ])
  })

  it.each([
    ['a document', { origin: 'document' }],
    ['another speaker', { speaker: 'Bo' }],
    ['an assistant', { role: 'assistant' }],
    ['a tool', { role: 'tool' }],
    ['another conversation', { session: 'other' }],
  ] as const)('is not taken from %s', async (_what, fields) => {
    const { push } = await conversation(pressure, { ...correction, ...fields })

    const { quotes } = await push(message)

    expect(quotes.map(({ text, isEarlier }) => [text, isEarlier])).toEqual([[pressure.text, false]])
  })

  it.each([
    ['one word of it', 'No, the oven is broken.', false],
    ['the cue alone', 'No thanks.', false],
    ['two words of it', 'No, the oven side is blocked, so it hangs at the gate.', true],
    ['two words without a cue', 'The oven is hot, so it hangs at the gate.', false],
  ])('has two words of the sentence, or a number: %s', async (_what, text, isCorrection) => {
    const { quoted } = await conversation(
      { text: 'The spare key hangs behind the oven.', ...sameSession },
      { text, ...sameSession },
    )

    const quotes = await quoted('Where did I put the spare key?')

    expect(quotes[0]).toBe(isCorrection ? text : 'The spare key hangs behind the oven.')
    expect(quotes).toHaveLength(isCorrection ? 2 : 1)
  })

  it('is not shown to a message that asks how it was before', async () => {
    const { quoted } = await conversation(pressure, correction)

    expect(await quoted('What was the tyre pressure of the trailer before, originally?')).not.toContain(correction.text)
  })
})
