import { PassThrough } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  columns,
  indentText,
  isClosedPipe,
  mayUseColour,
  pluralize,
  stripControlCharacters,
  styleFor,
  terminalText,
  wrap,
  write,
} from './output.ts'

const terminal = { isTTY: true }

describe('mayUseColour', () => {
  it('is for terminals only', () => {
    expect(mayUseColour(terminal, {})).toBe(true)
    expect(mayUseColour({}, {})).toBe(false)
  })

  it.each([{ NO_COLOR: '1' }, { CI: 'true' }, { TERM: 'dumb' }, { FORCE_COLOR: '0' }])('is off with %j', (env) => {
    expect(mayUseColour(terminal, env)).toBe(false)
  })

  it('can be forced on; an empty variable has no effect', () => {
    expect(mayUseColour({}, { FORCE_COLOR: '1', NO_COLOR: '1', CI: '1' })).toBe(true)
    expect(mayUseColour(terminal, { NO_COLOR: '', FORCE_COLOR: '' })).toBe(true)
  })
})

describe('styleFor', () => {
  it('colours text if colours are on, and leaves it unchanged if they are off', () => {
    expect(styleFor(new PassThrough(), {}).bold('x')).toBe('x')
    expect(terminalText(styleFor(new PassThrough(), { FORCE_COLOR: '1' }).bold('x'))).toBe('\u001b[1mx\u001b[22m')
  })

  it('limits the length of lines on a terminal only', () => {
    const narrow = Object.assign(new PassThrough(), { isTTY: true, columns: 60 })

    expect(styleFor(narrow, {}).width).toBe(60)
    expect(styleFor(new PassThrough(), {}).width).toBe(Number.POSITIVE_INFINITY)
  })
})

describe('write', () => {
  it('reports a closed reader at the failing write', async () => {
    const stream = new PassThrough()
    stream.on('error', () => {})
    stream.destroy()

    const failure = await write(stream, 'too late').then(
      () => null,
      (error: unknown) => error,
    )

    expect(isClosedPipe(failure)).toBe(true)
    expect(isClosedPipe(new Error('another'))).toBe(false)
  })
})

describe('stripControlCharacters', () => {
  it('keeps the text and removes the control sequences', () => {
    expect(stripControlCharacters('é 日本\n\tx')).toBe('é 日本\n\tx')
    expect(stripControlCharacters('\u001b[31mred\u009b0m \u202etxt\r')).toBe('�[31mred�0m �txt�')
  })
})

describe('terminalText', () => {
  it('colours the marked parts, and neutralises all other control characters', () => {
    const { red, bold } = styleFor(new PassThrough(), { FORCE_COLOR: '1' })

    expect(terminalText(`a\u001b[2J ${red(`b ${bold('c\u001b[31m')}`)} \u202ed`)).toBe(
      'a\ufffd[2J \u001b[31mb \u001b[1mc\ufffd[31m\u001b[22m\u001b[39m \ufffdd',
    )
  })
})

describe('wrap', () => {
  it('counts the characters that a terminal shows, not the colour codes', () => {
    const { green } = styleFor(new PassThrough(), { FORCE_COLOR: '1' })

    expect(wrap(`${green('one')} ${green('two')}`, 7).length).toBe(1)
  })

  it('breaks at spaces and keeps line breaks', () => {
    expect(wrap('one two three\nfour', 8)).toEqual(['one two', 'three', 'four'])
  })

  it('indents the continuation of a wrapped line like its start', () => {
    expect(wrap('  one two three', 9)).toEqual(['  one two', '  three'])
  })

  it('keeps every word, and exceeds the width only for a single long word', () => {
    const prose = fc.array(fc.stringMatching(/^[a-z]{1,12}$/), { minLength: 1 }).map((words) => words.join(' '))
    fc.assert(
      fc.property(prose, fc.integer({ min: 1, max: 40 }), (text, width) => {
        const lines = wrap(text, width)

        expect(lines.join(' ')).toBe(text)
        for (const line of lines) expect(line.length <= width || !line.includes(' ')).toBe(true)
      }),
    )
  })
})

describe('columns', () => {
  it('aligns cells and wraps the last one under itself', () => {
    const text = columns(
      [
        ['a', 'one two three four five'],
        ['long', 'six'],
      ],
      { width: 30 },
    )

    expect(text).toBe('  a     one two three four\n        five\n  long  six')
  })

  it('returns an empty text for no rows', () => {
    expect(columns([])).toBe('')
  })

  it('counts wide characters as two columns, and combining characters as zero', () => {
    const rows = [
      ['名前', 'x'],
      ['Cafe\u0301', 'x'],
      ['👍 ok', 'x'],
      ['plain', 'x'],
    ]

    expect(columns(rows, { indent: 0 })).toBe('名前   x\nCafe\u0301   x\n👍 ok  x\nplain  x')
  })
})

it('indents every line that is not empty', () => {
  expect(indentText('a\n\nb', 2)).toBe('  a\n\n  b')
})

it('counts with the English singular and plural', () => {
  expect([pluralize(0, 'belief'), pluralize(1, 'belief'), pluralize(2, 'belief')]).toEqual([
    '0 beliefs',
    '1 belief',
    '2 beliefs',
  ])
})
