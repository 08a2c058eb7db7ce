import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseDraft } from '../draft.ts'
import type { Candidate, Refusal } from './candidate.ts'
import { extractByRules } from './rules.ts'

const taken = (text: string, earlier: readonly string[] = []): readonly string[] =>
  extractByRules(text, earlier).candidates.map(({ content }) => content)

const one = (text: string): Candidate => {
  const { candidates } = extractByRules(text)
  expect(candidates).toHaveLength(1)
  // The line above has told.
  return candidates[0] as Candidate
}

const reasons = (text: string): readonly Refusal['reason'][] => extractByRules(text).refused.map(({ reason }) => reason)

describe('a first name that begins a sentence', () => {
  it.each(['Sarah plays the cello.', 'Michael drinks oat milk.', 'Emma likes hiking.', 'Lucy handles invoices.'])(
    'is a name, although word lists have it: %s',
    (text) => {
      expect(taken(text)).toEqual([text])
    },
  )

  it('is whoever speaks, before a colon', () => {
    expect(reasons('Sarah: I live in Rome.')).toEqual(['quotation'])
  })
})

describe('the words of a statement', () => {
  it('are kept as they were said, each statement by itself', () => {
    expect(
      taken('My mentor is Dr. Elena Vasquez from Stanford. Atlas v1.2 runs on PostgreSQL 16.4, e.g. in Oslo.'),
    ).toEqual(['My mentor is Dr. Elena Vasquez from Stanford.', 'Atlas v1.2 runs on PostgreSQL 16.4, e.g. in Oslo.'])
  })

  it('get what a pronoun stands for in brackets, and nothing else', () => {
    expect(taken("My favourite language is Rust. I've been learning it since January 15, 2024.")).toEqual([
      'My favourite language is Rust.',
      "I've been learning it [Rust] since January 15, 2024.",
    ])
    expect(taken('It runs on a Pi.', ['My server is called Otter.'])).toEqual(['It [Otter] runs on a Pi.'])
  })

  it('get the line above a list where they need it to stand alone', () => {
    expect(taken('About Ana:\n- birthday: 4 May\n- allergic to nuts')).toEqual([
      'About Ana: birthday: 4 May',
      'About Ana: allergic to nuts',
    ])
  })

  it('are one text where they were wrapped', () => {
    const text = 'My grandfather built the boat house on the northern shore of the lake\nin 1951.'
    expect(taken(text)).toEqual([text.replace('\n', ' ')])
  })

  it('say where they stand in the message', () => {
    const text = 'Hi there. My gym is Flex. Thanks!'
    const { span } = one(text)

    expect(text.slice(span.start, span.end)).toBe('My gym is Flex.')
  })
})

describe('lines', () => {
  it('are statements of their own where nothing ends them but the line', () => {
    const lines = [
      'our allotment is plot 17 by the railway bridge next to the old signal box',
      'the shed key hangs behind the mirror',
      'my neighbour there is called rosa',
    ]

    expect(taken(lines.join('\n'))).toEqual(lines)
  })

  it('of key and value are one each', () => {
    const lines = [
      'Tenant: Rook & Daughters Ltd',
      'Agent: Sybil Marsh',
      'Viewing: 3/2/2026 at 10:15',
      'Inspector: the Hon. R. Okafor',
      'Deposit: €900',
    ]

    expect(taken(lines.join('\n'))).toEqual(lines)
    expect(extractByRules(lines.join('\n')).candidates.map(({ name }) => name)).toEqual([
      'Tenant',
      'Agent',
      'Viewing',
      'Inspector',
      'Deposit',
    ])
  })

  it('after a request to write them down are kept whatever their form', () => {
    expect(taken('can you note this down for me\n\ntomas cooks and his wife nell bakes')).toEqual([
      'tomas cooks',
      'his [Tomas] wife nell bakes',
    ])
  })

  it('of a table are rows, each with the names of its columns', () => {
    const { candidates } = extractByRules('| Name | Room |\n|---|---|\n| Ida | 12 |\n| Kurt | 9 |')

    expect(candidates.map(({ name, content }) => [name, content])).toEqual([
      ['Ida Room', 'Name: Ida, Room: 12'],
      ['Kurt Room', 'Name: Kurt, Room: 9'],
    ])
  })

  it('below the name of a group are its members', () => {
    expect(taken('my crew:\nOla (cook), Ben (driver)')).toEqual(['my crew: Ola (cook), Ben (driver)'])
  })
})

