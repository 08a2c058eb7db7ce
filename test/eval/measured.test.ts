import { describe, expect, it } from 'vitest'
import { measuredMarkdown, withMeasured } from '../../scripts/measured.ts'

describe('the table in the documentation', () => {
  const tally = { totalPassed: 2, totalCases: 3, errors: 0 }
  const row = {
    backend: 'bm25',
    description: 'Credence',
    static: tally,
    session: null,
    total: tally,
    passRateInterval95: { low: 0.2, high: 0.9 },
    meanPrecision: 0.5,
    meanRecall: 0.5,
    meanDriftScore: null,
    p50LatencyMs: 1,
    packs: [{ id: 'boats', ...tally }],
  }

  it('is written between its markers, without other changes', () => {
    const document = 'before\n<!-- measured: start -->\nold\n<!-- measured: end -->\nafter\n'
    const measured = measuredMarkdown([row], ['A note.'], [{ id: 'boats', provenance: undefined }])

    const changed = withMeasured(document, 'doc.md', measured)

    expect(changed).toBe(`before\n<!-- measured: start -->\n${measured}\n<!-- measured: end -->\nafter\n`)
    expect(measured).toContain('| bm25 | 2/3 | – | 2/3 | 20.0–90.0 % | 0.50 | 0.50 | – |')
    expect(measured).toContain('| boats | unknown | unknown | not measured | 2/3 |')
    expect(measured).toContain('- A note.')
  })

  it('requires its markers', () => {
    expect(() => withMeasured('no markers', 'doc.md', 'x')).toThrow(/doc.md: has no/u)
  })
})
