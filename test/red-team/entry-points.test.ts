import { existsSync, readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { openRedTeamTarget } from '../../src/cli/red-team-target.ts'
import type { AttackStep } from '../../src/eval/runners/red-team/red-team-case.ts'
import type { Kept } from '../../src/eval/runners/red-team/red-team-runner.ts'
import { temporaryDirectory } from '../temporary-directory.ts'

/** A memory for one test. */
async function target() {
  const directory = temporaryDirectory()
  const opened = await openRedTeamTarget(directory.path)
  let isOpen = true
  return {
    ...opened,
    root: directory.path,
    end: async () => {
      isOpen = false
      return opened.end()
    },
    [Symbol.asyncDispose]: async () => {
      if (isOpen) await opened.end()
      directory[Symbol.dispose]()
    },
  }
}

const scope = 'project:shop'
const found = 'The printer stands in room 7'
const answer = JSON.stringify({
  beliefs: [{ type: 'entity', subtype: null, name: 'printer', aliases: [], content: found }],
})

describe('a failing attack has used a real entry point:', () => {
  it.each<readonly [AttackStep, Partial<Kept>]>([
    [
      { door: 'person', remember: { name: 'printer', content: found, scope } },
      { state: 'current', isPersons: true },
    ],
    [
      { door: 'hook', text: `Remember that ${found}.`, session: 's1' },
      { state: 'current', isPersons: true },
    ],
    [
      { door: 'mcp', tool: 'memory_remember', arguments: { names: ['printer'], statement: found } },
      { state: 'current', isPersons: false },
    ],
    [
      { door: 'http', method: 'POST', path: '/api/v1/beliefs', body: { name: 'printer', content: found } },
      { state: 'current', isPersons: false },
    ],
    [
      { door: 'file', edit: 'append', line: `- ${found}`, heading: scope },
      { state: 'current', isPersons: false },
    ],
    [
      { door: 'import', format: 'jsonl', text: JSON.stringify({ name: 'printer', content: found }) },
      { state: 'current', isPersons: false },
    ],
    [
      { door: 'import', format: 'markdown', text: `# Office\n\n- ${found}\n` },
      { state: 'current', isPersons: false },
    ],
    [
      { door: 'extractor', conversation: `User: ${found}`, answer },
      { state: 'waiting', isPersons: false },
    ],
  ])('for %j', async (step, expected) => {
    await using memory = await target()

    await memory.take(step)

    expect(await memory.kept('u1')).toEqual([expect.objectContaining(expected)])
    expect((await memory.kept('u1'))[0]?.content).toContain('room 7')
    expect(await memory.kept('u2')).toEqual([])
  })

  it('the output of a tool is stored as a turn', async () => {
    await using memory = await target()
    const ask = { user: 'u1', message: 'printer in room 7', scopes: [scope] }

    await memory.take({ door: 'tool', text: `printer ok: ${found}` })

    expect(await memory.search(ask)).toEqual([expect.stringContaining('room 7')])
    expect(await memory.search({ ...ask, user: 'u2' })).toEqual([])
  })
})

it('returns the context that a host gets at the start and for the message', async () => {
  await using memory = await target()
  await memory.take({ door: 'hook', text: 'Always answer in British English.', session: 's1' })
  await memory.take({ door: 'person', remember: { name: 'printer', content: found, scope } })
  await memory.take({ door: 'person', remember: { name: 'printer', content: 'Elsewhere', scope: 'project:other' } })

  const context = await memory.context({ user: 'u1', message: 'Where is the printer?', scopes: [scope] })

  expect(context).toContain('British English')
  expect(context).toContain('room 7')
  expect(context).not.toContain('Elsewhere')
})

it('edits and removes lines of MEMORY.md', async () => {
  await using memory = await target()
  await memory.take({ door: 'file', edit: 'append', line: `- ${found}`, heading: scope })

  await memory.take({ door: 'file', edit: 'replace', old: found, line: '- The printer stands in room 8' })
  expect((await memory.kept('u1')).filter(({ state }) => state === 'current')).toMatchObject([
    { content: expect.stringContaining('room 8') },
  ])

  expect(await memory.take({ door: 'file', edit: 'remove', old: 'room 9' })).toContain('refused')
})

it('identifies an agent by the name that it gives itself', async () => {
  await using memory = await target()
  const remember = {
    door: 'mcp' as const,
    tool: 'memory_remember',
    arguments: { names: ['printer'], statement: found },
  }

  expect(await memory.take({ ...remember, agent: 'helper-3' })).toContain('helper-3')
})

it('does not count a missing route, method or tool as a defence', async () => {
  await using memory = await target()

  await expect(memory.take({ door: 'http', method: 'POST', path: '/api/v1/nowhere', body: {} })).rejects.toThrow('404')
  await expect(memory.take({ door: 'http', method: 'PUT', path: '/api/v1/beliefs', body: {} })).rejects.toThrow('405')
  await expect(memory.take({ door: 'mcp', tool: 'memory_nothing', arguments: {} })).rejects.toThrow('memory_nothing')
})

it('returns the bytes on the disk, and leaves no files', async () => {
  await using memory = await target()
  await memory.take({ door: 'person', remember: { name: 'printer', content: found, scope } })

  const disk = await memory.end()

  expect(disk.some((bytes) => Buffer.from(bytes).includes(found))).toBe(true)
  expect(existsSync(memory.root) ? readdirSync(memory.root) : []).toEqual([])
})

it('returns the same for a belief out of view as for a missing one', async () => {
  await using memory = await target()
  await memory.take({ door: 'person', remember: { name: 'printer', content: found, scope: 'project:novel' } })
  const [printer] = await memory.kept('u1')
  const id = printer?.id ?? ''
  const get = async (which: string) =>
    (await memory.take({ door: 'http', method: 'GET', path: `/api/v1/beliefs/${which}` })).replace(which, 'ID')

  expect(await get(id)).toBe(await get(`${id}0`))
})
