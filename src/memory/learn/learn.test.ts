import { describe, expect, it } from 'vitest'
import { agent, everything } from '../../../test/memory/at-hand.ts'
import { person, workshop } from '../../../test/recall/beliefs-at-hand.ts'
import { recall } from '../recall.ts'
import type { Workshop } from '../workshop.ts'
import type { Extractor } from './candidate.ts'
import { type LearnRequest, learn } from './learn.ts'

const hear = (memory: Workshop, text: string, options: Partial<LearnRequest> = {}) =>
  learn(memory, {
    user: 'ann',
    author: person,
    agent: null,
    view: ['user:universal'],
    scopes: ['user:universal'],
    text,
    ...options,
  })

const recalled = async (memory: Workshop, message: string): Promise<readonly string[]> =>
  (await recall(memory, { user: 'ann', scopes: ['user:universal'], message })).relevant.map(
    ({ belief }) => belief.content,
  )

const current = async (memory: Workshop) =>
  (await everything(memory)).filter(({ status }) => status !== 'superseded').map(({ content }) => content)

describe('hearing a message', () => {
  it('keeps each statement as a belief of its own, in the words of the speaker', async () => {
    const memory = workshop()
    const { taken, refused } = await hear(
      memory,
      'My favourite dish is ramen and I moved to Leeds on 3 March 2021. What should I cook tonight?',
      { sourceId: 'turn-1' },
    )

    expect(taken.map(({ outcome, belief }) => [outcome, belief.content])).toEqual([
      ['remembered', 'My favourite dish is ramen'],
      ['remembered', 'I moved to Leeds on 3 March 2021.'],
    ])
    expect(refused.map(({ reason, text }) => [reason, text])).toEqual([['question', 'What should I cook tonight?']])
    expect(taken[0]?.belief).toMatchObject({
      status: 'active',
      type: 'preference',
      editedByPerson: true,
      provenance: { actor: 'person', sourceId: 'turn-1', model: null },
    })
    expect(taken[0]?.because).toMatch(/said plainly .* not known before/iu)
  })

  it('finds what it learned by the words of a question', async () => {
    const memory = workshop()
    await hear(memory, 'My favourite dish is ramen. I moved to Leeds on 3 March 2021.')

    expect(await recalled(memory, 'what is my favorite dish?')).toEqual(['My favourite dish is ramen.'])
    expect(await recalled(memory, 'When did I move here?')).toEqual(['I moved to Leeds on 3 March 2021.'])
    expect(await recalled(memory, 'Is it going to rain tomorrow?')).toEqual([])
  })

  it('reinforces what it hears again, and adds nothing', async () => {
    const memory = workshop()
    const message = 'My dog is called Rex. I hate olives. We decided to paint the hall green. Ana is my sister.'
    await hear(memory, message)
    const before = await everything(memory)

    const { taken } = await hear(memory, message)

    expect(taken.map(({ outcome }) => outcome)).toEqual(['reinforced', 'reinforced', 'reinforced', 'reinforced'])
    expect((await everything(memory)).length).toBe(before.length)
  })

  it('changes nothing on a dry run, and foresees what would happen', async () => {
    const memory = workshop()
    await hear(memory, 'My dentist is Dr. Lee. My gym is Flex.')
    const before = await everything(memory)
    const message = 'My dentist is Dr. Moon. My gym is Flex. My tailor is Mr. Abe.'

    const foreseen = await hear(memory, message, { dryRun: true })

    expect(foreseen.taken.map(({ outcome }) => outcome)).toEqual(['corrected', 'reinforced', 'remembered'])
    expect(await everything(memory)).toEqual(before)
    const { taken } = await hear(memory, message)
    expect(taken.map(({ outcome }) => outcome)).toEqual(['corrected', 'reinforced', 'remembered'])
  })

  it('keeps what was not said for certain as inferred', async () => {
    const memory = workshop()
    const { taken } = await hear(memory, 'I think my flight is at 7pm.')

    expect(taken.map(({ belief }) => belief.status)).toEqual(['inferred'])
  })

  it('never repeats a secret, and keeps none', async () => {
    const memory = workshop()
    const { taken, refused } = await hear(memory, 'My API key is sk-proj-4f9aT2kLmQ8xZ7. My locker is number 12.')

    expect(taken.map(({ belief }) => belief.content)).toEqual(['My locker is number 12.'])
    expect(refused).toMatchObject([{ reason: 'secret' }])
    expect(JSON.stringify(refused)).not.toContain('4f9aT2')
    expect(JSON.stringify(await everything(memory))).not.toContain('4f9aT2')
  })
})