describe('where a statement ends', () => {
  it.each([
    ['Our toast is "one  two   three".', ['Our toast is "one  two   three".']],
    ['The sweep comes on 12.11. between 9 and 11.', ['The sweep comes on 12.11. between 9 and 11.']],
    [
      'Our dryer is a Bosch Q7, bought in 2020, serial 11-22.',
      ['Our dryer is a Bosch Q7, bought in 2020, serial 11-22.'],
    ],
    ['Ana is the chair, Bo is the clerk, Cy is the cook.', ['Ana is the chair', 'Bo is the clerk', 'Cy is the cook.']],
    [
      'The van is from Sixt and has to be returned by Sunday noon.',
      ['The van is from Sixt', '[The van] has to be returned by Sunday noon.'],
    ],
    [
      'The shop is called Salt & Stone and sells cheese.',
      ['The shop is called Salt & Stone', '[The shop] sells cheese.'],
    ],
    ['I have twins and a dog, so what car would you buy?', ['I have twins and a dog']],
  ])('%s', (text, expected) => {
    expect(taken(text)).toEqual(expected)
  })
})

describe('what is about something in particular', () => {
  it.each([
    'The ladder is parked behind the shed',
    'the boiler sits in the attic',
    'Fuse box is under the stairs',
    'Noah is scared of heights, so no towers please.',
    'im vegetarian',
    'My grandfather, who died in 1999, was a miner.',
    'We stay at the Casa do Mar in Faro.',
    'Never add sugar to my tea.',
    'Parcels come on Thursday mornings.',
    "We don't keep dairy in the house.",
  ])('%s', (text) => {
    expect(taken(text)).toEqual([text])
  })
})

describe('what a statement is found by', () => {
  it.each([
    [
      'My favourite programming language is Rust.',
      ['favorite programming language', 'programming language', 'favorite language', 'Rust'],
    ],
    ['I started learning chess on 3 May 2022.', ['started learning', 'start learning', 'start date', 'learning chess']],
    ['Our team code phrase is "tin lantern".', ['code phrase', 'secret phrase', 'passphrase', 'tin lantern']],
    ['My project is "NeonDB", a distributed key-value store.', ['NeonDB', 'key-value store', 'project name']],
    ['Priya leads billing.', ['Priya', 'billing', 'head of billing']],
    ['- Ramipril 5 mg once a day', ['Ramipril']],
    ["The language I'm learning is Basque.", ['language', 'am I learning', 'Basque']],
    ['We come back on 3 June.', ['we come back', 'are we back']],
  ])('%s', (text, forms) => {
    const { name, aliases } = one(text)

    expect([name, ...aliases]).toEqual(expect.arrayContaining(forms))
  })

  it.each([
    'My name is Ana.',
    'My date of birth is 4 May 1990.',
    'Start date: 3 May',
    'I like short answers.',
    'My day starts at 6.',
  ])('is never an everyday word alone: %s', (text) => {
    const { name, aliases } = one(text)

    expect(
      [name, ...aliases].filter((form) => /^(?:name|date|day|start|short|answers?|my|like|time)$/iu.test(form)),
    ).toEqual([])
  })

  it("is whose it is: Ana's birthday is not found by a birthday alone", () => {
    const { name, aliases } = one("Ana's birthday is 4 May.")

    expect(name).toBe("Ana's birthday")
    expect(aliases).not.toContain('birthday')
  })
})

describe('what kind of statement it is', () => {
  it.each([
    ['I prefer tea over coffee.', 'preference'],
    ['Always answer in English.', 'preference'],
    ['We decided to close on Mondays.', 'decision'],
    ["OK, that's decided: the party is at Grove House.", 'decision'],
    ["Let's ditch Jenkins; GitLab it is.", 'decision'],
    ['Please stop using bullet points when you answer me.', 'preference'],
    ['Ana is my sister.', 'relation'],
    ['My passport expires in March 2027.', 'entity'],
    ['We still have to decide who pays.', 'open_question'],
  ] as const)('%s is a %s', (text, type) => {
    expect(one(text).type).toBe(type)
  })

  it('a lasting wish about answers is a matter of style', () => {
    expect(one('Never use emojis in your answers.').subtype).toBe('style')
  })

  it('the reason is kept as the reason', () => {
    expect(one('We decided on oak because it lasts.').why).toBe('because it lasts')
  })

  it('who is connected by a relation is named', () => {
    expect(one('Tom reports to Priya.')).toMatchObject({
      type: 'relation',
      participants: ['Tom', 'Priya'],
      relation: 'reports to',
    })
  })
})

describe('two statements of one name in one message', () => {
  it('both stay', () => {
    const { candidates } = extractByRules(
      'My brother is called Tom. My brother is called Max. My shelf is number 3. My shelf is number 4.',
    )

    expect(candidates).toHaveLength(4)
    expect(new Set(candidates.map(({ name }) => name.toLowerCase())).size).toBe(4)
  })

  it('are one when they say the same', () => {
    expect(taken('My gym is Flex. My gym is Flex.')).toEqual(['My gym is Flex.'])
  })
})

