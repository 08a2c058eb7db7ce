import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { asksOf } from './asks.ts'
import { findAbout, findAnswer } from './find-answer.ts'
import { parseStatements, type Statement } from './statement.ts'
import type { Thread } from './thread.ts'

const told = (...texts: readonly string[]): readonly Statement[] =>
  texts.map((text, order) => ({ id: `s${order}`, text, handles: [], file: null, order }))

/** The statements that answer each question of a prompt, in order; an empty list where nothing does. */
function answered(statements: readonly Statement[], prompt: string): readonly (readonly string[])[] {
  const parsedStatements = parseStatements(statements)
  let thread: Thread | null = null
  return asksOf(prompt).flatMap((ask) => {
    if (ask.kind !== 'question') return []
    const isShort = ask.text.length > ask.said.length + 1
    const found = findAnswer(ask.text, { parsedStatements, thread, preferred: new Set(), goesOn: ask.goesOn, isShort })
    thread = found.thread
    return [found.statements.map(({ text }) => text)]
  })
}

const work = told(
  'We chose PostgreSQL for the ledger because it has row-level security.',
  'Standup is at 9:30 every weekday.',
  'The production cluster runs in eu-west-3.',
  'The staging database password lives in the vault under kv/staging.',
  'Priya leads the payments team.',
  'The API rate limit is 250 requests per minute.',
  'Our office wifi is called "Quiet Otters".',
  'The launch date is March 10.',
  'Role: Staff Engineer',
)

describe('a question is answered by', () => {
  it.each<[string, string]>([
    ['Which database did we choose for the ledger?', work[0]?.text ?? ''],
    ['Why did we choose PostgreSQL?', work[0]?.text ?? ''],
    ['When is standup?', work[1]?.text ?? ''],
    ['What region does the production cluster run in?', work[2]?.text ?? ''],
    ['Where is the staging database password?', work[3]?.text ?? ''],
    ['Who leads the payments team?', work[4]?.text ?? ''],
    ['How many requests per minute does the API allow?', work[5]?.text ?? ''],
    ["What's the office Wi-Fi name?", work[6]?.text ?? ''],
    ['When do we launch?', work[7]?.text ?? ''],
    ['What is my role?', work[8]?.text ?? ''],
  ])('%s', (question, expected) => {
    expect(answered(work, question)).toEqual([[expected]])
  })
})

describe('what was never told is not known', () => {
  it.each([
    'Who leads the search team?',
    'Where is the production database password?',
    'Why is standup at 9:30?',
    'What is our budget?',
    'When is the retrospective?',
    'What is my favorite color?',
    'How old am I?',
  ])('%s', (question) => {
    expect(answered(work, question)).toEqual([[]])
  })

  it('although something is told about the same', () => {
    expect(answered(told('My dog is called Biscuit.'), 'When did I get my dog?')).toEqual([[]])
    expect(answered(told("My mentor's dog is called Rex."), "What is my mentor's name?")).toEqual([[]])
    expect(answered(told('The project deadline is May 4.'), 'What is my project called?')).toEqual([[]])
    expect(answered(told('Error budget for checkout: 0.05%'), 'What is the error budget for search?')).toEqual([[]])
    expect(answered(told('My previous employer was Initech.'), 'Who is my employer?')).toEqual([[]])
    expect(answered(told('My least favorite vegetable is okra.'), 'What is my favorite vegetable?')).toEqual([[]])
  })
})

describe('people are kept apart', () => {
  const people = told(
    "Ana's favourite tea is oolong.",
    "Tom's favourite tea is assam.",
    'My favourite tea is mint.',
    'Ana lives in Porto.',
    'Tom is allergic to peanuts.',
    'My sister Ana works as a nurse.',
    'My brother likes blue.',
  )

  it.each<[string, readonly string[]]>([
    ["What is Tom's favourite tea?", ["Tom's favourite tea is assam."]],
    ['What is my favourite tea?', ['My favourite tea is mint.']],
    ["What are Ana's and Tom's favourite teas?", ["Ana's favourite tea is oolong.", "Tom's favourite tea is assam."]],
    ['Where does Tom live?', []],
    ['Where do I live?', []],
    ['Am I allergic to peanuts?', []],
    ['Who is allergic to peanuts?', ['Tom is allergic to peanuts.']],
    ['What colour do I like?', []],
    ['Where does my sister live?', ['Ana lives in Porto.', 'My sister Ana works as a nurse.']],
  ])('%s', (question, expected) => {
    expect(answered(people, question)).toEqual([expected])
  })
})

