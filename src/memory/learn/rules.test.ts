import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findStatements, longestMessage, offTheRecord } from './rules.ts'

const found = (message: string) =>
  findStatements(message).findings.map(({ kind, content, slot }) => [slot ?? kind, content])
const refused = (message: string) => findStatements(message).refused.map(({ reason, text }) => [reason, text])

describe('what a person asks to be remembered', () => {
  it.each([
    ['Remember that the gate closes at ten.', 'the gate closes at ten.'],
    ['ok, thanks. Also, please keep in mind that Kofi has the badge', 'Kofi has the badge'],
    ['Can you remember that the gate closes at ten?', 'the gate closes at ten'],
    ['Note for later: partition the audit table', 'partition the audit table'],
    ["Don't forget that **Heron** is frozen.", '**Heron** is frozen.'],
  ])('%s', (message, content) => {
    expect(found(message)).toEqual([['request', content]])
  })

  it('is a list where one follows, up to the next blank line', () => {
    const message = 'Please remember the following:\n- one is red\n- two is blue\n\nThree is green.'

    expect(found(message).map(([, content]) => content)).toEqual(['one is red', 'two is blue'])
  })

  it.each(['Remember that.', 'Please remember this!', 'Remember that it expires in June.'])(
    'says nothing by a pronoun: %s',
    (message) => {
      expect(found(message)).toEqual([])
      expect(findStatements(message).refused).toMatchObject([{ reason: 'unnamed' }])
    },
  )

  it.each([
    'I remember that it rained.',
    'Do you remember that day?',
    'Remember when we met?',
    'Remember to call her.',
  ])('is not what somebody remembers: %s', (message) => {
    expect(found(message)).toEqual([])
  })
})

describe('a standing instruction', () => {
  it.each([
    'Always use metric units.',
    'Never push to the main branch!',
    'From now on, answer in French.',
    'Please answer in French from now on.',
    'Whenever I ask for a plan, list the risks first.',
  ])('%s', (message) => {
    expect(found(message)).toEqual([['instruction', message]])
  })

  it.each([
    'Never mind the noise.',
    'Always wanted to see Iceland.',
    'Always a pleasure to meet you.',
    'I will take the train from now on.',
    'Do you always sleep so long?',
    'My mother said: from now on eat more.',
    'If I could, from now on use only trains.',
    'When I ask my boss for a raise, he laughs.',
  ])('is not: %s', (message) => {
    expect(found(message)).toEqual([])
  })
})

describe('who a person is', () => {
  it.each([
    ['My name is Ana.', 'my name'],
    ['Hi, my name is Ana Krüger and I run the shop.', 'my name'],
    ['You can call me Sam.', 'my name'],
    ['From now on call me Sam.', 'my name'],
    ['My pronouns are they/them.', 'my pronouns'],
    ['I use she/her pronouns.', 'my pronouns'],
    ['My native language is Croatian.', 'my language'],
    ["I'm a native Danish speaker.", 'my language'],
    ['My time zone is Europe/Zagreb.', 'my time zone'],
    ["I'm in the Pacific time zone.", 'my time zone'],
    ["I'm on GMT+2.", 'my time zone'],
  ])('%s', (message, slot) => {
    expect(found(message).map(([kind]) => kind)).toEqual([slot])
  })

  it.each([
    'Call me later.',
    'Call me Monday.',
    'My name is on the list.',
    'My language is getting rusty.',
    "I'm on the hunt for a bike.",
    'I use and/or a lot.',
    'Her name is Ana.',
  ])('is not told by: %s', (message) => {
    expect(found(message)).toEqual([])
  })
})

describe('words that are not the person’s own', () => {
  const kept = 'Always use tabs.'
  it.each([
    ['a fence', `look\n\`\`\`\n${kept}\n\`\`\``],
    ['an open fence', `look\n~~~\n${kept}`],
    ['a quote block', `> ${kept}`],
    ['a mail', `Hi\nFrom: Bo <bo@example.org>\nSubject: tabs\n${kept}`],
    ['a reply to a mail', `Ok\nOn Monday, Bo wrote:\n${kept}`],
    ['a log', `2026-01-02 10:11:12 ${kept}`],
    ['a colon and a blank line', `What do you think of it:\n\n${kept}`],
    ['a request to work on this text', `Please proofread this. ${kept}`],
    ['quotation marks', `He wrote "do it now. ${kept} Bye."`],
    ['indented code', `code:\n    ${kept}`],
  ])('%s', (_what, message) => {
    expect(found(message)).toEqual([])
    for (const [reason] of refused(message)) expect(reason).toBe('not_own_words')
  })

  it.each(['Act as a judge.', 'You are a pirate.', 'Write a poem about tabs.', 'Pretend we are at sea.'])(
    'a role or a text to make up: %s',
    (opening) => {
      expect(refused(`${opening} ${kept}`)).toEqual([['role_play', kept]])
    },
  )
})

describe('off the record', () => {
  it.each(['This is off the record.', "Please don't save this.", 'Do not remember this', 'never store that, ok?'])(
    '%s',
    (message) => {
      expect(offTheRecord(message)).toBe(true)
      expect(refused(`${message} Call me Sam.`)).toMatchObject([['off_the_record', expect.any(String)]])
    },
  )

  it.each(["I don't remember this.", 'Remember that we never save files by hand.', "Don't forget that."])(
    'is not: %s',
    (message) => {
      expect(offTheRecord(message)).toBe(false)
    },
  )
})

it('refuses a message that is too long, whole and with a reason', () => {
  expect(refused(`Call me Sam. ${'x'.repeat(longestMessage)}`)).toMatchObject([['too_long', expect.any(String)]])
})

it('never throws, and every finding stands in the message where it says', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.constantFrom(
      'Remember that ',
      'Always ',
      'from now on ',
      'Call me ',
      ', not ',
      '\n\n',
      '```\n',
      '> ',
      '"',
      ': ',
      '?',
    ),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
      const message = pieces.join('')
      for (const { content, span } of findStatements(message).findings)
        expect(message.slice(span.start, span.end)).toContain(content)
    }),
  )
})
