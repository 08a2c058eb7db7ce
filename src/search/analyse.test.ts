import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { analyse, isUnspaced } from './analyse.ts'

const words = (text: string): readonly string[] => analyse(text).map(({ word }) => word)

describe('analyse', () => {
  it.each([
    ['Redis', ['redis']],
    ['(Redis)', ['redis']],
    ['"Redis"', ['redis']],
    ['**Redis**', ['redis']],
    ['`redis`', ['redis']],
    ['_redis_', ['redis']],
    ['Redis/Valkey', ['redis', 'valkey']],
    ['Redis—or', ['redis', 'or']],
    ['pipe()', ['pipe']],
    ['Redis??', ['redis']],
    ['~~Redis~~,', ['redis']],
    ['<b>Redis</b>', ['redis']],
    ['Map<Redis>', ['map', 'redis']],
    ['\u001b[1;31mRedis\u001b[0m', ['redis']],
    ['C++, C# and F#.', ['c++', 'c#', 'and', 'f#']],
    ['C++17', ['c++', '17']],
    ['on .NET today', ['on', '.net', 'today']],
    ['wait...and see', ['wait', 'and', 'see']],
    ['node.js', ['node', 'js']],
    ['A/B test', ['a', 'b', 'test']],
    ['try-catch', ['try', 'catch']],
    ['@scope/pkg', ['scope', 'pkg']],
    ['s3://bucket/key', ['s3', 'bucket', 'key']],
    ['redis_cache_config', ['redis', 'cache', 'config']],
    ["Mara's and the users'", ['mara', 'and', 'the', 'users']],
    ["don't", ["don't"]],
    ['Müller in São Paulo', ['muller', 'in', 'sao', 'paulo']],
    ['Straße, Łódź, Ærø', ['strasse', 'lodz', 'aero']],
    ['form 1040, chapter 7.5, 10:30, 2024-01-15', ['form', '1040', 'chapter', '7.5', '10:30', '2024-01-15']],
    ['1,000 and 1,000,000.5', ['1000', 'and', '1000000.5']],
    ['Ctrl+C', ['ctrl', 'c']],
    ['a +1 at 85 °C', ['a', '+1', 'at', '85', '°c']],
    ['我住在北京市', ['我', '住', '在', '北', '京', '市']],
    ['用Redis缓存', ['用', 'redis', '缓', '存']],
    ['re\u200bdis', ['redis']],
    ['Ｒｅｄｉｓ', ['redis']],
    ['', []],
    ['   \n\t ', []],
    ['?!… — 🚀', []],
  ])('splits %j into %j', (text, expected) => {
    expect(words(text)).toEqual(expected)
  })

  it('has the position of each word in the text', () => {
    const text = 'Ask **Redis** or Müller’s 北京.'

    for (const { word, start, end } of analyse(text)) expect(words(text.slice(start, end))).toContain(word)
  })

  it('distinguishes joined words from separate words and from words in another phrase', () => {
    const gaps = (text: string) =>
      analyse(text)
        .map(({ gap }) => gap)
        .slice(1)

    expect(gaps('node.js')).toEqual(['joined'])
    expect(gaps('error handling')).toEqual(['apart'])
    expect(gaps('**error** handling')).toEqual(['apart'])
    expect(gaps('error,\nhandling')).toEqual(['apart'])
    expect(gaps('an error. Handling it')).toEqual(['apart', 'broken', 'apart'])
    expect(gaps('Redis - cache')).toEqual(['broken'])
    expect(gaps('Redis\n\ncache')).toEqual(['broken'])
    expect(gaps('redis\n- cache')).toEqual(['broken'])
    expect(gaps('北京')).toEqual(['tight'])
  })

  it('splits camelCase identifiers', () => {
    const parts = (text: string) => analyse(text)[0]?.parts

    expect(parts('redisCacheTTL')).toEqual(['redis', 'cache', 'ttl'])
    expect(parts('HTTPServer')).toEqual(['http', 'server'])
    expect(parts('Redis')).toEqual([])
    expect(parts('REDIS')).toEqual([])
  })

  it('accepts any text, and loses no letter or digit', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        const tokens = analyse(text)
        const covered = new Set(
          tokens.flatMap(({ start, end }) => Array.from({ length: end - start }, (_, index) => start + index)),
        )

        for (const [index, character] of [...text].entries()) {
          const offset = [...text].slice(0, index).join('').length
          if (/[a-z0-9]/iu.test(character)) expect(covered.has(offset)).toBe(true)
        }
        for (const { word } of tokens) expect(word).not.toBe('')
      }),
    )
  })

  it('gives words that do not change when analysed again, for any text without compatibility characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (text) => {
        for (const word of words(text.normalize('NFKC'))) expect(words(word).join('')).toBe(word)
      }),
    )
  })

  it('recognises every character of the scripts without spaces', () => {
    const scripts =
      /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\u30fc|\p{Script=Hangul}|\p{Script=Thai}|\p{Script=Lao}|\p{Script=Khmer}|\p{Script=Myanmar}/u
    for (let code = 0; code < 0x3_0000; code += 1) {
      const character = String.fromCodePoint(code)
      if (isUnspaced(character) !== scripts.test(character))
        throw new Error(`U+${code.toString(16)} is taken for another script.`)
    }
  })
})