describe('a correction', () => {
  it('takes the place of what it is about', async () => {
    const memory = workshop()
    await hear(memory, 'My favorite programming language is Rust. My project is called NeonDB.')

    const { taken } = await hear(memory, 'Actually, my favourite language is Go now, not Rust.')

    expect(taken).toMatchObject([
      { outcome: 'corrected', replaced: [{ content: 'My favorite programming language is Rust.' }] },
    ])
    expect(await recalled(memory, 'which programming language do I like best?')).toEqual([
      'my favourite language is Go now, not Rust.',
    ])
    expect(await current(memory)).toHaveLength(2)
  })

  it('may point at what was said before with "it"', async () => {
    const memory = workshop()
    const first = 'The hearing is on 12 September.'
    await hear(memory, first)

    const { taken } = await hear(memory, "Sorry, my mistake: it's on 14 September.", { earlier: [first] })

    expect(taken).toMatchObject([{ outcome: 'corrected', belief: { name: 'hearing' } }])
    expect(await recalled(memory, 'when is the hearing?')).toEqual(["it's [hearing] on 14 September."])
  })

  it('finds what no longer holds by the words taken back', async () => {
    const memory = workshop()
    await hear(memory, 'I use Vim. My editor theme is Nord.')

    const { taken } = await hear(memory, 'I switched from Vim to Helix.')

    expect(taken).toMatchObject([{ outcome: 'corrected', replaced: [{ content: 'I use Vim.' }] }])
    expect(await current(memory)).toEqual(
      expect.arrayContaining(['I switched from Vim to Helix.', 'My editor theme is Nord.']),
    )
  })

  it('without anything instead leaves the negative statement', async () => {
    const memory = workshop()
    await hear(memory, 'I drink coffee every morning.')

    await hear(memory, "I don't drink coffee anymore.")

    expect(await current(memory)).toEqual(["I don't drink coffee anymore."])
  })

  it('that means nothing known is refused when it has no subject, and says so', async () => {
    const memory = workshop()
    const { taken, refused } = await hear(memory, "It's not Tuesday but Wednesday.")

    expect(taken).toEqual([])
    expect(refused).toMatchObject([{ reason: 'about_nobody' }])
  })

  it('within one message leaves only what holds in the end', async () => {
    const memory = workshop()
    const message = "My favourite colour is red. Actually no, it's teal."
    for (const _time of [1, 2]) {
      const { taken, refused } = await hear(memory, message)

      expect(taken).toHaveLength(1)
      expect(refused).toMatchObject([{ reason: 'taken_back', text: 'My favourite colour is red.' }])
    }
    expect(await everything(memory)).toHaveLength(1)
  })

  it('by somebody with less authority is proposed', async () => {
    const memory = workshop()
    await hear(memory, 'My dentist is Dr. Lee.')

    const { taken } = await hear(memory, 'My dentist is Dr. Moon.', { author: agent })

    expect(taken).toMatchObject([{ outcome: 'proposed' }])
    expect(await recalled(memory, 'who is my dentist?')).toEqual(['My dentist is Dr. Lee.'])
  })
})

describe('what may have the same name', () => {
  it('stays two beliefs when one is a liking and the other a fact', async () => {
    const memory = workshop()
    await hear(memory, 'I hate coffee.')
    await hear(memory, 'Coffee: two bags in the cupboard')
    await hear(memory, 'Coffee: two bags in the cupboard')

    expect([...(await current(memory))].sort()).toEqual(['Coffee: two bags in the cupboard', 'I hate coffee.'])
  })
})

describe('an extractor that is a model', () => {
  const model = (content: string): Extractor => ({
    name: 'model',
    model: 'some-model',
    extract: async ({ text }) => ({
      candidates: [
        {
          type: 'entity',
          subtype: null,
          name: 'dentist',
          aliases: [],
          content,
          why: '',
          span: { start: 0, end: text.length },
          foundBy: 'some-model',
          certainty: 'said',
          kind: 'statement',
        },
      ],
      refused: [],
    }),
  })

  it('writes as the agent it is, whoever wrote the message', async () => {
    const memory = workshop()
    const { taken } = await hear(memory, 'My dentist is Dr. Lee.', { extractor: model('My dentist is Dr. Lee.') })

    expect(taken[0]?.belief).toMatchObject({
      editedByPerson: false,
      provenance: { actor: 'agent', model: 'some-model' },
    })
  })

  it('cannot overrule what the person said', async () => {
    const memory = workshop()
    await hear(memory, 'My dentist is Dr. Lee.')

    const { taken } = await hear(memory, 'x', { extractor: model('My dentist is Dr. Moon.') })

    expect(taken).toMatchObject([{ outcome: 'proposed' }])
  })

  it('gets no secret past the gate', async () => {
    const memory = workshop()
    const { taken, refused } = await hear(memory, 'x', { extractor: model('The key is AKIAIOSFODNN7EXAMPLE') })

    expect(taken).toEqual([])
    expect(refused).toMatchObject([{ reason: 'secret' }])
  })
})

