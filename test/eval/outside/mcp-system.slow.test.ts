import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { parseMcpMapping } from '../../../src/eval/system/outside/mcp-mapping.ts'
import { mcpSystem } from '../../../src/eval/system/outside/mcp-system.ts'
import type { System } from '../../../src/eval/system/system.ts'
import { temporaryDirectory } from '../../temporary-directory.ts'
import { belief, question } from './sample-records.ts'

const script = fileURLToPath(new URL('scripted-mcp-server.ts', import.meta.url))
const remember = { tool: 'remember', arguments: { id: '{{id}}', text: '{{text}}' } }

/** The scripted server with this behaviour, and a mapping that fits it by default. */
function scripted(behaviour: string, changes: object = {}): AsyncDisposable & { readonly system: System } {
  const value = {
    name: 'scripted',
    command: process.execPath,
    args: [script, behaviour, '{{stateDir}}'],
    timeoutMs: 20_000,
    add: remember,
    update: [{ tool: 'forget', arguments: { id: '{{id}}' } }, remember],
    search: {
      tool: 'find',
      arguments: { query: '{{query}}' },
      results: { ids: '$.hits[*].id', scores: '$.hits[*].score' },
    },
    ...changes,
  }
  const system = mcpSystem({ mapping: parseMcpMapping(value, 'mapping') })
  return { system, [Symbol.asyncDispose]: () => system.close() }
}

const findingIds = (results: object = { ids: '$.hits[*].id' }, more: object = {}) => ({
  search: { tool: 'find', arguments: { query: '{{query}}' }, results, ...more },
})

// A separate directory for temporary files, so that leftovers in it come from the tested code.
const place = temporaryDirectory()
process.env.TMPDIR = place.path
afterAll(() => place[Symbol.dispose]())
const stateDirs = (): readonly string[] => readdirSync(place.path)

const tea = belief('m-1', { name: 'tea_time', aliases: ['brew'], content: 'Tea at four.' })
const coffee = belief('m-2', { name: 'espresso', content: 'No tea after nine.' })

describe('a memory with MCP', () => {
  it('receives beliefs and queries through its own tools', async () => {
    await using server = scripted('works')
    const { system } = server

    await system.reset()
    const notices = await system.ingest([tea, coffee])
    const { relevant } = await system.recall(question('tea'))

    expect(notices).toEqual(['scripted is scripted 1.2.3, MCP 2025-06-18.'])
    expect(relevant).toEqual([
      { id: 'm-1', score: 1 },
      { id: 'm-2', score: 0.9 },
    ])
  })

  it('starts empty after every reset, and leaves no files', async () => {
    {
      await using server = scripted('works')
      const { system } = server
      await system.reset()
      await system.ingest([tea])

      await system.reset()

      expect((await system.recall(question('tea'))).relevant).toEqual([])
      expect(stateDirs().length).toBe(1)
    }
    expect(stateDirs()).toEqual([])
  })

  it('may need several calls for a change', async () => {
    await using server = scripted('works')
    const { system } = server
    await system.reset()
    await system.ingest([tea, coffee])

    const changed = { ...tea, aliases: [...tea.aliases, 'cuppa'], content: 'At five.' }
    await system.update({ kind: 'replace', belief: changed })
    await system.update({ kind: 'create', belief: belief('m-3', { content: 'Cuppa soup.' }) })

    const found = async (text: string) => (await system.recall(question(text))).relevant.map(({ id }) => id)
    expect(await found('cuppa')).toEqual(['m-1', 'm-3'])
    expect(await found('at four')).toEqual([])
    expect(await found('brew')).toEqual(['m-1'])
  })

  it('may need a call to be emptied', async () => {
    await using server = scripted('works', { reset: { tool: 'wipe' } })

    await server.system.reset()

    expect((await server.system.recall(question('tea'))).relevant).toEqual([])
  })

  it('may answer in prose that contains the ids', async () => {
    await using server = scripted('answers in prose', findingIds({ idsInText: true }))
    const { system } = server
    await system.reset()
    await system.ingest([coffee, tea, belief('m-10', { content: 'tea leaves' })])

    const { relevant } = await system.recall(question('tea'))

    expect(relevant.map(({ id }) => id)).toEqual(['m-2', 'm-1', 'm-10'])
  })

  it('may be queried word by word, with the beliefs that most words find first', async () => {
    await using server = scripted('works', findingIds({ ids: '$.hits[*].id' }, { perWord: true }))
    const { system } = server
    await system.reset()
    await system.ingest([tea, coffee])

    const { relevant } = await system.recall(question('Espresso or TEA, tea?'))

    expect(relevant).toEqual([
      { id: 'm-2', score: 2 },
      { id: 'm-1', score: 1 },
    ])
  })

  it('returns a belief once, however often it is in the answer', async () => {
    await using server = scripted('finds twice', findingIds())
    await server.system.ingest([tea])

    expect((await server.system.recall(question('tea'))).relevant).toEqual([{ id: 'm-1', score: null }])
  })

  it('is wrong if it returns an unknown id', async () => {
    await using server = scripted('finds a stranger', findingIds())
    await server.system.ingest([tea])

    expect((await server.system.recall(question('tea'))).relevant).toEqual([{ id: 'somebody', score: null }])
  })

  it('may print other text on standard output as long as it answers', async () => {
    await using server = scripted('talks beside the protocol')
    await server.system.ingest([tea])

    expect((await server.system.recall(question('tea'))).relevant).toHaveLength(1)
  })

  it('sees only the environment variables that a program needs and those of the mapping', async () => {
    process.env.CREDENCE_TEST_SECRET = 'hidden'
    await using server = scripted('finds its environment', { ...findingIds(), env: { PLACE: '{{stateDir}}' } })

    const { relevant } = await server.system.recall(question('anything'))

    const seen = relevant.map(({ id }) => id)
    expect(seen).toContainEqual(expect.stringMatching(/^PATH=/u))
    expect(seen).toContainEqual(expect.stringMatching(/^PLACE=.*credence-mcp-/u))
    expect(seen.filter((variable) => variable.startsWith('CREDENCE'))).toEqual([])
  })

  it('may support the newest protocol only', async () => {
    await using server = scripted('is of 2026')

    const notices = await server.system.ingest([tea])

    expect(notices).toEqual(['scripted is scripted 1.2.3, MCP 2026-07-28.'])
    expect((await server.system.recall(question('tea'))).relevant).toEqual([{ id: 'm-1', score: 1 }])
  })
})

