import { describe, expect, it } from 'vitest'
import { belief, staticCase, systemsFor } from '../../../../test/eval/sample-corpus.ts'
import { readRecords } from '../../../memory/transfer/belief-record.ts'
import { readRetrievalCases } from './case-file.ts'
import type { Pack } from './pack.ts'
import { checkPack } from './run-pack.ts'

const beliefs = readRecords(
  { now: () => new Date(0), newId: () => 'unused' },
  {
    text: JSON.stringify([
      belief('a'),
      belief('b'),
      belief('c'),
      belief('old', { epistemic_status: 'superseded', superseded_by: 'a' }),
      belief('far', { scope: ['domain:cars'] }),
      belief('pin', { pinned: true }),
    ]),
    source: 'b',
    user: 'ann',
    scopes: [],
  },
).records.map(({ record }) => record)

const packOf = (...expectations: object[]): Pack => ({
  kind: 'retrieval',
  id: 'p',
  title: 'P',
  beliefs,
  recall: {},
  hash: 'h',
  warnings: [],
  cases: readRetrievalCases(
    'c',
    expectations.map((expectation, at) =>
      staticCase(`case-${at}`, 'message', expectation, 'budget' in expectation ? { budget: expectation.budget } : {}),
    ),
  ).cases.map((one) => ({ ...one, user: 'ann' })),
})
const only = (...ids: string[]) => ({ relevantBeliefs: { shouldOnlyInclude: ids } })
const check = (...expectations: object[]) => checkPack(packOf(...expectations), systemsFor('unused'))

describe('checkPack', () => {
  it('accepts a pack whose expectations can be met', async () => {
    expect(await check(only('a'), only('b', 'c'), only())).toEqual({
      pack: 'p',
      cases: 3,
      passedByNone: 1,
      passedByOracle: 3,
      problems: [],
    })
  })

  it('refuses a pack that an empty answer passes', async () => {
    const { problems, passedByNone } = await check(only(), only(), only('a'))

    expect(passedByNone).toBe(2)
    expect(problems).toEqual(['An empty answer passes 2 of 3 cases; at most 60 % are allowed.'])
  })

  it.each([
    ['a superseded belief', only('old')],
    ['a belief of another scope', only('far')],
    ['a pinned belief among the relevant ones', only('pin')],
    ['a pin on a belief that is not pinned', { ...only('a'), pinnedFacts: { mustInclude: ['a'] } }],
    ['a belief and its absence', { relevantBeliefs: { shouldOnlyInclude: ['a'], mustExclude: ['a'] } }],
    [
      'a circular order',
      {
        relevantBeliefs: {
          orderedBefore: [
            ['a', 'b'],
            ['b', 'c'],
            ['c', 'a'],
          ],
        },
      },
    ],
    ['more beliefs than exist', { relevantBeliefs: { minCount: 9 } }],
    ['a prelude text that no belief has', { ...only('a'), personaPrelude: { contains: ['x'] } }],
  ])('refuses a case that expects %s', async (_what, expectation) => {
    const { problems } = await check(expectation, only('a'))

    expect(problems).toEqual([expect.stringMatching(/^No memory can pass "case-0": /u)])
  })

  it.each([
    [
      'required beliefs next to optional ones',
      { relevantBeliefs: { mustInclude: ['a', 'pin'], shouldInclude: ['b'] } },
    ],
    [
      'an order against the alphabet',
      {
        relevantBeliefs: {
          orderedBefore: [
            ['c', 'b'],
            ['b', 'a'],
          ],
        },
      },
    ],
    [
      'a number, without the noise',
      { relevantBeliefs: { minCount: 2, mustExclude: ['a'] }, noiseCheck: { mustNotSurface: [] } },
    ],
  ])('accepts a case that expects %s', async (_what, expectation) => {
    expect((await check(expectation)).problems).toEqual([])
  })
})
