import { expect, it } from 'vitest'
import type { CaseRecord } from '../store/schemas/run.ts'
import { figureCells, pushColumns } from './figure-tables.ts'

const record = (caseId: string, scores: CaseRecord['scores']): CaseRecord => ({
  schemaVersion: 1,
  caseId,
  repeat: 0,
  seed: 1,
  verdict: 'fail',
  cluster: caseId,
  scores,
  returned: [],
  failures: [],
  timings: {},
})

it('shows the push rates with their counts, and lines and characters as plain numbers', () => {
  const needed = ['a', 'b', 'c', 'd'].map((id, at) =>
    record(id, { missed: at === 0 ? 1 : 0, falseFire: null, lines: 2, characters: 120 }),
  )
  const silent = [record('e', { missed: null, falseFire: 1, lines: 0, characters: 0 })]

  const [missed, falseFire, outdated, lines] = figureCells([...needed, ...silent], pushColumns, { hasIntervals: false })

  expect([missed, falseFire, outdated, lines]).toEqual(['1/4 = 25.0', '1/1 = 100.0', '', '1.60'])
})

it('shows an interval with a positive width even if all conversations have the same result', () => {
  const records = ['a', 'b'].map((id) => record(id, { missed: 0 }))

  expect(figureCells(records, [{ name: 'missed', range: [0, 1] }])).toEqual(['0/2 = 0.0 [0.0, 65.8]'])
})

it('gives two conversations with the same share of misses an interval at least as wide as their messages alone', () => {
  const of = (cluster: string) =>
    Array.from({ length: 6 }, (_, at) => ({ ...record(`${cluster}${at}`, { missed: at === 0 ? 1 : 0 }), cluster }))

  expect(figureCells([...of('a'), ...of('b')], [{ name: 'missed', range: [0, 1] }])).toEqual([
    '2/12 = 16.7 [4.7, 44.8]',
  ])
})
