import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { readRequest, sortTexts } from '../../src/cli/command/arguments.ts'
import { commandTable } from '../../src/cli/command-table.ts'
import { createSandbox } from './sandbox.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

describe('the documentation of the command line', () => {
  it('matches the declarations of the commands', () => {
    const { status, stderr } = spawnSync(process.execPath, ['scripts/docs.ts', '--check'], {
      cwd: root,
      encoding: 'utf8',
    })

    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })

  it('lists every command once', () => {
    const names = commandTable.map(({ name }) => name)

    expect(new Set(names).size).toBe(names.length)
  })

  it.each(commandTable)(
    '$name has help in 80 columns, for its arguments, options, examples and exit codes',
    async (entry) => {
      using place = createSandbox()
      const command = await entry.load()

      const { exitCode, stdout } = await place.run(...entry.name.split(' '), '--help')

      expect(exitCode).toBe(0)
      expect(stdout).toContain(`Usage: credence ${entry.name}`)
      expect(stdout).toContain('Exit codes: 0 fine;')
      for (const argument of Object.keys(command.args)) expect(stdout).toContain(argument)
      const prose = stdout.split('\n').filter((line) => !line.trimStart().startsWith('$ '))
      expect(prose.filter((line) => [...line].length > 80)).toEqual([])
    },
  )

  it.each(commandTable)('$name has examples that the parser accepts', async (entry) => {
    const command = await entry.load()

    const examples = Object.keys(command.examples)
    for (const example of examples) {
      // The command itself, without the rest of the pipeline.
      const [, words = ''] = /(?:^|\| )credence ((?:"[^"]*"|[^|<>"])*)(?:$|[|<>])/.exec(example) ?? []
      const argv = [...words.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '')
      const request = readRequest(argv, commandTable)

      const candidate = request.kind === 'command' ? request : null
      expect(candidate, example).not.toBeNull()
      if (candidate !== null) sortTexts(candidate.argv, await candidate.entry.load())
    }
    expect(examples.length).toBeGreaterThan(0)
    expect(examples.some((example) => example.includes(`credence ${entry.name}`))).toBe(true)
  })
})