describe('a failing memory with MCP', () => {
  it.each([
    ['exits at once', {}, /^scripted: the server .*It said: no licence$/su],
    ['says nothing', { timeoutMs: 300 }, /^scripted: the server did not answer within 300 ms/u],
    ['prints garbage', { timeoutMs: 300 }, /^scripted: the server did not answer within 300 ms/u],
  ])('is unavailable if it %s', async (behaviour, changes, reason) => {
    await using server = scripted(behaviour, changes)

    await expect(server.system.reset()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(reason),
      hint: expect.stringContaining('standard output'),
    })
    expect(stateDirs()).toEqual([])
  })

  it('is unavailable if the program does not exist', async () => {
    await using server = scripted('works', { command: '/no/such/program' })

    await expect(server.system.reset()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('ENOENT'),
    })
  })

  it.each([
    ['reports a failure', {}, 'scripted: the tool find failed: the index is broken'],
    ['answers in prose', {}, 'scripted: the tool find answered with something other than JSON: - tea time'],
    ['answers with numbers', {}, 'scripted: the ids in the result of find are not texts: 7'],
    ['answers with too few scores', {}, 'scripted: the result of find has 2 ids and 1 scores.'],
  ])('is unavailable for a question if it %s', async (behaviour, changes, reason) => {
    await using server = scripted(behaviour, changes)
    await server.system.ingest([tea])

    await expect(server.system.recall(question('tea'))).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining(reason),
    })
  })

  it('is unavailable if a call takes too long', async () => {
    await using server = scripted('never answers a call', { timeoutMs: 2_000 })

    await expect(server.system.ingest([tea])).rejects.toMatchObject({
      code: 'unavailable',
      message: 'scripted: the tool remember did not answer within 2000 ms.',
    })
  })

  it('stays unavailable after it has ended, until the next reset', async () => {
    await using server = scripted('exits when asked')
    const { system } = server
    await system.ingest([tea])

    for (const _time of ['first', 'second'])
      await expect(system.recall(question('tea'))).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringMatching(/^scripted: the tool find has ended\. It said: the disk is gone$/u),
      })
    await system.reset()
    await system.ingest([tea])
  })

  it('cannot be changed if its mapping has no tool for it', async () => {
    await using server = scripted('works', { update: undefined })
    await server.system.ingest([tea])

    await expect(server.system.update({ kind: 'replace', belief: tea })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('no tool to update'),
    })
  })

  it('is refused if it does not have the tools of its mapping', async () => {
    await using server = scripted('works', { add: { ...remember, tool: 'memorise' } })

    await expect(server.system.reset()).rejects.toMatchObject({
      code: 'invalid',
      message: 'scripted: the server has no tool "memorise".',
      hint: 'It has find, forget, remember, wipe.',
    })
  })
})
