import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { plainName, programIn } from './memory-mcp.ts'

describe('plainName', () => {
  it('keeps ordinary names, and removes everything that could mislead', () => {
    expect(plainName('claude-code')).toBe('claude-code')
    expect(plainName(`xoxb-204815163248-918273645546-${'Zq8'.repeat(8)}`)).toBe('unnamed')
    expect(plainName('@scope/agent v2')).toBe('@scope/agent v2')
    expect(plainName(undefined)).toBe('unnamed')
    expect(plainName('\u202e\n')).toBe('unnamed')
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (name) => {
        const origin = plainName(name)

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
