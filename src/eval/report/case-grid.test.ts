import { describe, expect, it } from 'vitest'
import type { CaseRecord, CaseVerdict, RunSummary } from '../store/schemas/run.ts'
import { caseGrid, standingOf } from './case-grid.ts'

const run = (runId: string): RunSummary => ({ runId, startedAt: runId }) as RunSummary
const record = (caseId: string, verdict: CaseVerdict): CaseRecord => ({ caseId, verdict }) as CaseRecord

const records: Readonly<Record<string, readonly CaseRecord[]>> = {
  base: [record('a', 'pass'), record('b', 'pass'), record('c', 'fail')],
  middle: [record('a', 'pass'), record('b', 'fail'), record('c', 'fail')],
  last: [record('a', 'pass'), record('b', 'error'), record('c', 'pass'), record('d', 'fail')],
}
const grid = caseGrid([run('base'), run('middle'), run('last')], async (id) => records[id] ?? [])

describe('a grid of cases by runs', () => {
  it('has a verdict for each case and run, or null if the case was not run', async () => {
    expect((await grid).cases).toContainEqual({ caseId: 'd', verdicts: [null, null, 'fail'] })
    expect((await grid).cases).toContainEqual({ caseId: 'b', verdicts: ['pass', 'fail', 'error'] })
  })

  it('shows the worst of several repeats', async () => {
    const repeats = [record('a', 'pass'), record('a', 'fail')]
    const { cases } = await caseGrid([run('one')], async () => repeats)
    expect(cases).toEqual([{ caseId: 'a', verdicts: ['fail'] }])
  })

  it('lists the cases that broke since a run, and the first run in which they failed', async () => {
    const { broken, fixed, failing, total, since } = standingOf(await grid, 'base')
    expect({ broken, fixed, failing, total }).toEqual({ broken: ['b'], fixed: ['c'], failing: 2, total: 4 })
    expect(since?.runId).toBe('middle')
  })

  it('does not list a case as broken if it already failed in the earlier run', async () => {
    expect(standingOf(await grid, 'middle')).toMatchObject({ broken: [], since: null })
    expect(standingOf(await grid, null)).toMatchObject({ broken: [], fixed: [], failing: 2 })
  })
})
