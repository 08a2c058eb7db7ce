import { describe, expect, it } from 'vitest'
import { belief, letterEmbedder, staticCase } from '../../../test/eval/sample-corpus.ts'
import { readRecords } from '../../memory/transfer/belief-record.ts'
import { readRetrievalCases } from '../runners/retrieval/case-file.ts'
import type { Pack } from '../runners/retrieval/pack.ts'
import { calibrate } from './calibration.ts'

/** Beliefs whose text is one repeated letter, so that every cosine is 0 or that letter's share of the message. */
const beliefs = readRecords(
  { now: () => new Date(0), newId: () => 'unused' },
  {
    text: JSON.stringify(['a', 'b', 'c'].map((letter) => belief(letter, { canonical_name: letter, content: letter }))),
    source: 'b',
    user: 'ann',
    scopes: [],
  },
).records.map(({ record }) => record)

const packOf = (...cases: (readonly [string, readonly string[]])[]): Pack => ({
  kind: 'retrieval',
  id: 'cal',
  title: 'Cal',
  beliefs,
  recall: {},
  hash: 'hash-1',
  warnings: [],
  cases: readRetrievalCases(
    'c',
    cases.map(([query, only], at) => staticCase(`case-${at}`, query, { relevantBeliefs: { shouldOnlyInclude: only } })),
  ).cases.map((one) => ({ ...one, user: 'ann' })),
})

describe('calibrate', () => {
  it('finds the k and threshold that separate expected from unexpected beliefs', async () => {
    // cos(a, aaz) = 0.89 must pass, cos(a, azz) = 0.45 must not.
    const chosen = await calibrate(packOf(['aaz', ['a']], ['bbz', ['b']], ['azz', []], ['xyz', []]), letterEmbedder)

    expect(chosen).toMatchObject({ k: 1, meanF1: 1, pack: 'cal', cases: 4 })
    expect(chosen.threshold).toBeGreaterThan(0.45)
    expect(chosen.threshold).toBeLessThan(0.89)
  })

  it('returns several beliefs if several are expected', async () => {
    const chosen = await calibrate(packOf(['ab', ['a', 'b']], ['bc', ['b', 'c']]), letterEmbedder)

    expect(chosen).toMatchObject({ k: 2, meanF1: 1 })
  })
})
