import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ports } from '../../../test/recall/fixtures.ts'
import type { HeardTurn } from '../../memory/conversation/hear.ts'
import { memoryFrom } from '../../memory/memory.ts'
import { type Levels, type Model, type Models, models as trained } from './model.ts'
import { chooseLines, type PushOptions, pushQuotes } from './push.ts'

const scopes = ['project:ledger']

type Said = string | HeardTurn

/** Quotes from conversations with a single turn each, in this order, on consecutive days. */
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
  const push = (message: string, options: PushOptions = {}, models?: Models) =>
    pushQuotes(store, { user: 'ann', scopes }, message, options, models)
  return { push, quoted: async (message: string) => (await push(message)).quotes.map(({ text }) => text) }
}

const kayak = 'I rented a kayak near Voss in Norway.'
const sameSession = { session: 's' }

describe('the probability of quotes', () => {
  it('is high enough for a sentence that answers, and not for one that shares an everyday word', async () => {
    const { quoted } = await conversation(kayak, 'The bus stop is near the harbour.')

    expect(await quoted('Where did I rent that kayak in Norway?')).toEqual([kayak])
    expect(await quoted('Which pharmacy is near my office on Sunday evenings?')).toEqual([])
  })

  it('must be higher for sure quotes than for perhaps relevant ones, and boldness moves both thresholds', async () => {
    const { push } = await conversation(kayak, 'Norway has expensive coffee.')
    const { levels, probability } = await push('Where did I rent that kayak in Norway?')

    expect(levels.perhaps).toBeLessThan(levels.sure)
    expect(probability).toBeGreaterThan(levels.perhaps)
    for (const boldness of ['quiet', 'normal', 'eager'] as const) {
      const asked = await push('Where did I rent that kayak in Norway?', { boldness })
      expect(asked.quotes.length > 0).toBe(asked.probability >= asked.levels.perhaps)
      const [first] = asked.quotes
      if (first !== undefined) expect(first.level === 'sure').toBe(asked.probability >= asked.levels.sure)
    }
  })

  it('is not shared, without vectors, with a neighbouring turn that has none of the words', async () => {
    const { quoted } = await conversation({ text: kayak, ...sameSession }, { text: 'Thanks.', ...sameSession })

    expect(await quoted('Where near Voss in Norway did I rent that kayak?')).toEqual([kayak])
  })

  it('allows at most three quotes for a question and five for a request, and no text twice', async () => {
    const said = ['one', 'two', 'three', 'four', 'five', 'six'].map(
      (word) => `The kayak in Norway has scratch number ${word}.`,
    )
    const { quoted } = await conversation(...said, ...said)

    for (const [message, most] of [
      ['Which scratch has the kayak in Norway?', 3],
      ['List every scratch of the kayak in Norway.', 5],
    ] as const) {
      const quotes = await quoted(message)
      expect(quotes.length).toBeLessThanOrEqual(most)
      expect(quotes.length).toBeGreaterThan(1)
      expect(new Set(quotes).size).toBe(quotes.length)
    }
  })
})

