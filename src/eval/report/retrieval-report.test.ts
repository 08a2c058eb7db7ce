import { describe, expect, it } from 'vitest'
import { belief, staticCase, systemsFor } from '../../../test/eval/sample-corpus.ts'
import { readRecords } from '../../memory/transfer/belief-record.ts'
import { readRetrievalCases } from '../runners/retrieval/case-file.ts'
import { casesContaining, type Pack } from '../runners/retrieval/pack.ts'
import { type PackRun, runPack } from '../runners/retrieval/run-pack.ts'
import type { SystemName } from '../system/systems.ts'
import { comparisonRow, overallTable, packTable } from './comparison.ts'
import { reportFileName, reportsOf } from './retrieval-report.ts'

const packs = new URL('../../../packs', import.meta.url).pathname
const backends = systemsFor(packs)

const pack: Pack = {
  kind: 'retrieval',
  id: 'boats',
  title: 'Boats',
  beliefs: readRecords(
    { now: () => new Date(0), newId: () => 'unused' },
    {
      text: JSON.stringify([
        belief('b-anchor', { aliases: ['ground tackle'] }),
        belief('b-sail'),
        belief('b-jib', { scope: ['domain:cars'] }),
      ]),
      source: 'b',
      user: 'ann',
      scopes: [],
    },
  ).records.map(({ record }) => record),
  recall: {},
  hash: 'h',
  warnings: ['a warning'],
  cases: readRetrievalCases('c', [
    staticCase(
      'named',
      'how heavy is the anchor, and the ground tackle?',
      { relevantBeliefs: { shouldOnlyInclude: ['b-anchor'] } },
      { category: 'Alias resolution' },
    ),
    staticCase(
      'elsewhere',
      'the jib',
      { relevantBeliefs: { shouldOnlyInclude: [], mustExclude: ['b-jib'] } },
      { category: 'Scope disambiguation' },
    ),
    staticCase('wrong', 'the sail', { relevantBeliefs: { shouldOnlyInclude: ['b-anchor'], minCount: 1 } }),
  ]).cases.map((one) => ({ ...one, user: 'ann' })),
}

const runsOf = async (backend: SystemName): Promise<readonly PackRun[]> => {
  return [await runPack(pack, await backends.open(backend))]
}

describe('a report', () => {
  it('has an entry for every case, as documented', async () => {
    const [made] = reportsOf(await runsOf('bm25'))

    expect(made?.name).toBe('retrieval-report.json')
    expect(made?.report).toMatchObject({
      provider: 'bm25',
      suppliedTiers: false,
      warnings: ['a warning'],
      packs: [{ id: 'boats', hash: 'h', totalPassed: 2, totalCases: 3 }],
    })
    expect(made?.report.cases[0]).toEqual({
      pack: 'boats',
      caseId: 'named',
      category: 'Alias resolution',
      description: 'About named.',
      expandedQuery: 'how heavy is the anchor, and the ground tackle?',
      pinnedBeliefs: [],
      relevantBeliefs: ['b-anchor'],
      retrievedQuestions: [],
      personaPrelude: null,
      searchScores: [
        {
          id: 'b-anchor',
          score: expect.any(Number),
          clauses: [
            { path: 'canonical_name', term: 'anchor', score: expect.any(Number) },
            { path: 'aliases', term: 'ground tackle', score: expect.any(Number) },
          ],
        },
      ],
      retrievalPrecision: 1,
      retrievalRecall: 1,
      pinnedCoverage: null,
      questionPrecision: null,
      questionRecall: null,
      passed: true,
      failures: [],
      status: 'passed',
      passType: 'activeRetrieval',
      error: null,
      retrievalLatencyMs: 1,
    })
  })

  it('summarises by category and by kind of pass', async () => {
    const [made] = reportsOf(await runsOf('bm25'))

    expect(made?.report.retrieval).toMatchObject({
      totalCases: 3,
      totalPassed: 2,
      errors: 0,
      passRate: 0.6667,
      meanPrecision: 0.5,
      meanRecall: 0.5,
      activeRetrievalPasses: 1,
      passTypes: { activeRetrieval: 1, structural: 1, triviallyEmpty: 0 },
      p50LatencyMs: 1,
      categories: [
        { category: 'Alias resolution', caseCount: 1, passed: 1, failed: 0 },
        { category: 'Scope disambiguation', caseCount: 1, passed: 1, failed: 0 },
        { category: 'uncategorised', caseCount: 1, passed: 0, failed: 1 },
      ],
    })
  })

  it('of the vector backend has scores without clauses, and explains the protocol', async () => {
    const [made] = reportsOf(await runsOf('vector'))

    expect(made?.name).toBe('retrieval-report-vector.json')
    expect(made?.report.cases[0]?.searchScores[0]).toEqual({ id: 'b-anchor', score: expect.any(Number) })
    expect(JSON.stringify(made?.report)).not.toContain('clauses')
    expect(made?.report.notes).toContain(
      'vector: the top 20 of a scope with fewer beliefs are all of them, whatever the model.',
    )
    expect(made?.report.suppliedTiers).toBe(true)
  })

  it('is named after its backend and kind', () => {
    expect(reportFileName({ provider: 'bm25' }, 'session')).toBe('session-retrieval-report.json')
    expect(reportFileName({ provider: 'vector' }, 'session')).toBe('session-retrieval-report-vector.json')
    expect(reportFileName({ provider: '../evil name' }, 'retrieval')).toBe('retrieval-report-..-evil-name.json')
  })
})

describe('a comparison', () => {
  it('shows backends and controls next to each other, and the same figures each time', async () => {
    const names = ['bm25', 'none', 'everything', 'exact', 'oracle'] as const
    const rows = () => Promise.all(names.map(async (name) => comparisonRow(name, await runsOf(name))))

    const measured = await rows()

    const { titles, rows: lines } = overallTable(measured)
    expect([titles, ...lines].map((line) => line.join(' | '))).toEqual([
      'Backend | Static | Session | Total | 95 % interval | Precision | Recall | Drift',
      'bm25 | 2/3 | – | 2/3 | 20.8–93.9 % | 0.50 | 0.50 | –',
      'none | 1/3 | – | 1/3 | 6.1–79.2 % | 0.00 | 0.00 | –',
      'everything | 0/3 | – | 0/3 | 0.0–56.1 % | 0.33 | 1.00 | –',
      'exact | 2/3 | – | 2/3 | 20.8–93.9 % | 0.50 | 0.50 | –',
      'oracle | 3/3 | – | 3/3 | 43.9–100.0 % | 1.00 | 1.00 | –',
    ])
    expect(packTable(measured).rows[0]).toEqual(['bm25', '2/3'])
    expect(await rows()).toEqual(measured)
  })

  it('can be narrowed to some cases', async () => {
    expect([...casesContaining(pack, 'SCOPE')]).toEqual(['elsewhere'])
    expect(casesContaining(pack, 'nothing of the kind').size).toBe(0)
  })
})
