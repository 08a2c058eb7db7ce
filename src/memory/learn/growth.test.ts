import { describe, expect, it } from 'vitest'
import { findStatements, offTheRecord } from './rules.ts'
import { secretsIn } from './secrets.ts'

const unhurried: Readonly<Record<string, (text: string) => unknown>> = {
  'finding statements': findStatements,
  'off the record': offTheRecord,
  'finding secrets': secretsIn,
}

/** Texts that make a pattern go back over what it has read, where it can. */
const pieces: readonly string[] = [
  ...[' ', '\t', '\n', ' \n', '\n\n', 'a', 'A', '1', '-', '_', '.', '"', '>', ':', '`', '(', '€', '好'],
  ...['a ', 'A_', 'a+', '1 ', 'a.', 'a-', ', not ', 'no, ', 'always ', 'from now on ', 'when I ask ', 'call me A '],
  ...['remember that ', "don't ", 'do not save ', 'off the ', 'my name is ', 'please ', 'also, ', 'summarize '],
  ...[
    'password ',
    'password for ',
    'password is ',
    'login for ',
    'KEY',
    'KEY_',
    'KEY=',
    'key ',
    'token ',
    'eyJ-',
    'eyJa.',
  ],
  ...[
    '-----BEGIN ',
    'bearer ',
    'a://',
    'a://a:',
    'sk-',
    'AB12',
    'AB12 ',
    'pin ',
    'exp ',
    'combination of the ',
    'SG.a',
  ],
]

const timeOf = (work: () => unknown): number => {
  const began = performance.now()
  work()
  return performance.now() - began
}

/** The fastest of some runs, so that a busy machine does not count. */
const fastest = (work: () => unknown): number => Math.min(...Array.from({ length: 4 }, () => timeOf(work)))

describe.each(Object.entries(unhurried))('%s takes time in proportion to the text', (_name, read) => {
  it.each(pieces)('made of %j', (piece) => {
    for (const frame of [(text: string) => text, (text: string) => `Remember that password for ${text}`]) {
      const text = (length: number): string => frame(piece.repeat(Math.ceil(length / piece.length)).slice(0, length))
      read(text(12_500))
      const [short, long] = [fastest(() => read(text(12_500))), fastest(() => read(text(50_000)))]

      // Four times the text takes 16 times as long where a pattern is quadratic, and 64 times where it is cubic.
      expect(long / Math.max(short, 10)).toBeLessThan(10)
    }
  })
})