describe('a sure quote', () => {
  const text = 'The kayak rental in Norway near Voss costs 40 euros.'
  const message = 'What does the kayak rental in Norway near Voss cost in euros?'
  /** Thresholds that every probability reaches, so that only the author of a quote decides its level. */
  const none = { sure: 0, perhaps: 0 }
  const certain = (model: Model): Model => ({
    ...model,
    levels: { ...model.levels, normal: { question: none, request: none } },
  })
  const models = { words: certain(trained.words), vectors: certain(trained.vectors) }
  const levelsOf = async (turn: HeardTurn, asked = message) =>
    (await (await conversation(turn)).push(asked, {}, models)).quotes.map(({ level }) => level)

  it("is in the person's own words", async () => {
    expect(await levelsOf({ text })).toEqual(['sure'])
    expect(await levelsOf({ text, speaker: 'Bo' })).toEqual(['perhaps'])
    expect(await levelsOf({ text: `Hello there.\n\n${text}` })).toEqual(['perhaps'])
    expect(await levelsOf({ text, role: 'assistant' }, `What did you tell me? ${message}`)).toEqual(['perhaps'])
    expect(await levelsOf({ text, origin: 'document' })).toEqual([])
    expect(await levelsOf({ text, role: 'tool' })).toEqual([])
  })

  it('is never a text that may be pasted, which is marked and shown as perhaps relevant', async () => {
    const { push } = await conversation({ text: `Hello there.\n\n${text}` })

    expect((await push(message, {}, models)).quotes).toMatchObject([{ level: 'perhaps', perhapsPasted: true }])
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
    expect((await other.push(message)).quotes.map(({ level }) => level)).not.toContain('sure')
    expect(await other.quoted('How was the marathon?')).toEqual([byAnn.text])
  })

  it('is the assistant only if the message asks for what it said', async () => {
    const { quoted } = await conversation({ text: 'The sauce needs saffron and fennel.', role: 'assistant' })

    expect(await quoted('Does the sauce need saffron and fennel?')).toEqual([])
    expect(await quoted('What did you tell me about saffron and fennel?')).toHaveLength(1)
  })

  it('is nobody who only asked: a question that was asked before is not an answer', async () => {
    const question = 'Which colour is the kayak that I rented in Norway?'
    const told = 'I rented the red kayak in Norway, is that colour easy to see?'
    const { quoted } = await conversation(question, told)

    expect(await quoted('Which colour is the kayak in Norway?')).toEqual([told])
  })

  it('is not a document, a tool, or a person who announced a pasted text', async () => {
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

describe('the quotes chosen for a message', () => {
  type Unlimited = Parameters<typeof chooseLines>[0]
  const place = fc.nat({ max: 11 })
  const update = fc.record({ place, probability: fc.double({ min: 0, max: 0.4, noNaN: true }) })
  const decisions = fc.record({
    probability: fc.double({ min: 0, max: 1, noNaN: true }),
    isQuestion: fc.boolean(),
    likely: fc.uniqueArray(fc.nat({ max: 9 }), { minLength: 1 }),
    updates: fc.array(fc.tuple(place, fc.uniqueArray(update, { selector: (one) => one.place }))),
    times: fc.uniqueArray(fc.nat({ max: 1_000 }), { minLength: 12, maxLength: 12 }),
  })
  const levels = { sure: 0.7, perhaps: 0.4 }
  const limits = { likely: 0.1, unclear: 0.3, replaced: 0.25 }
  /** A decision in which only newer turns update older ones, the likeliest first. */
  const decisionOf = ({ times, updates, ...rest }: typeof decisions extends fc.Arbitrary<infer One> ? One : never) => {
    const isNewer = (a: number, b: number): boolean => (times[a] as number) > (times[b] as number)
    const sorted = updates.map(([at, newer]) => {
      const found = newer.filter((one) => isNewer(one.place, at)).sort((a, b) => b.probability - a.probability)
      return [at, found] as const
    })
    const ranked = times.map((at) => ({ candidate: { unit: { at } } })) as unknown as Unlimited['ranked']
    return { ...rest, ranked, updates: new Map(sorted) }
  }

  it('are shown with the newer turns that may update them, and after those that probably do, or are left out', () => {
    fc.assert(
      fc.property(decisions, (given) => {
        const decision = decisionOf(given)
        const { lines, unclear } = chooseLines(decision, levels, limits)
        const places = lines.map((one) => one.place)

        for (const [at, line] of lines.entries()) {
          const likely = (decision.updates.get(line.place) ?? []).slice(0, 2)
          for (const { place: newer, probability } of likely) {
            expect(line.newer.includes(newer)).toBe(probability >= limits.replaced && places.includes(newer))
            if (line.newer.includes(newer)) expect(places.indexOf(newer)).toBeLessThan(at)
          }
          if (!decision.likely.includes(line.place)) continue
          expect(unclear).not.toContain(line.place)
        }
        expect(new Set(places).size).toBe(places.length)
        const others = decision.likely.filter((one) => places.includes(one))
        const isUpdate = (one: number): boolean => lines.some(({ newer }) => newer.includes(one))
        for (const { place: one, level } of lines)
          if (!others.includes(one) && !isUpdate(one)) {
            expect(level).toBe('perhaps')
            expect(places.indexOf(one)).toBeGreaterThanOrEqual(others.length)
          }
        expect(places.length).toBeLessThanOrEqual(given.isQuestion ? 6 : 8)
        if (given.probability < levels.perhaps) expect(places).toEqual([])
        if (given.probability < levels.sure) expect(lines.every(({ level }) => level === 'perhaps')).toBe(true)
      }),
    )
  })

  const decision = {
    probability: 0.9,
    isQuestion: true,
    likely: [0],
    ranked: [1, 2, 3, 4].map((at) => ({ candidate: { unit: { at } } })) as unknown as Unlimited['ranked'],
  }
  const updatesOf = (...values: readonly number[]) =>
    new Map([[0, values.map((probability, at) => ({ place: at + 1, probability }))]])

  it('come after the newer ones that probably update them, before those that only may, and alone if there are none', () => {
    expect(chooseLines({ ...decision, updates: updatesOf(0.05) }, levels, limits).lines).toEqual([
      { place: 0, level: 'sure', newer: [] },
    ])
    expect(chooseLines({ ...decision, updates: updatesOf(0.5, 0.2, 0.2) }, levels, limits).lines).toEqual([
      { place: 1, level: 'sure', newer: [] },
      { place: 0, level: 'sure', newer: [1] },
      { place: 2, level: 'perhaps', newer: [] },
    ])
    expect(chooseLines({ ...decision, updates: updatesOf(0.4, 0.4) }, levels, limits).lines).toEqual([
      { place: 2, level: 'sure', newer: [] },
      { place: 1, level: 'sure', newer: [] },
      { place: 0, level: 'sure', newer: [1, 2] },
    ])
  })

  const kinds = Object.entries(trained).flatMap(([name, { levels, limits, replaced }]) =>
    (['question', 'request'] as const).map((kind) => ({
      name,
      kind,
      levels,
      limits: { ...limits[kind], replaced: replaced.probability },
    })),
  )

  it.each(kinds)(
    'are never fewer, or less sure, at a higher boldness: with $name, for a $kind',
    ({ kind, levels, limits }) => {
      const quiet = levels.quiet[kind]
      const normal = levels.normal[kind]
      const eager = levels.eager[kind]
      const thresholds = [quiet, normal, eager].flatMap(({ sure, perhaps }) => [sure, perhaps])
      // Random probabilities alone would miss thresholds that are close to each other.
      const probabilities = fc.oneof(fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom(...thresholds))
      fc.assert(
        fc.property(decisions, probabilities, (given, probability) => {
          const decision = { ...decisionOf(given), probability, isQuestion: kind === 'question' }
          const shownAt = (level: Levels) => chooseLines(decision, level, limits).lines
          for (const [less, more] of [
            [quiet, normal],
            [normal, eager],
          ] as const) {
            const bolder = new Map(shownAt(more).map((line) => [line.place, line.level]))
            for (const { place, level } of shownAt(less))
              expect(level === 'sure' ? ['sure'] : ['sure', 'perhaps']).toContain(bolder.get(place))
          }
        }),
        { numRuns: 300 },
      )
    },
  )

  it('are empty if a third newer turn may have changed the only one', () => {
    expect(chooseLines({ ...decision, updates: updatesOf(0.3, 0.3, 0.3) }, levels, limits)).toEqual({
      lines: [],
      unclear: [0],
    })
  })
})

describe('an older value', () => {
  const older = 'My shoe size for the Brooks running shoes is 42.'
  const newer = 'My shoe size for the Brooks running shoes is 43 now.'
  const message = 'What is my shoe size for the Brooks running shoes?'

  it('is shown only after the newer one', async () => {
    const { push } = await conversation(older, 'Tea is fine.', newer)

    const { quotes } = await push(message)

    expect(quotes.map(({ text, isEarlier }) => [text, isEarlier])).toEqual([
      [newer, false],
      [older, true],
    ])
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
    ['one word of the sentence', 'No, the oven is broken.', false],
    ['the cue alone', 'No thanks.', false],
    ['two words of the sentence', 'No, the oven side is blocked, so it hangs at the gate.', true],
    ['two words without a cue', 'The oven is hot, so it hangs at the gate.', false],
  ])('needs two words of the sentence, or a number: %s', async (_what, text, isCorrection) => {
    const { quoted } = await conversation(
      { text: 'The spare key hangs behind the oven.', ...sameSession },
      { text, ...sameSession },
    )

    const quotes = await quoted('Where does the spare key hang, behind the oven?')

    expect(quotes[0]).toBe(isCorrection ? text : 'The spare key hangs behind the oven.')
    if (isCorrection) expect(quotes[1]).toBe('The spare key hangs behind the oven.')
  })

  it('is not shown for a message about an earlier value', async () => {
    const { quoted } = await conversation(pressure, correction)

    expect(await quoted('What was the tyre pressure of the trailer before, originally?')).not.toContain(correction.text)
  })
})
