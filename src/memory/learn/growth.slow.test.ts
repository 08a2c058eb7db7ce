import { describe, expect, it } from 'vitest'
import { analyse } from '../../search/analyse.ts'
import { sentencesOf } from '../../search/sentences.ts'
import { ownParts } from '../../search/turns/pasted.ts'
import { parseQuestion } from '../../search/turns/question.ts'
import { countTerms } from '../../search/turns/terms.ts'
import { parseBlocks } from '../mirror/parse/blocks.ts'
import { nameStatement, statementNameOf } from './name-of.ts'
import { isOffTheRecord } from './off-the-record.ts'
import { findStatements } from './rules.ts'
import { findSecrets } from './secrets.ts'

const readers: Readonly<Record<string, (text: string) => unknown>> = {
  'finding statements': findStatements,
  'off the record': isOffTheRecord,
  'finding secrets': findSecrets,
  'finding words': analyse,
  'counting terms': countTerms,
  'finding sentences': sentencesOf,
  'finding own words': ownParts,
  'reading a question': parseQuestion,
  'reading MEMORY.md': parseBlocks,
  'naming a statement': (text) => [nameStatement(text), statementNameOf(text)],
}

/** Parts of texts that make a pattern backtrack, if it can. */
const pieces: readonly string[] = [
  ' ',
  '\t',
  '\n',
  ' \n',
  '\n\n',
  'a',
  'A',
  '1',
  '-',
  '_',
  '.',
  '"',
  '>',
  ':',
  '`',
  '(',
  '€',
  '好',
  'a ',
  'A_',
  'a+',
  '1 ',
  'a.',
  'a-',
  ', not ',
  'no, ',
  'always ',
  'from now on ',
  'when I ask ',
  'call me A ',
  'remember that ',
  "don't ",
  'do not save ',
  'off the ',
  'my name is ',
  'please ',
  'also, ',
  'summarize ',
  "'a ",
  "'",
  '"\n',
  ', and I prefer ',
  'rules: ',
  'said, ',
  'stop doing ',
  'from now on if you ',
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
  'SG.',
  'ghs_1_',
  'M-',
  'xoxb-',
  'QUtJ',
  'token q7h2m9x4k1 ',
  'a1=',
  'Key=a1B2c3;',
  '$2b$',
  'A1-',
  'a1!',
  '414b',
  'Ａ１',
  'hooks.a/1',
  '4111 ',
  'a\u200b',
  '<!--',
  '![',
  '# ',
  'step 1 ',
]

/** CPU time of this process in milliseconds, so that other processes do not count. */
const costOf = (work: () => unknown): number => {
  const before = process.cpuUsage()
  work()
  return process.cpuUsage(before).user / 1_000
}

const cheapest = (work: () => unknown): number => Math.min(...Array.from({ length: 4 }, () => costOf(work)))

/** A quadratic pattern takes 256 times as long for sixteen times the text. Differences of a few milliseconds are noise. */
const sizes = [3_000, 48_000] as const
const minSlowMs = 3
const maxGrowth = 80

describe.each(Object.entries(readers))('%s takes time in proportion to the text', (_name, read) => {
  it.each(pieces)('made of %j', (piece) => {
    for (const frame of [(text: string) => text, (text: string) => `Remember that password for ${text}`]) {
      const [short, long] = sizes.map((length) => {
        const text = frame(piece.repeat(Math.ceil(length / piece.length)).slice(0, length))
        return cheapest(() => read(text))
      }) as [number, number]

      expect(long / Math.max(short, minSlowMs)).toBeLessThan(maxGrowth)
    }
  })
})
