import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formOf, hasPhrase } from './answer-checks.ts'

const says = (text: string, phrase: string): boolean => hasPhrase(formOf(text), phrase)

describe('a phrase in a text', () => {
  it.each([
    ['Your language is **Rust**.', 'rust'],
    ['the phrase is “purple  elephant\nsunrise”!', '"Purple elephant sunrise"'],
    ['a distributed key-value store', 'distributed key value store'],
    ['Dr. Elena Vasquez (Stanford)', 'Dr Elena Vasquez'],
    ['you write C++ and C#', 'C++'],
    ['It listens on 8,080.', '8080'],
    ['version v1.2.3 of it', 'v1.2.3'],
    ['您的项目叫星海数据库。', '星海数据库'],
    ['"~~ !! ~~" was it', '!!'],
    ["Elena's book", 'Elena'],
  ])('%s contains %s', (text, phrase) => {
    expect(says(text, phrase)).toBe(true)
  })

  it.each([
    ['You are good.', 'Go'],
    ['It is C.', 'C++'],
    ['purple sunrise elephant', 'purple elephant sunrise'],
    ['version 1.25', '1.2'],
    ['anything', ''],
    ['anything', '  '],
  ])('%s does not contain "%s"', (text, phrase) => {
    expect(says(text, phrase)).toBe(false)
  })

  it('is found within any other words', () => {
    const words = fc.array(fc.stringMatching(/^[a-z]{1,8}$/), { minLength: 1, maxLength: 4 })

    fc.assert(
      fc.property(words, words, words, (before, phrase, after) => {
        expect(
          says(`${before.join(' ')} **${phrase.join('  ').toUpperCase()}**, ${after.join(' ')}`, phrase.join(' ')),
        ).toBe(true)
      }),
    )
  })
})

const ways = [
  '2024-01-15',
  '2024/1/15',
  '15 January 2024',
  'January 15, 2024',
  'January 15th, 2024',
  'Jan. 15 2024',
  'the 15th of January 2024',
  '15.01.2024',
  '1/15/2024',
  '2024年1月15日',
]

describe('a date', () => {
  it.each(ways.flatMap((text) => ways.map((phrase) => [text, phrase] as const)))(
    '%s is the same as %s',
    (text, phrase) => {
      expect(says(`It began on ${text} or so.`, phrase)).toBe(true)
    },
  )

  it.each(['January 16, 2024', '2023-01-15', '15 June 2024', 'January 2023'])(
    'January 15, 2024 is not the same as %s',
    (phrase) => {
      expect(says('It began on January 15, 2024.', phrase)).toBe(false)
    },
  )

  it('contains its month and its parts too', () => {
    for (const phrase of ['January', '2024', 'January 15', '15 January', '15th of January']) {
      expect(says('It began on January 15, 2024.', phrase)).toBe(true)
    }
    expect(says('It began in January 2024.', 'January 15, 2024')).toBe(false)
    expect(says('It began on January 15.', 'January 15, 2024')).toBe(false)
  })

  it('is read out of a time', () => {
    expect(says('at 2024-01-15T09:00:00Z', 'January 15, 2024')).toBe(true)
  })

  it('is not guessed if its numbers are ambiguous', () => {
    expect(says('on 3/4/2024', '3/4/2024')).toBe(true)
    expect(says('on 3/4/2024', 'March 4, 2024')).toBe(false)
  })

  it('does not continue on the next line', () => {
    expect(says('- flat 8\n- April 3, 2020', '2020-04-03')).toBe(true)
    expect(says('8\nApril', 'April 8')).toBe(false)
  })

  it('is not recognised if the day does not exist', () => {
    expect(says('version 2024-13-40 of May 45, 2024', '2024-13-40')).toBe(true)
    expect(says('May 45, 2024', '45 May 2024')).toBe(false)
  })

  it('is compared in any text without an error', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        if (text.trim() !== '') expect(says(text, text)).toBe(true)
      }),
    )
  })
})
