import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JsonObjects } from './json-objects.ts'

/** The objects found in a text that is passed in pieces of `size` bytes. */
function objectsIn(text: string, size: number, maxLength?: number) {
  const bytes = Buffer.from(text)
  const objects = new JsonObjects(maxLength)
  const found = []
  for (let at = 0; at < bytes.length; at += size) found.push(...objects.take(bytes.subarray(at, at + size)))
  return { found, unfinished: objects.unfinished }
}

describe('the objects of a JSON text', () => {
  it('are complete, in arrays and in lines, however the text is split into chunks', () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue())
    fc.assert(
      fc.property(fc.array(object), fc.boolean(), fc.integer({ min: 1, max: 30 }), (values, isArray, size) => {
        const text = isArray
          ? JSON.stringify(values, null, 1)
          : values.map((one) => `${JSON.stringify(one)}\n`).join('')

        const { found, unfinished } = objectsIn(text, size)

        expect(found.map(({ text: one }) => JSON.parse(one ?? ''))).toEqual(JSON.parse(JSON.stringify(values)))
        expect(unfinished).toBeNull()
      }),
    )
  })

  it('have their line number, and are skipped if they are too large', () => {
    const { found } = objectsIn('[\n{"a": 1},\n{"b": "a long text"}\n]', 7, 10)

    expect(found).toMatchObject([
      { text: '{"a": 1}', line: 2 },
      { text: null, line: 3 },
    ])
  })

  it.each([
    ['[{"a": 1}, {"b', { line: 1, part: 'object' }],
    ['[{"a": 1},\n', { line: 1, part: 'array' }],
    ['{"a": "}"}', null],
  ])('of %s end at the right place', (text, unfinished) => {
    expect(objectsIn(text, 3).unfinished).toEqual(unfinished)
  })
})
