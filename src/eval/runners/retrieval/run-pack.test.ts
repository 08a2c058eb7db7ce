import { describe, expect, it } from 'vitest'
import { belief, openStore, staticCase, tickingClock } from '../../../../test/eval/sample-corpus.ts'
import { readRecords } from '../../../memory/transfer/belief-record.ts'
import { reportEntriesOf, reportOf, summarise } from '../../report/retrieval-report.ts'
import { bm25System } from '../../system/bm25.ts'
import type { System } from '../../system/system.ts'
import { underTest } from '../../system/under-test.ts'
import { readRetrievalCases } from './case-file.ts'
import type { AskedCase, Pack } from './pack.ts'
import { explanationOf } from './retrieval-runner.ts'
import { runPack } from './run-pack.ts'

const ours = () => bm25System({ openStore, version: 'test' })
const subjectOf = (system: System = ours()) => underTest(system, { ours, clock: tickingClock() })
const records = (...beliefs: unknown[]) =>
  readRecords(
    { now: () => new Date(0), newId: () => 'unused' },
    { text: JSON.stringify(beliefs), source: 'b', user: 'ann', scopes: [] },
  ).records.map(({ record }) => record)

const base = { id: 'p', title: 'P', recall: {}, hash: 'h', warnings: [] }
const beliefs = records(belief('b-anchor'), belief('b-sail', { aliases: ['genoa'] }))
const only = (...ids: string[]) => ({ relevantBeliefs: { shouldOnlyInclude: ids } })

const staticPack = (...cases: unknown[]): Pack => ({
  ...base,
  kind: 'retrieval',
  beliefs,
  cases: readRetrievalCases('c', cases).cases.map((one) => ({ ...one, user: one.user ?? 'ann' })),
})
const turn = (
  turnIndex: number,
  message: string,
  expectation: AskedCase['expect'],
  updates: AskedCase['updates'] = [],
) => ({
  turnIndex,
  group: 'drift',
  description: '',
  scopes: ['domain:boats'],
  message,
  budget: {},
  user: 'ann',
  expect: expectation,
  updates,
})
const sessionPack = (...turns: ReturnType<typeof turn>[]): Pack => ({
  ...base,
  kind: 'session',
  beliefs,
  cases: turns.map((one, place) => {
    const caseId = place < turns.length - 1 ? 's1' : 's2'
    return { ...one, id: `${caseId}#${one.turnIndex}`, caseId }
  }),
})

