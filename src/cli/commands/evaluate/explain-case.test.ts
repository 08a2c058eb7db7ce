import { describe, expect, it } from 'vitest'
import { belief, staticCase, systemsFor } from '../../../../test/eval/sample-corpus.ts'
import { readRetrievalCases } from '../../../eval/runners/retrieval/case-file.ts'
import type { Pack } from '../../../eval/runners/retrieval/pack.ts'
import { runPack } from '../../../eval/runners/retrieval/run-pack.ts'
import { readRecords } from '../../../memory/transfer/belief-record.ts'
import { plain } from '../../text/output.ts'
import { explanationText } from './explain-case.ts'

const beliefs = [
  belief('b-anchor', { aliases: ['ground tackle'] }),
  belief('b-sail'),
  belief('b-jib', { scope: ['domain:cars'] }),
]
const clock = { now: () => new Date(0), newId: () => 'unused' }
const pack: Pack = {
  kind: 'retrieval',
  id: 'boats',
  title: 'Boats',
  beliefs: readRecords(clock, { text: JSON.stringify(beliefs), source: 'b', user: 'ann', scopes: [] }).records.map(
    ({ record }) => record,
  ),
  recall: {},
  hash: 'h',
  warnings: [],
  cases: readRetrievalCases('c', [
    staticCase(
      'named',
      'how heavy is the anchor, and the ground tackle?',
      { relevantBeliefs: { shouldOnlyInclude: ['b-anchor'] } },
      { category: 'Alias resolution' },
    ),
    staticCase('elsewhere', 'the jib', { relevantBeliefs: { shouldOnlyInclude: [], mustExclude: ['b-jib'] } }),
    staticCase('wrong', 'the sail', { relevantBeliefs: { shouldOnlyInclude: ['b-anchor'], minCount: 1 } }),
  ]).cases.map((one) => ({ ...one, user: 'ann' })),
}

const backends = systemsFor(new URL('../../../../packs', import.meta.url).pathname)

async function explained(id: string): Promise<string | null> {
  const run = await runPack(pack, await backends.open('bm25'), { explain: true })
  return explanationText(run, id, plain(80))
}

describe('the explanation of a case', () => {
  it('shows the words that matched, the arithmetic and what held', async () => {
    const text = await explained('named')

    expect(text).toContain('bm25: named (boats, Alias resolution): passed')
    expect(text).toContain('how heavy is the [anchor], and the [ground tackle]?')
    expect(text).toMatch(/1\. b-anchor \(anchor\) {2}[\d.]+/u)
    expect(text).toMatch(/"anchor" is its name "anchor": .+ \(idf .+\) × .+ \(tf .+\) × 2 \(name boost\) .+ = [\d.]+/u)
    expect(text).toContain('relevantBeliefs.shouldOnlyInclude ["b-anchor"]: held')
  })

  it('shows what was left out and why, and what failed', async () => {
    expect(await explained('elsewhere')).toContain('b-jib: other scope: domain:cars')
    expect(await explained('wrong')).toMatch(
      /FAILED[\s\S]*shouldOnlyInclude \["b-anchor"\]: FAILED: relevant beliefs: b-anchor is missing\./u,
    )
    expect(await explained('wrong')).toContain('relevantBeliefs.minCount 1: held')
  })

  it('is not made up for a case that was not run', async () => {
    expect(await explained('no-such-case')).toBeNull()
  })
})
