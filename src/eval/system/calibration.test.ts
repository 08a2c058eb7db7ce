import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { belief, letterEmbedder, staticCase } from '../../../test/eval/sample-corpus.ts'
import { temporaryDirectory } from '../../../test/temporary-directory.ts'
import { readRecords } from '../../memory/transfer/belief-record.ts'
import { readRetrievalCases } from '../kinds/retrieval/case-file.ts'
import type { RetrievalPack } from '../kinds/retrieval/pack.ts'
import { writeFiles } from '../report/write-files.ts'
import { calibrate, calibrationFile, readCalibration } from './calibration.ts'

/** Beliefs whose text is one repeated letter, so that every cosine is 0 or the share of that letter in the message. */
const beliefs = readRecords(
  { now: () => new Date(0), newId: () => 'unused' },
  {
    text: JSON.stringify(['a', 'b', 'c'].map((letter) => belief(letter, { canonical_name: letter, content: letter }))),
    source: 'b',
    user: 'ann',
    scopes: [],
  },
).records.map(({ record }) => record)

const packOf = (...cases: (readonly [string, readonly string[]])[]): RetrievalPack => ({
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
  it('finds the number and the threshold that tell expected from unexpected', async () => {
    // cos(a, aaz) = 0.89 must pass, cos(a, azz) = 0.45 must not.
    const chosen = await calibrate(
      packOf(['aaz', ['a']], ['bbz', ['b']], ['azz', []], ['xyz', []]),
      letterEmbedder,
      new Map(),
    )

    expect(chosen).toMatchObject({ k: 1, meanF1: 1, model: 'letters', pack: 'cal', packHash: 'hash-1', cases: 4 })
    expect(chosen.threshold).toBeGreaterThan(0.45)
    expect(chosen.threshold).toBeLessThan(0.89)
    expect(chosen.uncalibratedMeanF1).toBeCloseTo((0.5 + 0.5 + 0 + 0) / 4, 10)
  })

  it('takes more than one where more than one is expected', async () => {
    const chosen = await calibrate(packOf(['ab', ['a', 'b']], ['bc', ['b', 'c']]), letterEmbedder, new Map())

    expect(chosen).toMatchObject({ k: 2, meanF1: 1 })
  })

  it('is kept for the model and the pack it was made on, and for no other', async () => {
    using directory = temporaryDirectory()
    const chosen = await calibrate(packOf(['aaz', ['a']]), letterEmbedder, new Map())
    writeFiles([calibrationFile(directory.path, chosen)])

    expect(readCalibration(directory.path, letterEmbedder, 'hash-1')).toEqual(chosen)
    expect(readCalibration(directory.path, letterEmbedder, 'hash-2')).toBeNull()
    expect(readCalibration(directory.path, { model: 'other' }, 'hash-1')).toBeNull()
    expect(readCalibration(join(directory.path, 'nowhere'), letterEmbedder, 'hash-1')).toBeNull()
  })

  it('is refused when its file is damaged', () => {
    using directory = temporaryDirectory()
    writeFileSync(join(directory.path, 'calibrated.json'), '{"schemaVersion":1,"k":"many"}')

    expect(() => readCalibration(directory.path, letterEmbedder, 'hash-1')).toThrow(/calibrated.json: /u)
  })
})
