import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { summarise } from '../../src/eval/report/retrieval-report.ts'
import { type Pack, readPack } from '../../src/eval/runners/retrieval/pack.ts'
import { runPack } from '../../src/eval/runners/retrieval/run-pack.ts'
import type { SystemName } from '../../src/eval/system/systems.ts'
import { systemsFor } from './sample-corpus.ts'

// Published data sets are never part of this repository. They are read from CREDENCE_DATA, or from a folder next to the
// repository.
const data = process.env.CREDENCE_DATA ?? globSync('../*/data')[0] ?? '../data'
const directory = join(data, 'precisionmembench-paper')
const isHere = existsSync(directory)
if (!isHere) console.info(`Skipped: the published suite is not in ${directory}; CREDENCE_DATA says where to look.`)

const suite = (kind: Pack['kind'], editedPins: 'in-scope' | 'everywhere'): Pack =>
  readPack({
    kind,
    id: 'published',
    title: 'Published',
    beliefsFile: join(directory, 'beliefs.seed.json'),
    casesFile: join(directory, kind === 'session' ? 'session-retrieval.cases.json' : 'retrieval.cases.json'),
    recall: { editedPins },
  })

const backends = systemsFor('packs')
const run = async (pack: Pack, backend: SystemName) => {
  const { outcomes } = await runPack(pack, await backends.open(backend))
  const failed = outcomes.flatMap(({ caseId, verdict }) => (verdict === 'pass' ? [] : [caseId]))
  return { ...summarise(outcomes), failed }
}

describe.skipIf(!isHere)('the published suite', () => {
  it('is passed completely, with precision 1, with scopes as originally intended', async () => {
    expect(await run(suite('retrieval', 'everywhere'), 'bm25')).toMatchObject({
      failed: [],
      totalPassed: 60,
      totalCases: 60,
      meanPrecision: 1,
      meanRecall: 1,
    })
  })

  it('is passed turn by turn, without drift', async () => {
    expect(await run(suite('session', 'everywhere'), 'bm25')).toMatchObject({
      failed: [],
      totalPassed: 12,
      totalCases: 12,
      meanPrecision: 1,
      meanDriftScore: 0,
    })
  })

  it('differs in two cases if scopes are strict', async () => {
    expect((await run(suite('retrieval', 'in-scope'), 'bm25')).failed).toEqual([
      'user-edited-cross-scope-surfaces',
      'budget-ceiling-evicts-relevant-beliefs',
    ])
    expect((await run(suite('session', 'in-scope'), 'bm25')).failed).toEqual([])
  })

  it('is half passed by an empty answer, hardly by returning everything, and completely by the oracle', async () => {
    const pack = suite('retrieval', 'everywhere')

    expect((await run(pack, 'none')).totalPassed).toBe(27)
    expect((await run(pack, 'everything')).totalPassed).toBe(5)
    expect((await run(pack, 'exact')).totalPassed).toBe(54)
    expect((await run(pack, 'oracle')).failed).toEqual([])
  })

  it('lists its unchecked expectations', () => {
    expect(suite('retrieval', 'everywhere').warnings).toEqual([
      expect.stringContaining('recency-tiebreak-reinforcement'),
    ])
    expect(suite('session', 'everywhere').warnings).toEqual([
      expect.stringContaining('topicRetrieval'),
      expect.stringContaining('relevantBeliefs.pinnedFacts'),
    ])
  })
})
