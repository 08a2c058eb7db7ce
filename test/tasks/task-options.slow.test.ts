import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createSandbox } from '../cli/sandbox.ts'
import { boatTask, writeTask } from './boat-task.ts'
import { program } from './program.ts'

const path = process.env.PATH ?? ''

describe.skipIf(process.platform === 'win32')('--pass-env', () => {
  /** A task, and an agent that reports which of two variables are set. */
  function harbor() {
    const place = createSandbox()
    writeTask(place.work, 'task_boat', boatTask)
    program(place.work, 'agent', `console.log('key', process.env.AGENT_KEY, 'other', process.env.OTHER_KEY)`)
    const env = { PATH: path, AGENT_KEY: 'k-4711', OTHER_KEY: 'o-0815' }
    return { ...place, env, [Symbol.dispose]: () => place[Symbol.dispose]() }
  }

  it('gives a program the named variables, and no others', async () => {
    using place = harbor()

    const { stdout } = await place.runWith(
      { env: place.env },
      'task',
      'run',
      'task_boat.md',
      '--agent',
      'command:./agent',
      '--pass-env',
      'AGENT_KEY',
      '--json',
    )

    const { tasks, store, runId } = JSON.parse(stdout)
    expect(tasks[0].sessions[0].answer).toBe('key k-4711 other undefined')
    const environment = readFileSync(join(store, 'runs', runId, 'environment.json'), 'utf8')
    expect(environment).toContain('"AGENT_KEY"')
    expect(environment).not.toContain('k-4711')
  })

  it.each([
    ['AGENT_KEY=k-4711', 2, '--pass-env: "AGENT_KEY=…" has a value.'],
    ['a b', 2, '--pass-env: "a b" is not the name of a variable.'],
    ['NOT_SET', 3, 'Not set in the environment: NOT_SET.'],
  ])('refuses %s', async (given, exitCode, message) => {
    using place = harbor()

    const ending = await place.runWith(
      { env: place.env },
      'task',
      'run',
      'task_boat.md',
      '--agent',
      'command:./agent',
      '--pass-env',
      given,
    )

    expect(ending).toMatchObject({ exitCode, stdout: '' })
    expect(ending.stderr).toContain(`error: ${message}\nhint: `)
    expect(ending.stderr).not.toContain('k-4711')
  })
})

describe('--resume', () => {
  it.each([
    ['--agent', 'reference'],
    ['--repeats', '3'],
    ['--judge', 'openai:gpt-5'],
    ['--timeout-multiplier', '2'],
    ['--pass-env', 'PATH'],
  ])('continues with the options of the run, so %s is refused', async (...given) => {
    using place = createSandbox()

    const { exitCode, stderr } = await place.run('task', 'run', '--resume', 'some-run', ...given)

    expect(exitCode).toBe(2)
    expect(stderr).toContain(`${given[0]} cannot be given with --resume`)
  })
})

describe('a task file', () => {
  it('with a misspelt key gets a warning, and the key is preserved', async () => {
    using place = createSandbox()
    writeFileSync(
      join(place.work, 'typo.md'),
      boatTask.replace('timeout_seconds:', 'timout_seconds:').replace('---\n', '---\nscene: harbor\n'),
    )

    const { exitCode, stdout } = await place.run('task', 'validate', 'typo.md')

    expect(exitCode).toBe(0)
    expect(stdout).toContain('warning: timout_seconds is no key of a task; did you mean timeout_seconds?')
    expect(stdout).not.toContain('scene')
  })

  it('that is not YAML is reported with its own line numbers', async () => {
    using place = createSandbox()
    writeFileSync(join(place.work, 'twice.md'), '---\nid: one\nname: x\nid: two\n---\n\n## Prompt\n\nHello.\n')

    const { exitCode, stdout } = await place.run('task', 'validate', 'twice.md')

    expect(exitCode).toBe(3)
    expect(stdout).toContain('problem: (front matter) is not YAML: Map keys must be unique (line 4).\n')
  })
})
