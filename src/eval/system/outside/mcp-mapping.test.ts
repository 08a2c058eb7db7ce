import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../../../../test/temporary-directory.ts'
import { parseMcpMapping, readMcpMapping } from './mcp-mapping.ts'

const least = {
  name: 'some-server',
  command: 'node',
  add: { tool: 'add', arguments: { id: '{{id}}', text: '{{text}}' } },
  search: { tool: 'search', arguments: { q: '{{query}}' }, results: { ids: '$.hits[*].id' } },
}

const reasonAgainst = (changes: object): string => {
  try {
    parseMcpMapping({ ...least, ...changes }, 'm.json')
  } catch (error) {
    return (error as Error).message
  }
  return ''
}

describe('a mapping', () => {
  it('requires a name, a command, and the tools that add and search', () => {
    expect(parseMcpMapping(least, 'm.json')).toMatchObject({
      name: 'some-server',
      version: 'unknown',
      args: [],
      env: {},
      add: [{ tool: 'add' }],
      search: { perWord: false },
    })
  })

  it('may need several calls for one operation', () => {
    const { update } = parseMcpMapping({ ...least, update: [{ tool: 'drop' }, least.add] }, 'm.json')

    expect(update?.map(({ tool }) => tool)).toEqual(['drop', 'add'])
  })

  it.each([
    [{ add: undefined }, /^m\.json: add: /u],
    [{ comand: 'x' }, /Unrecognized key: "comand"/u],
    [{ name: 'Some Server' }, /^m\.json: name: must be lower-case/u],
    [{ timeoutMs: 0 }, /^m\.json: timeoutMs: /u],
    [{ add: { tool: 'add', arguments: { text: '{{text}}' } } }, /add: \{\{id\}\} is missing/u],
    [{ search: { ...least.search, arguments: { q: 'tea' } } }, /search: \{\{query\}\} is missing/u],
  ])('is refused with %j', (changes, reason) => {
    expect(reasonAgainst(changes)).toMatch(reason)
  })

  it('reports an invalid path', () => {
    expect(reasonAgainst({ search: { ...least.search, results: { ids: 'hits.id' } } })).toMatch(/search\.results/u)
  })

  it('names an unreadable file and the reason', () => {
    using directory = temporaryDirectory()
    const file = join(directory.path, 'mapping.json')
    writeFileSync(file, '{"name": ')

    expect(() => readMcpMapping(file)).toThrow(`${file}: not JSON`)
    expect(() => readMcpMapping(join(directory.path, 'none.json'))).toThrow('There is no file')
  })
})
