import fc from 'fast-check'
import { parse } from 'smol-toml'
import { describe, expect, it } from 'vitest'
import { withoutTable, withTable } from './toml-edit.ts'

const path = ['mcp_servers', 'credence']
const table = { command: 'C:\\node "x"', args: ['a b', "c'd"] }

describe('a table in a TOML file', () => {
  it.each([
    ['nothing', ''],
    ['a file that ends in the middle of a line', 'a = 1'],
    ['other servers', '[mcp_servers.other]\ncommand = "x"\n'],
    ['comments and odd spacing', '# top\n\n  a   =  1 # here\n\n\n'],
    ['the line ends of Windows', 'a = 1\r\n[b]\r\nc = 2\r\n'],
  ])('is added to %s, and taken out again', (_case, before) => {
    const added = withTable(before, path, table, 'f')

    expect(parse(added)).toMatchObject({ ...parse(before), mcp_servers: { credence: table } })
    expect(added.startsWith(before)).toBe(true)
    expect(withTable(added, path, table, 'f')).toBe(added)
    expect(withoutTable(added).trimEnd()).toBe(before.trimEnd())
  })

  it('keeps every text it is given', () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string()), (command, args) => {
        fc.pre([command, ...args].every((text) => text.isWellFormed()))

        expect(parse(withTable(null, path, { command, args }, 'f'))).toEqual({
          mcp_servers: { credence: { command, args } },
        })
      }),
    )
  })

  it('is left alone where somebody else wrote it', () => {
    expect(() => withTable('[mcp_servers.credence]\ncommand = "mine"', path, table, 'f')).toThrow(/did not write/)
  })
})
