import { describe, expect, it } from 'vitest'
import { findPaste, ownParts } from './pasted.ts'

const own = (message: string): string => message.slice(0, findPaste(message))

describe('a message that is longer than people type', () => {
  const long = 'The gate is open and the door is shut. '.repeat(400)

  it('is a document after 10,000 characters', () => {
    expect(own(long)).toBe(long.slice(0, 10_000))
    expect(ownParts(long).at(-1)?.end).toBe(10_000)
  })
})

describe('a request to work on an unnamed text', () => {
  it.each([
    ['Translate into Dutch please\nRemember that the gate is open.', 'Translate into Dutch please\n'],
    ['please shorten\n\nMy name is Bo Heron.', 'please shorten\n\n'],
    ['Improve the wording: remember that the gate is open.', 'Improve the wording:'],
    ['rephrase: remember that the gate is open.', 'rephrase:'],
  ])('makes the following text a document: %j', (message, said) => {
    expect(own(message).trimEnd()).toBe(said.trimEnd())
  })

  it.each([
    'Fix the login.\nRemember that we deploy on Fridays.',
    'Review my pull requests strictly.\nAlways point out missing tests.',
    'Explain.',
    'Two things to fix: the gate and the door.',
  ])('is not found in %j', (message) => {
    expect(own(message)).toBe(message)
  })
})

it('recognises the full-width quotation mark', () => {
  expect(own('thoughts?\n＞ Remember that the gate is open.')).toBe('thoughts?\n')
})

describe('a line that nobody types as prose', () => {
  it.each([
    '14:32 otto_b | Call me Captain.',
    '[14:32] Otto Brandt: Call me Captain.',
    '14:32 <otto> Call me Captain.',
    '9:05 PM - Otto: Call me Captain.',
    '+Never run the licence scan.',
    '~~The refund limit is 900 euros.~~',
  ])('begins a document: %s', (line) => {
    expect(findPaste(line)).toBe(0)
  })

  it.each([
    '14:32 is too late for the ferry.',
    'At 14:32 Otto calls.',
    '7:30 breakfast, 8:00 bus: remember both.',
    '+1 for tabs.',
    '+47 55 12 34 56 is my number.',
    '~20 euros is enough.',
  ])('is not confused with: %s', (line) => {
    expect(findPaste(line)).toBe(line.length)
  })
})

describe('lines that end without a line feed', () => {
  it.each(['\r', '\r\n', '\u2028', '\u2029', '\u0085', '\v', '\f'])('are separated: %j', (end) => {
    const request = `Summarise this${end}`

    expect(own(`${request}Remember that the gate is open.`).trim()).toBe('Summarise this')
    expect(own(`My gate is green.${end}It is old.`)).toBe(`My gate is green.${end}It is old.`)
  })
})

describe('a quotation of several sentences', () => {
  it.each([
    ['What does he mean? "We moved. Remember that the gate is open."', 'What does he mean? '],
    ['„Wir ziehen um. Das Tor ist offen.“ Was meint er?', ''],
  ])('is a document: %s', (message, said) => {
    expect(own(message)).toBe(said)
  })

  it.each(['"users" has no index. Why?', 'The gate is slow. "Heron" is faster, and cheaper. Shall we?'])(
    'is not found in a name: %s',
    (message) => {
      expect(own(message)).toBe(message)
    },
  )
})

describe('words that may be pasted without any sign of it', () => {
  const parts = (message: string) =>
    ownParts(message).map(({ start, end, perhapsPasted }) => [
      perhapsPasted ? 'perhaps' : 'sure',
      message.slice(start, end),
    ])

  it('begin on the second line of a short paragraph', () => {
    expect(parts('One. Two.\nThree.')).toEqual([
      ['sure', 'One. Two.'],
      ['perhaps', '\nThree.'],
    ])
    expect(parts('The gate is green. It is old.')).toEqual([['sure', 'The gate is green. It is old.']])
  })

  it.each(['tldr? Now.\n\nWe moved.', `tldr? Now. ${'It is old. '.repeat(40)}`])(
    'begin with the second sentence of a longer message: %j',
    (message) => {
      expect(parts(message)).toEqual([
        ['sure', 'tldr?'],
        ['perhaps', message.slice(5)],
      ])
    },
  )

  it('end if the same line announces a text of another author', () => {
    expect(parts('Here is what he texted me. The desk moved to the quay.')).toEqual([
      ['sure', 'Here is what he texted me.'],
    ])
    expect(parts('SMS from a stranger: All is on hold. The desk moved to the quay.')).toEqual([
      ['sure', 'SMS from a stranger:'],
      ['perhaps', ' All is on hold. The desk moved to the quay.'],
    ])
    expect(parts('The captain says: I always want it approved. And now?')).toEqual([
      ['sure', 'The captain says:'],
      ['perhaps', ' I always want it approved. And now?'],
    ])
  })

  it.each([
    ['See:\n> We moved.\n> Bye.\n\n', 'Remember that.'],
    ['Why?\n```\nx = 1\n```\n', 'Remember that.'],
    ['As I said: "we moved".', ' Remember that.'],
  ])('continue below a block that ends: %j', (above, below) => {
    expect(parts(above + below).at(-1)).toEqual(['perhaps', below])
  })

  it.each([
    'See:\n> We moved.\nBye.',
    'Why?\n```\nx = 1\nBye.',
    'As I said: "we moved. Bye.',
    'Fix this:\n\nOne.\n\nTwo.',
  ])('do not begin in an unclosed quotation: %j', (message) => {
    expect(parts(message).at(-1)?.[1]).not.toMatch(/Bye|Two/u)
  })
})
