import fc from 'fast-check'
import { parse, visit } from 'jsonc-parser'
import { describe, expect, it } from 'vitest'
import { MemoryError } from '../../errors.ts'
import { type JsonEntry, withEntries, withoutEntries } from './json-edit.ts'

const isOurs = (value: unknown): boolean => JSON.stringify(value)?.includes('"ours"') ?? false
const entries: readonly JsonEntry[] = [
  { kind: 'value', path: ['servers', 'ours'], value: { command: 'ours' } },
  { kind: 'element', path: ['hooks', 'stop'], value: { command: 'ours' }, isOurs },
]
const file = { file: 'f', dialect: 'jsonc' } as const

function commentsIn(text: string): readonly string[] {
  const comments: string[] = []
  visit(text, { onComment: (offset, length) => comments.push(text.slice(offset, offset + length)) })
  return comments
}

describe('entries in a JSON file', () => {
  it('are added without changing comments, and can be removed again', () => {
    const before =
      '{\n  // why\n  "a": 1, /* here */\n  "hooks": {\n    "stop": [\n      { "command": "mine" } // first\n    ]\n  }\n}\n'

    const added = withEntries(before, entries, file)
    const removed = withoutEntries(added, entries, { ...file, before })

    expect(added).toContain('// why')
    expect(parse(added)).toEqual({
      a: 1,
      hooks: { stop: [{ command: 'mine' }, { command: 'ours' }] },
      servers: { ours: { command: 'ours' } },
    })
    expect(removed).toContain('// why')
    expect(commentsIn(removed)).toEqual(commentsIn(before))
    expect(parse(removed)).toEqual(parse(before))
  })

  it.each([
    ['neighbours on one line', '{\n  "a": { "b": 1, "c": [1, 2] },\n  "hooks": { "stop": [{ "command": "x" }] }\n}\n'],
    ['all on one line', '{"a": 1, "servers": {"x": {}}}'],
    ['an empty object', '{}\n'],
    ['empty containers', '{\n\t"servers": {},\n\t"hooks": {\n\t\t"stop": []\n\t}\n}'],
    ['trailing commas', '{\n  "servers": {\n    "x": {},\n  },\n  "hooks": { "stop": [{ "command": "x" },], },\n}\n'],
    ['a comment at the end', '{ "a": 1 // last\n}\n'],
    ['Windows line endings', '{\r\n    "a": 1\r\n}\r\n'],
  ])('change no value and no comment around them: %s', (_case, before) => {
    const added = withEntries(before, entries, file)
    const removed = withoutEntries(added, entries, { ...file, before })

    expect(parse(added)).toMatchObject({ servers: { ours: { command: 'ours' } } })
    expect(parse(removed)).toEqual(parse(before))
    for (const text of [added, removed]) {
      expect(commentsIn(text)).toEqual(commentsIn(before))
      expect(text.includes('\r')).toBe(before.includes('\r'))
    }
  })

  it('are not added to JSON5 with bare keys or single quotes', () => {
    expect(() => withEntries("{ agents: ['a'] }", entries, file)).toThrow(/not JSON \(.* in line 1\)/)
  })

  it('are not added where the program does not read them', () => {
    const strict = { file: 'f', dialect: 'json' } as const

    expect(() => withEntries('{\n  // mine\n  "a": 1\n}', entries, strict)).toThrow(/comments or trailing commas/)
    expect(() => withEntries('{"a": 1,}', entries, strict)).toThrow(/comments or trailing commas/)
    expect(() => withEntries('{"a": ', entries, strict)).toThrow(/cannot be edited/)
  })

  it('leave every other value unchanged', () => {
    const key = fc.constantFrom('servers', 'hooks', 'a', 'b', 'stop', 'ours')
    const inner = fc.dictionary(
      fc.constantFrom('stop', 'x'),
      fc.array(fc.record({ command: fc.constantFrom('p', 'q') })),
    )
    const content = fc.oneof(
      fc.record({ servers: fc.dictionary(fc.constantFrom('x', 'y'), fc.jsonValue()), hooks: inner }),
      fc.dictionary(
        key.filter((name) => name !== 'servers' && name !== 'hooks'),
        fc.jsonValue(),
      ),
    )
    fc.assert(
      fc.property(content, fc.constantFrom(undefined, 2, '\t'), (value, indent) => {
        const before = JSON.stringify(value, null, indent)

        const added = withEntries(before, entries, file)
        const again = withEntries(added, entries, file)
        const removed = withoutEntries(added, entries, { ...file, before })

        expect(again).toBe(added)
        expect(JSON.parse(added).servers.ours).toEqual({ command: 'ours' })
        expect(JSON.parse(removed)).toEqual(value)
      }),
    )
  })

  it('restore the values that they replaced when they are removed', () => {
    const before = '{"slot": {"memory": "theirs"}}'
    const taking: JsonEntry = {
      kind: 'value',
      path: ['slot', 'memory'],
      value: 'ours',
      isOurs: (one) => one === 'ours',
    }

    const added = withEntries(before, [taking], file)

    expect(parse(withoutEntries(added, [taking], { ...file, before }))).toEqual(parse(before))
    expect(parse(withoutEntries(added, [taking], { ...file, before: null }))).toEqual({})
    expect(withoutEntries(before, [taking], { ...file, before: null })).toBe(before)
  })

  it('are not added to a file that may not be JSON', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          expect(parse(withEntries(text, entries, file))).toMatchObject({ servers: { ours: { command: 'ours' } } })
        } catch (error) {
          expect(error).toBeInstanceOf(MemoryError)
        }
      }),
    )
  })
})
