import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splitWords } from './profiles.ts'

describe('splitting a command line', () => {
  it.each([
    ['agent --ask {prompt}', ['agent', '--ask', '{prompt}']],
    ['  a   b\tc  ', ['a', 'b', 'c']],
    [`a "b c" 'd "e"'`, ['a', 'b c', 'd "e"']],
    ['a b\\ c "d\\"e" "f\\g"', ['a', 'b c', 'd"e', 'f\\g']],
    [`a "" ''`, ['a', '', '']],
    ['a x"y z"w', ['a', 'xy zw']],
    ['a; rm -rf $HOME `b` > c', ['a;', 'rm', '-rf', '$HOME', '`b`', '>', 'c']],
  ])('splits %s without a shell', (line, words) => {
    expect(splitWords(line)).toEqual(words)
  })

  it('refuses an unclosed quote', () => {
    expect(() => splitWords('a "b')).toThrow('a quote " that is never closed')
  })

  it('returns any words that were put in single quotes', () => {
    const word = fc.string().filter((text) => !text.includes("'"))
    fc.assert(
      fc.property(fc.array(word, { minLength: 1 }), (words) => {
        expect(splitWords(words.map((one) => `'${one}'`).join(' '))).toEqual(words)
      }),
    )
  })
})