describe('a run over cases', () => {
  it('judges every case', async () => {
    const pack = staticPack(
      staticCase('right', 'the anchor', only('b-anchor')),
      staticCase('wrong', 'the anchor', only('b-sail')),
    )

    const run = await runPack(pack, subjectOf())

    expect(run.outcomes.map(({ caseId, verdict }) => [caseId, verdict])).toEqual([
      ['right', 'pass'],
      ['wrong', 'fail'],
    ])
    expect(run.outcomes[1]?.failures).toEqual([
      'relevant beliefs: b-sail is missing.',
      'relevant beliefs: b-anchor was not expected.',
    ])
  })

  it('counts a failed answer as an error, not as a zero and not as a pass', async () => {
    const flaky: System = {
      ...ours(),
      recall: async (query) => {
        if (query.message === 'fail') throw new Error('out of order')
        return { prelude: null, pinned: [], relevant: [], questions: [] }
      },
    }
    const pack = staticPack(
      staticCase('silent', 'fail', only()),
      staticCase('quiet', 'nothing', only()),
      staticCase('miss', 'the anchor', only('b-anchor')),
    )

    const run = await runPack(pack, subjectOf(flaky))

    expect(reportEntriesOf(run)[0]).toMatchObject({
      status: 'error',
      passed: false,
      error: 'out of order',
      retrievalPrecision: null,
      retrievalLatencyMs: null,
    })
    expect(summarise(run.outcomes)).toMatchObject({
      totalCases: 3,
      totalPassed: 1,
      totalFailed: 1,
      errors: 1,
      passRate: 0.5,
      meanPrecision: 0,
    })
  })

  it('reports an error for every case if the corpus cannot be stored', async () => {
    const broken: System = {
      ...ours(),
      ingest: async () => {
        throw new Error('too large')
      },
    }

    const run = await runPack(staticPack(staticCase('a', 'x', only()), staticCase('b', 'y', only())), subjectOf(broken))

    expect(run.ingestMs).toBeNull()
    expect(run.outcomes.map(({ error }) => error?.message)).toEqual([
      'The corpus could not be stored: too large',
      'The corpus could not be stored: too large',
    ])
  })

  it('starts each time with an empty system', async () => {
    const system = subjectOf()
    await runPack(staticPack(staticCase('a', 'x', only())), system)

    const run = await runPack({ ...staticPack(staticCase('a', 'the anchor', only())), beliefs: [] }, system)

    expect(run.outcomes[0]?.verdict).toBe('pass')
  })

  it('requests explanations only if they were requested', async () => {
    const pack = staticPack(
      staticCase('a', 'the anchor', only('b-anchor')),
      staticCase('b', 'the anchor', only('b-anchor')),
    )

    const without = await runPack(pack, subjectOf())
    const explained = await runPack(pack, subjectOf(), { explain: true, wanted: new Set(['b']) })

    const reasons = ({ outcomes }: typeof without) =>
      outcomes.map((one) => [one.caseId, explanationOf(one).nearMisses !== undefined])
    expect(reasons(without)).toEqual([
      ['a', false],
      ['b', false],
    ])
    expect(reasons(explained)).toEqual([['b', true]])
  })
})

describe('a run over sessions', () => {
  const windlass = records(belief('b-windlass'))[0] as (typeof beliefs)[number]
  const create = { kind: 'create', belief: windlass } as const
  const sail = beliefs[1] as (typeof beliefs)[number]
  const renamed = { ...sail, name: 'headsail', aliases: [...sail.aliases, sail.name, 'jib'] }
  const rename = { kind: 'replace', belief: renamed } as const

  it('changes the store after a turn has been scored, for all later turns and sessions', async () => {
    const pack = sessionPack(
      turn(0, 'windlass', only(), [create]),
      turn(1, 'windlass and jib', only('b-windlass'), [rename]),
      turn(2, 'headsail', only('b-sail')),
      turn(0, 'jib on the windlass', only('b-sail', 'b-windlass')),
    )

    const run = await runPack(pack, subjectOf())

    expect(run.outcomes.map(({ caseId, verdict }) => [caseId, verdict])).toEqual([
      ['s1#0', 'pass'],
      ['s1#1', 'pass'],
      ['s1#2', 'pass'],
      ['s2#0', 'pass'],
    ])
  })

  it('measures drift on the turns that list noise', async () => {
    const noisy = { noiseCheck: { mustNotSurface: ['b-sail'] } }
    const pack = sessionPack(
      turn(0, 'anchor and genoa', noisy),
      turn(1, 'anchor', noisy),
      turn(2, 'genoa', only('b-sail')),
    )

    const run = await runPack(pack, subjectOf())

    expect(reportEntriesOf(run).map((entry) => ('driftScore' in entry ? entry.driftScore : null))).toEqual([0.5, 0, 0])
    expect(reportOf([run]).retrieval).toMatchObject({ meanDriftScore: 0.25, caseCount: 2, turnCount: 3 })
  })

  it('does not judge turns whose store could not be prepared', async () => {
    const stubborn: System = {
      ...ours(),
      update: async () => {
        throw new Error('read only')
      },
    }
    const pack = sessionPack(
      turn(0, 'windlass', only(), [create]),
      turn(1, 'anchor', only('b-anchor')),
      turn(2, 'x', only()),
    )

    const run = await runPack(pack, subjectOf(stubborn))

    expect(run.outcomes.map(({ verdict }) => verdict)).toEqual(['pass', 'error', 'error'])
    expect(run.outcomes[1]?.error?.message).toBe('The store could not be changed after s1#0: read only')
  })
})
