import { describe, expect, it } from 'vitest'
import { type JsonPath, parseJsonPath, valuesAt } from './mcp-mapping.ts'

const result = { entities: [{ name: 'a', score: 2 }, { name: 'b' }], 'top hit': { id: 'c' } }

describe('a path', () => {
  it.each([
    ['$.entities[*].name', ['a', 'b']],
    ['$.entities[1].name', ['b']],
    ['$.entities[*].score', [2]],
    ["$['top hit'].id", ['c']],
    ['$.nothing[*].name', []],
    ['$.entities[7].name', []],
    ['$.entities.name', []],
    ['$.entities[*].name.first', []],
    ['$.toString', []],
  ])('%s returns %j', (path, values) => {
    expect(valuesAt(result, parseJsonPath(path) as JsonPath)).toEqual(values)
  })

  it('of the root alone returns the whole value', () => {
    expect(valuesAt(['a', 'b'], parseJsonPath('$') as JsonPath)).toEqual([['a', 'b']])
    expect(valuesAt(['a', 'b'], parseJsonPath('$[*]') as JsonPath)).toEqual(['a', 'b'])
  })

  it.each(['', 'entities', '$entities', '$..name', '$.entities[', '$.entities[?(@.name)]', '$.', '$[-1]'])(
    'is invalid as "%s"',
    (text) => {
      expect(parseJsonPath(text)).toBeNull()
    },
  )
})
