import fc from 'fast-check'
import { parse } from 'jsonc-parser'
import { describe, expect, it } from 'vitest'
import { MemoryError } from '../../errors.ts'
import { type JsonEntry, withEntries, withoutEntries } from './json-edit.ts'

const isOurs = (value: unknown): boolean => JSON.stringify(value)?.includes('"ours"') ?? false
const entries: readonly JsonEntry[] = [
  { kind: 'value', path: ['servers', 'ours'], value: { command: 'ours' } },
  { kind: 'element', path: ['hooks', 'stop'], value: { command: 'ours' }, isOurs },
]

describe('entries in a JSON file', () => {
  it('go in without touching comments, and come out again', () => {
    const before =
      '{\n  // why\n  "a": 1, /* here */\n  "hooks": {\n    "stop": [\n      { "command": "mine" } // first\n    ]\n  }\n}\n'

    const added = withEntries(before, entries, 'f')
    const removed = withoutEntries(added, entries, { file: 'f', before })

    expect(added).toContain('// why')
    expect(added).toContain('// first')
    expect(parse(added)).toEqual({
      a: 1,
      hooks: { stop: [{ command: 'mine' }, { command: 'ours' }] },
      servers: { ours: { command: 'ours' } },
    })
    expect(parse(removed)).toEqual(parse(before))
    expect(removed).toContain('// first')
  })

  it('leave the value as it was, whatever else is in the file', () => {
    const key = fc.constantFrom('servers', 'hooks', 'a', 'b', 'stop', 'ours')
    const inner = fc.dictionary(
      fc.constantFrom('stop', 'x'),
      fc.array(fc.record({ command: fc.constantFrom('p', 'q') })),
    )
    const file = fc.oneof(
      fc.record({ servers: fc.dictionary(fc.constantFrom('x', 'y'), fc.jsonValue()), hooks: inner }),
      fc.dictionary(
        key.filter((name) => name !== 'servers' && name !== 'hooks'),
        fc.jsonValue(),
      ),
    )
    fc.assert(
      fc.property(file, fc.constantFrom(undefined, 2, '\t'), (value, indent) => {
        const before = JSON.stringify(value, null, indent)

        const added = withEntries(before, entries, 'f')
        const again = withEntries(added, entries, 'f')
        const removed = withoutEntries(added, entries, { file: 'f', before })

        expect(again).toBe(added)
        expect(parse(added).servers.ours).toEqual({ command: 'ours' })
        expect(JSON.parse(removed)).toEqual(JSON.parse(before))
      }),
    )
  })

  it('put back what they took the place of', () => {
    const before = '{"slot": {"memory": "theirs"}}'
    const taking: JsonEntry = {
      kind: 'value',
      path: ['slot', 'memory'],
      value: 'ours',
      isOurs: (one) => one === 'ours',
    }

    const added = withEntries(before, [taking], 'f')

    expect(parse(withoutEntries(added, [taking], { file: 'f', before }))).toEqual(JSON.parse(before))
    expect(parse(withoutEntries(added, [taking], { file: 'f', before: null }))).toEqual({})
    expect(withoutEntries(before, [taking], { file: 'f', before: null })).toBe(before)
  })

  it('are not put into what is not sure to be JSON', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          expect(parse(withEntries(text, entries, 'f')).servers.ours).toEqual({ command: 'ours' })
        } catch (error) {
          expect(error).toBeInstanceOf(MemoryError)
        }
      }),
    )
  })
})
