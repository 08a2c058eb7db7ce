import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JsonSpans, type Span, withInsertions } from './json-spans.ts'

const spansIn = (bytes: Buffer) => new JsonSpans(bytes.toString('latin1'))
const valueIn = (bytes: Buffer, { start, end }: Span): unknown => JSON.parse(bytes.subarray(start, end).toString())

describe('spans of a JSON text', () => {
  it('are those of its values, in whatever layout', () => {
    const layout = fc.constantFrom<string | number>('', 1, '\t', '\r\n ')
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.array(fc.jsonValue())), layout, (value, indent) => {
        const bytes = Buffer.from(` ${JSON.stringify(value, null, typeof indent === 'string' ? indent : 1)}\n`)
        const spans = spansIn(bytes)
        for (const [name, list] of Object.entries(value)) {
          const member = spans.member(spans.root(), name)
          // Names outside ASCII are looked up by nobody.
          if (/^[\x20-\x7e]*$/u.test(name) === false) continue
          expect(member).not.toBeNull()
          const elements = spans.elements(member as Span)
          expect(elements.map((span) => valueIn(bytes, span))).toEqual(JSON.parse(JSON.stringify(list)))
        }
      }),
      { numRuns: 200 },
    )
  })

  it('find the last of several members, and names that are written with escapes', () => {
    const bytes = Buffer.from('{"a": 1, "\\u0062": [2], "a": {"b": 3}}')
    const spans = spansIn(bytes)

    expect(valueIn(bytes, spans.member(spans.root(), 'a') as Span)).toEqual({ b: 3 })
    expect(valueIn(bytes, spans.member(spans.root(), 'b') as Span)).toEqual([2])
    expect(spans.member(spans.root(), 'c')).toBeNull()
  })

  it('let texts be inserted without a change to any other byte', () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.tuple(fc.nat(), fc.string())), (text, given) => {
        const bytes = Buffer.from(text)
        const marks = given.map(([at], index) => ({ at: at % (bytes.length + 1), text: `<${index}>` }))

        const result = withInsertions(bytes, marks).toString('latin1')

        const without = result.replaceAll(/<\d+>/gu, '')
        expect(without).toBe(bytes.toString('latin1').replaceAll(/<\d+>/gu, ''))
        expect(result.length).toBe(bytes.length + marks.reduce((sum, mark) => sum + mark.text.length, 0))
      }),
    )
  })
})
