import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  baselineExample,
  caseExample,
  environmentExample,
  manifestExample,
  redTeamExample,
  runExample,
  shadowExample,
} from '../../../test/harness/example-documents.ts'
import { type ArtifactKind, artifactSchemas, checkArtifact } from './parse-artifact.ts'
import { isSafeId } from './schemas/primitives.ts'

const examples: readonly (readonly [string, ArtifactKind, object])[] = [
  ['a manifest', 'manifest', manifestExample],
  ['a red-team manifest', 'manifest', redTeamExample],
  ['a run', 'run-summary', runExample],
  ['a shadow record', 'shadow-record', shadowExample],
  ['a baseline', 'baseline', baselineExample],
  ['a case record', 'case-record', caseExample],
  ['an environment', 'environment', environmentExample],
]

/** The fields for which a changed example is rejected; empty if it is valid. */
function refused(kind: ArtifactKind, document: unknown): readonly string[] {
  const checked = checkArtifact(kind, document, 'file.json')
  return checked.ok ? [] : checked.problems.map(({ field }) => field)
}

describe('the example documents of the contract', () => {
  it.each(examples)('%s is valid unchanged', (_name, kind, document) => {
    const checked = checkArtifact(kind, document, 'file.json')

    expect(checked).toMatchObject({ ok: true, value: document })
  })

  it.each(examples)('%s keeps undeclared fields', (_name, kind, document) => {
    const more = { ...document, invented: kind === 'shadow-record' ? 7 : { by: ['somebody', 7] } }

    expect(checkArtifact(kind, more, 'file.json')).toMatchObject({ ok: true, value: more })
  })

  it.each(examples)('%s requires version 1', (_name, kind, document) => {
    expect(refused(kind, { ...document, schemaVersion: '1' })).toEqual(['schemaVersion'])
    expect(refused(kind, { ...document, schemaVersion: 2 })).toEqual(['schemaVersion'])
    expect(refused(kind, { ...document, schemaVersion: undefined })).toEqual(['schemaVersion'])
  })
})

describe('a manifest', () => {
  it('has cases, each with its own id and a prompt', () => {
    const twice = [...manifestExample.cases, ...manifestExample.cases]

    expect(refused('manifest', { ...manifestExample, cases: [] })).toEqual(['cases'])
    expect(refused('manifest', { ...manifestExample, cases: twice })).toEqual(['cases[1].id'])
    expect(refused('manifest', { ...manifestExample, cases: [{ id: 'a', prompt: ' ' }] })).toEqual(['cases[0].prompt'])
    expect(refused('manifest', { ...manifestExample, title: '' })).toEqual(['title'])
  })

  it('is standard unless it has another type, and its type must be known', () => {
    expect(checkArtifact('manifest', manifestExample, 'f')).toMatchObject({ value: { benchmarkType: 'standard' } })
    expect(refused('manifest', { ...manifestExample, benchmarkType: 'other' })).toEqual(['benchmarkType'])
    expect(refused('manifest', { ...manifestExample, benchmarkType: 7 })).toEqual(['benchmarkType'])
  })

  it('of a red team reads attack and target from their published field names', () => {
    const { attackClass: _, ...unnamed } = redTeamExample

    expect(refused('manifest', unnamed)).toEqual(['attackClass'])
    expect(refused('manifest', { ...redTeamExample, attackClass: 'magic', targetSurface: 'x-' })).toEqual([
      'attackClass',
      'targetSurface',
    ])
    expect(refused('manifest', { ...redTeamExample, attackClass: 'x-own-word' })).toEqual([])
    expect(checkArtifact('manifest', { ...redTeamExample, attackClass: 'magic' }, 'f')).toMatchObject({
      problems: [
        { message: expect.stringMatching(/^is "magic"; it must be one of provenance-spoofing, .*begins with x-$/u) },
      ],
    })
  })

  it('declares each metric once, with a valid range', () => {
    const metric = { name: 'f1', direction: 'higher', range: [0, 1], minEffect: 0.01 }

    expect(refused('manifest', { ...manifestExample, metrics: [metric] })).toEqual([])
    expect(refused('manifest', { ...manifestExample, metrics: [metric, metric] })).toEqual(['metrics[1].name'])
    expect(refused('manifest', { ...manifestExample, metrics: [{ ...metric, range: [1, 0] }] })).toEqual([
      'metrics[0].range',
    ])
  })

  it.each(['../up.json', '/etc/passwd', 'a/../../b', 'a//b', './a', 'a\\b', 'C:x', '..', ''])(
    'does not refer outside its folder with %j',
    (path) => {
      expect(refused('manifest', { ...manifestExample, files: { cases: path } })).toEqual(['files.cases'])
    },
  )
})

