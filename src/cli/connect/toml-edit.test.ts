import fc from 'fast-check'
import { parse, stringify } from 'smol-toml'
import { describe, expect, it } from 'vitest'
import { withoutTable, withTable } from './toml-edit.ts'

const path = ['mcp_servers', 'credence']
const table = { command: 'C:\\node "x"', args: ['a b', "c'd"] }
const isOurs = (value: unknown): boolean => JSON.stringify(value).includes('node')
const entry = { path, table, isOurs }

describe('a table in a TOML file', () => {
  it.each([
    ['an empty file', ''],
    ['other servers', '[mcp_servers.other]\ncommand = "x"\n'],
    ['comments and odd spacing', '# top\n\n  a   =  1 # here\n\n\n'],
    ['Windows line endings', 'a = 1\r\n[b]\r\nc = 2\r\n'],
    ['integers that do not fit a double', 'a = 9007199254740993\nb = 1.0\n'],
    ['strings with headers in them', 'a = """\n[mcp_servers.credence]\n"""\nb = [\n  "[x]", # [y]\n]\n'],
  ])('is added to %s, and removing it restores every byte', (_case, before) => {
    const added = withTable(before, entry, 'f')

    const whole = { integersAsBigInt: true }
    expect(parse(added, whole)).toMatchObject({ ...parse(before, whole), mcp_servers: { credence: table } })
    expect(added.startsWith(before)).toBe(true)
    expect(withTable(added, entry, 'f')).toBe(added)
    expect(withoutTable(added, entry, 'f')).toBe(before)
  })

  it('is added after a last line without a newline', () => {
    expect(withoutTable(withTable('a = 1', entry, 'f'), entry, 'f').trimEnd()).toBe('a = 1')
  })

  it.each([
    ['tables after it', (text: string) => `${text}\n[features]\nmemories = true\n`],
    ['tables before it', (text: string) => `model = "y"\n\n[features]\nmemories = true\n\n${text}`],
    [
      'settings in it',
      (text: string) => `${text}enabled = true\n\n[mcp_servers.credence.env]\nA = "1"\n\n[b]\nc = 1\n`,
    ],
    ['a quoted header', (text: string) => text.replace('[mcp_servers.credence]', '[ mcp_servers . "credence" ]')],
    ['a comment for the next table', (text: string) => `${text}\n# about b\n[b]\nc = 1\n`],
    ['the whole file with a serializer', (text: string) => stringify({ ...parse(text), z: { y: 1 } })],
  ])('is removed without other changes after the host has written %s', (_case, rewrite) => {
    const before = 'a = 1\n\n[mcp_servers.other]\ncommand = "x"\n'
    const rewritten = rewrite(withTable(before, entry, 'f'))

    const removed = withoutTable(rewritten, entry, 'f')

    const { mcp_servers: servers, ...others } = parse(rewritten)
    expect(parse(removed)).toEqual({ ...others, mcp_servers: { other: (servers as { other: object }).other } })
    for (const line of removed.split('\n')) expect(rewritten.split('\n')).toContain(line)
    expect(removed).not.toContain('credence')
  })

  it('preserves every string value, and every other table', () => {
    const text = fc.string().filter((one) => one.isWellFormed())
    const others = fc.dictionary(fc.stringMatching(/^[a-z .#"[\]]{1,6}$/), fc.dictionary(text, text), { maxKeys: 3 })
    fc.assert(
      fc.property(text, fc.array(text), others, (command, args, kept) => {
        const one = { path, table: { command, args }, isOurs: () => true }
        const before = stringify(kept)

        const added = withTable(before, one, 'f')

        expect(parse(added)).toEqual({ ...parse(before), mcp_servers: { credence: { command, args } } })
        expect(parse(withoutTable(added, one, 'f'))).toEqual(parse(before))
      }),
    )
  })

  it('is not changed if someone else wrote it, or if its form cannot be edited safely', () => {
    const theirs = '[mcp_servers.credence]\ncommand = "mine"'

    expect(() => withTable(theirs, entry, 'f')).toThrow(/did not write/)
    expect(withoutTable(theirs, entry, 'f')).toBe(theirs)
    expect(() => withTable('mcp_servers = { a = {} }', entry, 'f')).toThrow(/mcp_servers is an inline table/)
    expect(() => withTable('mcp_servers = 1', entry, 'f')).toThrow(/or no table/)
    expect(() => withTable('[[mcp_servers]]\na = 1', entry, 'f')).toThrow(/or no table/)
    expect(() => withoutTable('mcp_servers = { credence = { command = "node" } }', entry, 'f')).toThrow(/by hand|form/)
  })
})
