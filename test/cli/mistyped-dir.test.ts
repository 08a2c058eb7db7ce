import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { commandTable } from '../../src/cli/command-table.ts'
import { createSandbox } from './sandbox.ts'

const commands = await Promise.all(
  commandTable.map(async ({ load, ...entry }) => ({ ...entry, command: await load() })),
)

/** The commands that read or change a memory. The commands in the group Evaluate use the directory only for their results. */
const others = commands.filter(
  ({ group, command, createsMemory }) => group !== 'Evaluate' && 'dir' in command.options && createsMemory !== true,
)

/** Options that a command needs in addition to its arguments. */
const more: Readonly<Record<string, readonly string[]>> = {
  'people remove': ['--memory', 'keep'],
  'team remove': ['--memory', 'keep'],
}

it.each(others.map(({ name, command }) => [name, command] as const))(
  '%s refuses a directory without a memory, and creates nothing',
  async (name, command) => {
    using place = createSandbox()
    const args = Object.values(command.args).flatMap(({ count, choices }) =>
      count === 'optional' || count === 'rest' ? [] : [choices?.[0] ?? 'b-1'],
    )

    const { exitCode, stderr } = await place.run(...name.split(' '), ...args, ...(more[name] ?? []), '--dir', 'typo')

    expect(stderr).toContain(`There is no memory in ${join(place.work, 'typo')}.`)
    expect(exitCode).toBe(3)
    expect(existsSync(join(place.work, 'typo'))).toBe(false)
  },
)

it.each([
  ['forget', 'b-1'],
  ['forget', '--containing', 'kayak'],
  ['sync', '--status'],
])('%s %s refuses a directory that does not exist', async (...argv) => {
  using place = createSandbox()

  const { exitCode, stderr } = await place.run(...argv, '--dir', 'typo')

  expect({ exitCode, stderr }).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('There is no memory in') })
  expect(existsSync(join(place.work, 'typo'))).toBe(false)
})

it('an undo without a memory does not create one in the default directory either', async () => {
  using place = createSandbox()

  const { exitCode, stderr } = await place.run('undo')

  expect({ exitCode, stderr }).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('There is no memory in') })
  expect(existsSync(join(place.home, '.local'))).toBe(false)
})
