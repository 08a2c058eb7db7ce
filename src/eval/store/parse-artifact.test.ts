import { describe, expect, it } from 'vitest'
import { manifestExample, runExample } from '../../../test/harness/example-documents.ts'
import { parseArtifact, required } from './parse-artifact.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const parse = (text: string) => parseArtifact('run-summary', bytes(text), 'runs/run-001.json')

describe('reading a document', () => {
  it('takes UTF-8 with or without a byte order mark', () => {
    expect(parse(JSON.stringify(runExample))).toMatchObject({ ok: true, value: runExample })
    expect(parse(`\uFEFF${JSON.stringify(runExample)}`)).toMatchObject({ ok: true })
  })

  it.each([
    ['', 'is empty; it must be JSON'],
    ['{"schemaVersion": 1, "runId"', 'is not JSON'],
    ['[]', 'is a list of 0; it must be an object'],
    ['null', 'is null; it must be an object'],
  ])('says what is wrong with %j', (text, message) => {
    const problems = [{ file: 'runs/run-001.json', field: '(document)', message: expect.stringContaining(message) }]

    expect(parse(text)).toMatchObject({ ok: false, problems })
  })

  it('refuses bytes that are no UTF-8', () => {
    expect(parseArtifact('run-summary', Uint8Array.of(0x22, 0xff, 0x22), 'f')).toMatchObject({
      problems: [{ message: 'is not UTF-8 text' }],
    })
  })

  it('refuses what is nested without end, however deep', () => {
    const deep = `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`

    expect(parse(deep)).toMatchObject({ problems: [{ message: 'is nested deeper than 64 levels' }] })
  })

  it('refuses the name that would change a prototype', () => {
    const text = JSON.stringify(runExample).replace('"metrics":{', '"metrics":{"__proto__":{"f1":1},')

    expect(parse(text)).toMatchObject({ ok: false, problems: [{ field: 'metrics.__proto__' }] })
  })

  it('shows the value, what is allowed, and where', () => {
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

  it('becomes one error for a caller who needs the document', () => {
    const checked = parseArtifact(
      'manifest',
      bytes(JSON.stringify({ ...manifestExample, title: 7, cases: [] })),
      'm.json',
    )

    expect(() => required(checked, 'manifest')).toThrow(
      expect.objectContaining({
        code: 'invalid',
        message: 'The benchmark manifest is not valid. m.json: title is 7; it must be text. 1 more: cases.',
        hint: 'The format is described in docs/schemas/manifest.schema.json.',
      }),
    )
  })
})