describe('what takes the place of what was known', () => {
  it('is not taken back by a word about the value it replaced', async () => {
    const memory = workshop()
    await hear(memory, 'My editor is Vim.')
    await hear(memory, 'My editor is Helix now; I no longer use Vim.')

    expect(await current(memory)).toContain('My editor is Helix now')
  })

  it('is found by the value that is named as wrong, however long ago it was told', async () => {
    const memory = workshop()
    await hear(memory, 'Our new address is Quay Street 88b.')
    await hear(memory, 'My vet is Dr. Lund.')
    await hear(memory, "oh wait, it's 88c, not 88b", { earlier: ['My vet is Dr. Lund.'] })

    expect(await current(memory)).toEqual(
      expect.arrayContaining(['Our new address is Quay Street 88c.', 'My vet is Dr. Lund.']),
    )
  })

  it.each([
    [
      'My aunt comes on Mondays to help.',
      'my aunt now comes on Fridays instead of Mondays.',
      'My aunt comes on Fridays to help.',
    ],
    [
      'I take 5 mg of ramipril in the morning.',
      'My ramipril has gone down to 2.5 mg.',
      'I take 2.5 mg of ramipril in the morning.',
    ],
  ])(
    '%s %s: what it does not repeat still holds, and the words that changed it are kept',
    async (before, said, after) => {
      const memory = workshop()
      await hear(memory, before)
      const { taken } = await hear(memory, said)

      expect(await current(memory)).toEqual([after])
      expect(taken).toMatchObject([{ outcome: 'corrected', belief: { why: `Changed by the words: "${said}"` } }])
      expect((await hear(memory, said)).taken).toHaveLength(1)
      expect(await current(memory)).toEqual([after])
    },
  )

  it.each([
    ['Our coffee supplier is Bean Brothers.', "we've changed coffee suppliers, it's North Roast now."],
    ['My daughter Ida is six.', 'Ida is seven now.'],
    ['My daughter Ida is six.', 'Ida turned seven yesterday!'],
    ["Paul's number is 0151 496 0022.", 'Paul has a new number: 0151 496 0099.'],
    ['I live in Turku.', 'We moved to Espoo last month.'],
    ["Dad's address is 4 Elm Road, Hove.", "Dad's new address is 9 Quay Street, Cobh."],
    ['Yoga is on Tuesday evenings.', 'yoga has moved to Friday mornings'],
    ['Lena is our bookkeeper.', "Lena doesn't work here any more."],
    ['My sister Ana lives in Rome.', 'Ana moved to Turin.'],
    ['Max lives in Bonn.', 'Max now lives in Kiel.'],
    ['The deadline for the report is 4 May.', 'The report deadline got pushed back by a week, so 11 May.'],
  ])('%s %s', async (before, after) => {
    const memory = workshop()
    await hear(memory, before)

    await hear(memory, after)

    expect(await current(memory)).toEqual([after])
  })

  it.each([
    ["It's no longer Tuesday, yoga has moved to Friday mornings.", 'Yoga is on Tuesday evenings.'],
    ["Scratch that about the cat being a Siamese, he's a Burmese.", 'Our cat Miro is a Siamese.'],
    ['Sorry, I got that wrong before, the train leaves at 9:35, not 9:05.', 'The train leaves at 9:05.'],
  ])('%s', async (after, before) => {
    const memory = workshop()
    await hear(memory, before)

    await hear(memory, after)

    expect(await current(memory)).not.toContain(before)
    expect(await current(memory)).toHaveLength(1)
  })

  it.each([
    ["Anna's birthday is 3 May.", "Bella's birthday is 9 June."],
    ['My dentist is Dr. Lee.', "My son's dentist is Dr. Moss."],
    ['Lena is my sister.', 'Lena has left the company.'],
    ['Ida is six.', 'Ida now goes to the school in Elm Road.'],
  ])('is not what is said of another, or on another side: %s %s', async (before, after) => {
    const memory = workshop()
    await hear(memory, before)

    await hear(memory, after)

    expect(await current(memory)).toContain(before)
  })

  it.each([
    ['Our coffee supplier is Bean Brothers.', "we've changed coffee suppliers, it's North Roast now.", /North Roast/u],
    ['- Ramipril 5 mg - one in the morning', 'My doctor has changed my ramipril to 10 mg.', /^ramipril$/u],
  ])('has a name that still holds: %s', async (before, after, name) => {
    const memory = workshop()
    await hear(memory, before)

    const { taken } = await hear(memory, after)

    expect(taken.map(({ outcome }) => outcome)).toEqual(['corrected'])
    expect(taken[0]?.belief.name).toMatch(name)
  })

  it('is stored as new where nothing is known, and never dropped', async () => {
    const memory = workshop()

    await hear(memory, 'grandma now comes on Wednesdays instead of Tuesdays.')

    expect(await current(memory)).toEqual(['grandma now comes on Wednesdays instead of Tuesdays.'])
  })
})