describe('what "it" stands for', () => {
  const things = told(
    'My favorite programming language is Rust.',
    'I began learning it [Rust] on January 15, 2024.',
    'My project is called "NeonDB"',
    'it [NeonDB] is a distributed key-value store.',
    'I have a dog called Biscuit.',
    'Biscuit is 4 years old.',
    'My grandmother is 93 years old.',
    'The rehearsal room is at Mill Lane',
    'the door code there is 7719#.',
  )

  it('is what was asked about before', () => {
    expect(answered(things, '1. What is my favorite language?\n2. When did I begin to learn it?')[1]).toEqual([
      'I began learning it [Rust] on January 15, 2024.',
    ])
    expect(answered(things, 'What is my project called, and what is it?')[1]).toEqual([
      'it [NeonDB] is a distributed key-value store.',
      'My project is called "NeonDB"',
    ])
    expect(answered(things, "What is my dog's name? How old is he?")[1]).toEqual(
      expect.arrayContaining(['Biscuit is 4 years old.']),
    )
  })

  it('is what was told right before', () => {
    expect(answered(things, "What's the door code of the rehearsal room?")[0]).toContain(
      'the door code there is 7719#.',
    )
  })

  it('brings the statement along that says what it is', () => {
    expect(answered(things, 'Which programming language am I learning?')[0]).toContain(
      'My favorite programming language is Rust.',
    )
  })
})

describe('other words than those that were told', () => {
  const life = told(
    'My teacher is Marta Solis from Cordoba',
    'I weigh 81 kilos',
    'Our rate is £60 an hour',
    'We fly to Porto on 6 June 2025',
    'I am allergic to penicillin',
    'The van is parked behind the bakery',
    'Our landlord is Mr. Osei',
    'Our rent is 915 pounds a month',
    'Vitamin drops, Sundays only',
    'Ramipril 5 mg - one tablet in the morning',
  )

  it.each<[string, string]>([
    ['Who teaches me?', 'Marta Solis'],
    ['How heavy am I?', '81'],
    ['How much do we charge per hour?', '£60'],
    ['When is our flight?', '6 June'],
    ["Which medicine can't I take?", 'penicillin'],
    ['where did i leave the van', 'bakery'],
  ])('%s', (question, expected) => {
    expect(answered(life, question)[0]?.join(' ')).toContain(expected)
  })

  it('are not looked up alone in the second half of a question', () => {
    expect(answered(life, 'How much insulin does he take, and at what time of day?')).toEqual([[], []])
    expect(answered(life, "What is our daughter's name, and when is her birthday?")).toEqual([[], []])
    expect(answered(life, 'How much ramipril do I take, and at what time of day?').flat()).toEqual([
      'Ramipril 5 mg - one tablet in the morning',
      'Ramipril 5 mg - one tablet in the morning',
    ])
  })

  it('do not make an answer of a name alone', () => {
    expect(answered(told('Ines was born on 30 August 1985.'), 'Where did Ines go to school?')).toEqual([[]])
    expect(answered(told('Gethin inspects the hives twice.'), "What is Gethin's phone number?")).toEqual([[]])
  })
})

describe('several things', () => {
  it('asked for in one breath are looked up one by one', () => {
    const office = told('My dentist is Dr. Okonkwo.', 'My locker number is 417.')
    const [found] = asksOf("Tell me my dentist's name, my locker number and my blood type.").flatMap((ask) =>
      ask.kind === 'question'
        ? [findAnswer(ask.text, { parsedStatements: parseStatements(office), thread: null, preferred: new Set() })]
        : [],
    )

    expect(found?.statements.map(({ text }) => text)).toEqual(office.map(({ text }) => text))
    expect(found?.unknown).toEqual(['my blood type'])
  })

  it('that are meant by a plural are all given', () => {
    const kids = told('My daughter Mia plays the cello.', 'My son Leo is learning judo.', 'My flat is small.')

    expect(answered(kids, "What are my children's names?")[0]).toHaveLength(2)
  })

  it('are everything that is told about a topic', () => {
    const parsedStatements = parseStatements(told('NeonDB is a store.', 'My project is NeonDB.', 'I like tea.'))

    expect(findAbout('my project', parsedStatements).map(({ text }) => text)).toEqual([
      'NeonDB is a store.',
      'My project is NeonDB.',
    ])
  })
})

describe('any text', () => {
  it('can be asked and told', () => {
    const text = fc.oneof(fc.string(), fc.string({ unit: 'grapheme' }), fc.lorem({ maxCount: 12 }))
    fc.assert(
      fc.property(text, fc.array(text, { maxLength: 4 }), (question, texts) => {
        const statements = told(...texts)
        const given = new Set(texts)

        for (const found of [...answered(statements, question), ...answered(statements, `What is ${question}?`)])
          expect(found.every((one) => given.has(one))).toBe(true)
      }),
    )
  })
})

describe('who is asked for', () => {
  it('is somebody else than whoever the question names', () => {
    const family = told('Freya is learning to drive.', "Freya's driving instructor is Mrs. Achterberg.")

    expect(answered(family, 'Who teaches Freya to drive?')).toEqual([
      ["Freya's driving instructor is Mrs. Achterberg."],
    ])
  })

  it('may be called by what they are to somebody', () => {
    expect(answered(told('My upstairs neighbour is Signe.'), 'Who lives upstairs?')).toEqual([
      ['My upstairs neighbour is Signe.'],
    ])
  })

  it('is told apart by what is not so', () => {
    const maya = told("Maya can't have dairy.", 'Bedtime is 19:00 for Maya.')

    expect(answered(maya, "What can't Maya have?")).toEqual([["Maya can't have dairy."]])
  })

  it('is found where the word was mistyped', () => {
    expect(answered(told('My new adress is Quay 4.'), 'What is my new address?')).toEqual([
      ['My new adress is Quay 4.'],
    ])
  })
})