describe('a run summary', () => {
  it.each([null, '', true, '12', 2.5, -1])('does not accept %j as a count', (value) => {
    expect(refused('run-summary', { ...runExample, failedCases: value })).toContain('failedCases')
  })

  it('has totals that add up', () => {
    expect(refused('run-summary', { ...runExample, passedCases: 13, failedCases: 0 })).toEqual(['totalCases'])
    expect(refused('run-summary', { ...runExample, passedCases: 8 })).toEqual(['totalCases'])
    expect(refused('run-summary', { ...runExample, errorCases: 1 })).toEqual(['totalCases'])
    expect(refused('run-summary', { ...runExample, passedCases: 6, errorCases: 1, skippedCases: 2 })).toEqual([])
    expect(refused('run-summary', { ...runExample, status: 'partial', passedCases: 2 })).toEqual([])
    expect(refused('run-summary', { ...runExample, totalCases: 0, passedCases: 0, failedCases: 0 })).toEqual([
      'totalCases',
    ])
  })

  it('was completed after it started', () => {
    const { completedAt: _, ...open } = runExample

    expect(refused('run-summary', open)).toEqual(['completedAt'])
    expect(refused('run-summary', { ...open, status: 'running' })).toEqual([])
    expect(refused('run-summary', { ...runExample, completedAt: '2026-03-06T09:00:00.000Z' })).toEqual(['completedAt'])
  })

  it.each(['yesterday', '2026-02-30T10:00:00Z', '2026-03-06', 1_772_791_200_000])(
    'does not accept %j as a time',
    (at) => {
      expect(refused('run-summary', { ...runExample, startedAt: at })).toEqual(['startedAt'])
    },
  )

  it('accepts numeric metrics, and refuses other values', () => {
    const metrics = { ...runExample.metrics, somethingNew: -3 }

    expect(checkArtifact('run-summary', { ...runExample, metrics }, 'f')).toMatchObject({ value: { metrics } })
    for (const value of [null, '0.8', Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(refused('run-summary', { ...runExample, metrics: { f1: value } })).toEqual(['metrics.f1'])
    }
    expect(refused('run-summary', { ...runExample, metrics: [0.8] })).toEqual(['metrics'])
  })
})

describe('a shadow record', () => {
  it.each([
    ['prompt', { prompt: 'What did I say about the house?' }],
    ['note', { note: 'x' }],
    ['extra.deep[1].text', { extra: { deep: [1, { text: 'hidden' }] } }],
    ['extra["(a field whose name is not one word)"]', { extra: { 'a sentence as a name': 1 } }],
    ['["(a field whose name is not one word)"]', { 'a sentence as a name': 1 }],
  ])('refuses the field %s, which could carry text', (field, more) => {
    expect(refused('shadow-record', { ...shadowExample, ...more })).toEqual([field])
  })

  it.each([
    ['sessionKey', 'tell me about the house'],
    ['promptHash', 'what is my name'],
    ['source', 'a sentence'],
    ['recallMode', 'a sentence'],
    ['policyVersion', 'two words'],
  ])('refuses text in %s, and does not repeat it', (field, text) => {
    const checked = checkArtifact('shadow-record', { ...shadowExample, [field]: text }, 'f')

    expect(checked).toMatchObject({ ok: false, problems: [{ field }] })
    expect(JSON.stringify(checked)).not.toContain(text)
  })

  it('accepts further numbers and flags', () => {
    const more = { ...shadowExample, cacheHits: 3, warm: true, stages: { link: 0.2 } }

    expect(checkArtifact('shadow-record', more, 'f')).toMatchObject({ ok: true, value: more })
  })

  it('never has more ids than memories', () => {
    expect(refused('shadow-record', { ...shadowExample, recalledMemoryCount: 1 })).toEqual(['memoryIds'])
  })
})

describe('a baseline', () => {
  const [benchmark] = baselineExample.benchmarks

  it('counts its benchmarks, each of which appears once', () => {
    expect(refused('baseline', { ...baselineExample, benchmarkCount: 2 })).toEqual(['benchmarkCount'])
    const twice = { ...baselineExample, benchmarkCount: 2, benchmarks: [benchmark, benchmark] }
    expect(refused('baseline', twice)).toEqual(['benchmarks[1].benchmarkId'])
  })

  it('has a pass rate that agrees with its counts and its case results', () => {
    const withFigures = (figures: object) => ({ ...baselineExample, benchmarks: [{ ...benchmark, ...figures }] })
    const caseResults = [
      { id: 'a', verdict: 'pass' },
      { id: 'b', verdict: 'error' },
    ]

    expect(refused('baseline', withFigures({ passRate: 1.1 }))).toEqual(['benchmarks[0].passRate'])
    expect(refused('baseline', withFigures({ totalCases: 12, passedCases: 9 }))).toEqual([])
    expect(refused('baseline', withFigures({ totalCases: 12, passedCases: 8 }))).toEqual(['benchmarks[0].passRate'])
    expect(refused('baseline', withFigures({ passRate: 0.5, totalCases: 2, passedCases: 1, caseResults }))).toEqual([])
    expect(refused('baseline', withFigures({ passRate: 1, totalCases: 2, passedCases: 2, caseResults }))).toEqual([
      'benchmarks[0].passedCases',
    ])
  })
})

describe('a case record', () => {
  it('lists failures exactly if the case failed', () => {
    const error = { class: 'timeout', message: 'No answer within 5 s.' }

    expect(refused('case-record', { ...caseExample, verdict: 'error' })).toEqual(['error'])
    expect(refused('case-record', { ...caseExample, verdict: 'error', error })).toEqual([])
    expect(refused('case-record', { ...caseExample, error })).toEqual(['error'])
    expect(refused('case-record', { ...caseExample, failures: ['b-2 is missing.'] })).toEqual(['failures'])
  })
})

describe('a safe id', () => {
  it.each(['run-001', 'watering-drift#3', 'Prüfung 7', 'a.b', '2026-03-06T10:00:00Z', 'x'.repeat(128)])(
    'may be %j',
    (id) => {
      expect(isSafeId(id)).toBe(true)
    },
  )

  it.each([
    '',
    '.',
    '..',
    'a/b',
    'a\\b',
    '../x',
    'a..b',
    '.hidden',
    ' a',
    'a ',
    'a\nb',
    'a\u0000',
    '\ud800',
    'a\u202eb',
    'a\u200bb',
    'x'.repeat(129),
  ])('may not be %j', (id) => {
    expect(isSafeId(id)).toBe(false)
  })

  it('never leaves its directory, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (id) => {
        fc.pre(isSafeId(id))

        expect(new URL(`file:///store/runs/${encodeURIComponent(id)}.json`).pathname).toMatch(/^\/store\/runs\/[^/]+$/)
        expect(id.split(/[/\\]/u)).toEqual([id])
      }),
    )
  })
})

describe('the published JSON Schemas', () => {
  it('match the schemas in the code', () => {
    const script = fileURLToPath(new URL('../../../scripts/schemas.ts', import.meta.url))

    const { status, stderr } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' })

    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })

  it.each(examples)('accept %s, and refuse it without its version', (_name, kind, document) => {
    const file = new URL(`../../../docs/reference/schemas/${kind}.schema.json`, import.meta.url)
    const published = z.fromJSONSchema(JSON.parse(readFileSync(file, 'utf8')))

    expect(published.safeParse(document).error?.issues).toBeUndefined()
    expect(published.safeParse({ ...document, schemaVersion: undefined }).success).toBe(false)
    expect(Object.keys(artifactSchemas)).toContain(kind)
  })
})
