import { describe, expect, it } from 'vitest'
import { aRun, plant } from '../../../test/harness/eval-store.ts'
import { caseExample } from '../../../test/harness/example-documents.ts'
import { temporaryDirectory } from '../../../test/temporary-directory.ts'
import { diffRuns } from './diff.ts'

const answer = {
  query: 'the levain',
  prelude: null,
  matches: [{ id: 'b-1', score: 2, clauses: [{ path: 'aliases', term: 'levain', score: 2 }] }],
}
const returned = [
  { id: 'b-9', score: null, rank: 1, tier: 'pinned' },
  { id: 'b-1', score: 2, rank: 1, tier: 'relevant' },
]

const record = (caseId: string, fields: object = {}) => ({
  ...caseExample,
  caseId,
  returned,
  explanation: answer,
  ...fields,
})
const failed = { verdict: 'fail', failures: ['b-1 is missing.'] }

async function diffed(base: readonly object[], candidate: readonly object[], ofCandidate: object = {}) {
  using store = temporaryDirectory()
  const lines = (records: readonly object[]): string => records.map((one) => `${JSON.stringify(one)}\n`).join('')
  plant(store.path, {
    'runs/a.json': aRun({ runId: 'a' }),
    'runs/b.json': aRun({ runId: 'b', ...ofCandidate }),
    'runs/a/cases.jsonl': lines(base),
    'runs/b/cases.jsonl': lines(candidate),
  })
  return await diffRuns(store.path, 'a', 'b')
}

describe('the difference of two runs', () => {
  it('groups cases by their change', async () => {
    const diff = await diffed(
      [record('kept'), record('broken'), record('fixed', failed), record('failing', failed), record('removed')],
      [record('kept'), record('broken', failed), record('fixed'), record('failing', failed), record('new')],
    )

    expect(diff).toMatchObject({
      fixed: [{ id: 'fixed' }],
      broken: [{ id: 'broken', base: 'pass', candidate: 'fail', failures: ['b-1 is missing.'] }],
      stillFailing: [{ id: 'failing' }],
      newCases: ['new'],
      removedCases: ['removed'],
      flaky: [],
      changed: [],
      unchanged: 1,
    })
  })

  it.each([
    [
      'answered',
      { verdict: 'error', returned: [], error: { class: 'system', message: 'no answer' }, explanation: undefined },
    ],
    ['query', { ...failed, explanation: { ...answer, query: 'levain' } }],
    ['match', { ...failed, returned: returned.slice(0, 1), explanation: { ...answer, matches: [] } }],
    [
      'match',
      {
        ...failed,
        explanation: { ...answer, matches: [{ id: 'b-1', clauses: [{ path: 'canonical_name', term: 'starter' }] }] },
      },
    ],
    ['score', { ...failed, returned: [returned[0], { ...returned[1], score: 1.9 }] }],
    ['pinned', { ...failed, returned: returned.slice(1) }],
    ['prelude', { ...failed, explanation: { ...answer, prelude: 'Likes bread.' } }],
    ['judged', failed],
  ])('finds that %s is the first stage that differs', async (stage, fields) => {
    const { broken } = await diffed([record('x')], [record('x', fields)])

    expect(broken).toMatchObject([{ id: 'x', firstStage: stage }])
  })

  it('finds that only the order differs', async () => {
    const two = [
      { id: 'b-1', score: 2, rank: 1, tier: 'relevant' },
      { id: 'b-2', score: 2, rank: 2, tier: 'relevant' },
    ]
    const swapped = [
      { ...two[1], rank: 1 },
      { ...two[0], rank: 2 },
    ]

    const { changed } = await diffed([record('x', { returned: two })], [record('x', { returned: swapped })])

    expect(changed).toMatchObject([
      {
        firstStage: 'rank',
        returned: [
          { id: 'b-1', from: 1, to: 2 },
          { id: 'b-2', from: 2, to: 1 },
        ],
      },
    ])
  })

  it('does not report a rounding error as a difference', async () => {
    const dusty = [returned[0], { ...returned[1], score: 2 + 1e-12 }]

    expect(await diffed([record('x')], [record('x', { returned: dusty })])).toMatchObject({ unchanged: 1, changed: [] })
  })

  it('lists ids that appeared, disappeared or moved', async () => {
    const { broken } = await diffed(
      [record('x')],
      [record('x', { ...failed, returned: [{ id: 'b-2', score: 1, rank: 1, tier: 'relevant' }] })],
    )

    expect(broken[0]?.returned).toEqual([
      { id: 'b-9', tier: 'pinned', from: 1, to: null },
      { id: 'b-1', tier: 'relevant', from: 1, to: null },
      { id: 'b-2', tier: 'relevant', from: null, to: 1 },
    ])
  })

  it('lists cases that are flaky in either run', async () => {
    const diff = await diffed(
      [record('x'), record('y')],
      [record('x'), record('x', { repeat: 1, ...failed }), record('y')],
    )

    expect(diff).toMatchObject({ flaky: ['x'], broken: [{ id: 'x' }] })
  })

  it('never pairs cases of different benchmarks', async () => {
    const diff = await diffed([record('x')], [record('x', failed)], { benchmarkId: 'other' })

    expect(diff).toMatchObject({ broken: [], unchanged: 0, newCases: ['x'], removedCases: ['x'] })
    expect(diff.notes[0]).toBe('Different benchmarks: ama-memory and other.')
  })

  it('reports a run without stored cases', async () => {
    const { notes } = await diffed([], [record('x')])

    expect(notes).toContain('The run a kept no case records.')
    using store = temporaryDirectory()
    await expect(diffRuns(store.path, 'a', 'b')).rejects.toMatchObject({ code: 'not_found' })
  })
})
