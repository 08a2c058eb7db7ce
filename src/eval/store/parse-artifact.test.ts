import { describe, expect, it } from 'vitest'
import { caseExample, manifestExample, runExample } from '../../../test/harness/example-documents.ts'
import { parseArtifact, requireValid } from './parse-artifact.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const parse = (text: string) => parseArtifact('run-summary', bytes(text), 'runs/run-001.json')

describe('reading a document', () => {
  it('accepts UTF-8 with or without a byte order mark', () => {
    expect(parse(JSON.stringify(runExample))).toMatchObject({ ok: true, value: runExample })
    expect(parse(`\uFEFF${JSON.stringify(runExample)}`)).toMatchObject({ ok: true })
  })

  it.each([
    ['', 'is empty; it must be JSON'],
    ['{"schemaVersion": 1, "runId"', 'is not JSON'],
    ['[]', 'is a list of 0; it must be an object'],
    ['null', 'is null; it must be an object'],
  ])('reports the error in %j', (text, message) => {
    const problems = [{ file: 'runs/run-001.json', field: '(document)', message: expect.stringContaining(message) }]

    expect(parse(text)).toMatchObject({ ok: false, problems })
  })

  it('refuses bytes that are not UTF-8', () => {
    expect(parseArtifact('run-summary', Uint8Array.of(0x22, 0xff, 0x22), 'f')).toMatchObject({
      problems: [{ message: 'is not UTF-8 text' }],
    })
  })

  it('refuses deep nesting of any depth', () => {
    const deep = `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`

    expect(parse(deep)).toMatchObject({ problems: [{ message: 'is nested deeper than 64 levels' }] })
  })

  it('refuses the key `__proto__`', () => {
    const text = JSON.stringify(runExample).replace('"metrics":{', '"metrics":{"__proto__":{"f1":1},')

    expect(parse(text)).toMatchObject({ ok: false, problems: [{ field: 'metrics.__proto__' }] })
  })

  it('shows the value, the allowed values and the position', () => {
    const text = JSON.stringify({ ...runExample, status: 'done', totalCases: '12', runId: undefined })

    expect(parse(text)).toMatchObject({
      problems: [
        { field: 'runId', message: 'is missing; it must be text' },
        {
          field: 'status',
          message: 'is "done"; it must be "running" or "completed" or "failed" or "partial"',
        },
        { field: 'totalCases', message: 'is "12"; it must be a whole number' },
      ],
    })
  })

  it('reports a missing field as missing, and shows its own value, if a rule concerns several fields', () => {
    const error = { class: 'timeout', message: 'No answer within 5 s.' }
    const messages = (record: object) =>
      parseArtifact('case-record', bytes(JSON.stringify({ ...caseExample, ...record })), 'c.json')

    expect(messages({ verdict: 'error' })).toMatchObject({
      problems: [{ field: 'error', message: 'is missing; it must be there when the verdict is error' }],
    })
    expect(messages({ verdict: 'pass', error })).toMatchObject({
      problems: [{ field: 'error', message: 'is an object; it must not be there unless the verdict is error' }],
    })
    expect(messages({ failures: ['b-2 is missing.'] })).toMatchObject({
      problems: [{ field: 'failures', message: 'is a list of 1; it must be empty when the verdict is pass' }],
    })
    expect(parse(JSON.stringify({ ...runExample, completedAt: undefined }))).toMatchObject({
      problems: [{ field: 'completedAt', message: 'is missing; it must be there in a completed run' }],
    })
  })

  it('shows a number that is too large as it was parsed, and a syntax error on one line', () => {
    const huge = JSON.stringify({ ...runExample, metrics: { f1: 7 } }).replace('"f1":7', '"f1":1e999')

    expect(parse(huge)).toMatchObject({
      problems: [{ field: 'metrics.f1', message: 'is Infinity; it must be a number' }],
    })
    expect(parse('{\n "metrics": {\n  "f1": NaN\n }\n}')).toMatchObject({
      problems: [{ message: expect.not.stringContaining('\n') }],
    })
  })

  it('throws one error for a caller that requires the document', () => {
    const checked = parseArtifact(
      'manifest',
      bytes(JSON.stringify({ ...manifestExample, title: 7, cases: [] })),
      'm.json',
    )

    expect(() => requireValid(checked, 'manifest')).toThrow(
      expect.objectContaining({
        code: 'invalid',
        message: 'The benchmark manifest is not valid. m.json: title is 7; it must be text. 1 more: cases.',
        hint: 'The format is described in docs/reference/schemas/manifest.schema.json.',
      }),
    )
  })
})