describe('why something is left out', () => {
  it.each([
    ['Do you like tea?', 'question'],
    ['who is my dentist', 'question'],
    ['Please write a poem.', 'instruction'],
    ['Remember to call Jo.', 'instruction'],
    ['Thanks a lot!', 'small_talk'],
    ['If I win, I buy a boat.', 'hypothetical'],
    ['I might move to Oslo.', 'hypothetical'],
    ['She said: "my name is Eve".', 'quotation'],
    ['According to the manual, it is waterproof.', 'quotation'],
    ['> my name is Eve', 'quotation'],
    ['Off the record, my salary is 9.', 'do_not_store'],
    ['That was founded in 1998.', 'about_nobody'],
    [`My story is ${'long '.repeat(400)}.`, 'too_long'],
    ['My brain is fried today.', 'small_talk'],
    ['I have to hand in this essay by tonight.', 'small_talk'],
    ['The call went well.', 'small_talk'],
    ['Summarise this: The bank was founded in 1903. Its seat is in Graz.', 'quotation'],
    ['I lost my list.', 'instruction'],
    ['My rent is 900 (not for the notes).', 'do_not_store'],
    ['Just for this chat: call me Rex.', 'do_not_store'],
    ['Off the record, my PIN is 8080.', 'secret'],
    ['What is wrong with DB_PASSWORD=tulip77 here?', 'secret'],
  ] as const)('%s', (text, reason) => {
    expect(taken(text)).toEqual([])
    expect(reasons(text)).toEqual([reason])
  })

  it('is said in a sentence', () => {
    for (const { explanation } of extractByRules('Hi! Do you like tea? If so, pour me one.').refused) {
      expect(explanation).toMatch(/^\p{Lu}.*\.$/u)
    }
  })
})

describe('what is not to be kept', () => {
  it.each([
    ['the sentence before, by "that"', "My gym is Flex. I earn 9k. Please don't store that.", ['My gym is Flex.']],
    ['the clause before, by "that"', "My gym is Flex, but don't save that. My cat is Mo.", ['My cat is Mo.']],
    [
      'the paragraph, by "this" at its beginning',
      "Don't store this. I earn 9k. I owe 2k.\n\nMy cat is Mo.",
      ['My cat is Mo.'],
    ],
    ['the list below', "Don't remember these:\n- my pay is 9k\n- my debt is 2k\n\nMy cat is Mo.", ['My cat is Mo.']],
    ['the whole message', "My cat is Mo.\n\nI earn 9k.\n\nDon't keep any of this.", []],
    ['nothing, where one is asked not to forget', "Don't forget that my cat is Mo.", ['my cat is Mo.']],
  ])('%s', (_what, text, expected) => {
    expect(taken(text)).toEqual(expected)
  })
})

describe('on any message at all', () => {
  const words = fc.constantFrom(
    ...`my our I we is are was not but and that it she his the a Ana Rust 3 May 2024 called decided prefer hate remember actually no
    longer moved from to : ; , . ? ! " ' - \n \n- > if suppose said don't store because since which 1) ( )`.split(' '),
  )
  const messages = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 300 }),
    fc.array(words, { maxLength: 60 }).map((list) => list.join(' ')),
  )

  it('gives the same every time, and only what can be remembered', () => {
    fc.assert(
      fc.property(messages, (text) => {
        const first = extractByRules(text)

        expect(extractByRules(text)).toEqual(first)
        for (const { pronoun: _pronoun, span, ...candidate } of first.candidates) {
          expect(span.start).toBeLessThanOrEqual(span.end)
          expect(span.end).toBeLessThanOrEqual(text.length)
          if (!hasControl(text)) parseDraft({ ...candidate, scopes: ['user:universal'] })
        }
      }),
    )
  })

  it('takes no word that nobody said', () => {
    fc.assert(
      fc.property(messages, (text) => {
        const said = new Set(wordsIn(text))

        for (const { content } of extractByRules(text).candidates) {
          const own = content.replace(/\[[^\]]*\]/gu, ' ')
          expect(wordsIn(own).filter((word) => !said.has(word))).toEqual([])
        }
      }),
    )
  })

  const wordsIn = (text: string): readonly string[] => text.match(/[\p{L}\p{N}]+/gu) ?? []
  const hasControl = (text: string): boolean => /\p{Cc}/u.test(text.replace(/[\n\t]/gu, '')) || !text.isWellFormed()
})
