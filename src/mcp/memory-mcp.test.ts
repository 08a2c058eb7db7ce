import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { originOf, programIn } from './memory-mcp.ts'

describe('originOf', () => {
  it('keeps ordinary names and never lets anything through that could mislead', () => {
    expect(originOf('claude-code')).toBe('claude-code')
    expect(originOf(`xoxb-204815163248-918273645546-${'Zq8'.repeat(8)}`)).toBe('mcp')
    expect(originOf('@scope/agent v2')).toBe('@scope/agent v2')
    expect(originOf(undefined)).toBe('mcp')
    expect(originOf('\u202e\n')).toBe('mcp')
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (name) => {
        const origin = originOf(name)

        expect(origin).toMatch(/^[\p{L}\p{N}._@/-](?:[\p{L}\p{N}._@/ -]*[\p{L}\p{N}._@/-])?$/u)
        expect(origin.length).toBeLessThanOrEqual(60)
      }),
    )
  })
})

describe('programIn', () => {
  it.each([
    ['claude-code/2.1.0 (cli)', 'claude-code'],
    ['Cursor/1.9', 'Cursor'],
    ['node', undefined],
    ['undici', undefined],
    ['', undefined],
    [null, undefined],
  ])('finds in %j the program %j', (header, program) => {
    expect(programIn(header)).toBe(program)
  })
})
