import { expect, it } from 'vitest'
import { answerSchema } from '../memory/learn/model-extractor.ts'
import { isClosedSchema } from './openai-model.ts'

const closed = { type: 'object', additionalProperties: false, required: ['a'], properties: { a: { type: 'string' } } }

it.each([
  [closed, true],
  [{ ...closed, additionalProperties: true }, false],
  [{ ...closed, required: [] }, false],
  [{ type: 'array', items: closed }, true],
  [{ type: 'array', items: { type: 'object', properties: {} } }, false],
  [{ ...closed, properties: { a: { type: 'object', properties: { b: { type: 'string' } } } } }, false],
])('a schema is closed if every object in it is: %#', (schema, expected) => {
  expect(isClosedSchema(schema)).toBe(expected)
})

it('our own schema for statements is closed', () => {
  expect(isClosedSchema(answerSchema)).toBe(true)
})
