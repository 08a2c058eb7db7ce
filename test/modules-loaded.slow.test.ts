import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from './temporary-directory.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const sources = pathToFileURL(join(root, 'src')).href

/** Loaded before the program: lists every loaded module of src in the file named by MODULES. */
const hook = `
import { registerHooks } from 'node:module'
import { appendFileSync } from 'node:fs'
registerHooks({
  load(url, context, next) {
    if (url.startsWith(${JSON.stringify(sources)})) appendFileSync(process.env.MODULES, url + '\\n')
    return next(url, context)
  },
})`

const program = ['--import', `data:text/javascript,${encodeURIComponent(hook)}`, join(root, 'bin', 'credence.js')]

/** Runs a command from its sources on a separate memory, and returns the modules it loads. */
function modulesOf(dir: string, name: string, argv: readonly string[], semantic = 'on') {
  const list = join(dir, `${name}.txt`)
  const env = { PATH: process.env.PATH, HOME: dir, MODULES: list, CREDENCE_SEMANTIC: semantic }
  const memory = ['--dir', join(dir, 'memory')]
  const ended = spawnSync(process.execPath, [...program, ...argv, ...memory], { cwd: dir, env, encoding: 'utf8' })
  return { ...ended, modules: new Set(readFileSync(list, 'utf8').trimEnd().split('\n')) }
}

/** Max modules of each command. Every module costs a one-shot process more than 0.5 ms. */
const commands = [
  // The budgets include three modules for the fields and hints of an operation, five for the vectors of the store and
  // their setting, and one for the store's tables of sync. Six modules of `benchmark run` are for seals, capabilities
  // and lives. Fourteen modules of `remember` are the embedding model and the code that computes and stores vectors.
  { name: 'remember', max: 123, argv: ['remember', 'Invoices are due in 14 days.', '--name', 'payment terms'] },
  {
    name: 'remember by words',
    max: 109,
    argv: ['remember', 'Invoices are paid by card.', '--name', 'card'],
    semantic: 'off',
  },
  // Includes the fifteen modules for writing, because the store loads all its modules together.
  { name: 'recall by words', max: 87, argv: ['recall', 'What are our payment terms?'], semantic: 'off' },
  // Sixteen more than by words: the embedding model and the code that computes, stores and compares vectors.
  { name: 'recall', max: 103, argv: ['recall', 'What are our payment terms?'] },
  { name: 'benchmark run', max: 135, argv: ['benchmark', 'run', 'retrieval-precision'] },
  { name: 'task run', max: 200, argv: ['task', 'run', 'second-brain', '--agent', 'reference'] },
] as const

/** Whether this machine can run the graders of tasks. */
const canConfine = (): boolean =>
  spawnSync('python3', ['--version']).status === 0 &&
  spawnSync('unshare', ['--user', '--map-root-user', '--net', 'true']).status === 0

describe('modules of src that a command loads', () => {
  it.for(commands)('$name loads at most $max', ({ name, max, argv, ...setting }, context) => {
    if (name === 'task run' && !canConfine()) return context.skip('Python or Linux namespaces are missing.')
    using directory = temporaryDirectory()
    if (argv[0] === 'recall') modulesOf(directory.path, 'before', commands[0].argv)

    const { status, stderr, modules } = modulesOf(
      directory.path,
      'modules',
      argv,
      'semantic' in setting ? setting.semantic : 'on',
    )

    console.log(`${name} loads ${modules.size} modules; at most ${max} are allowed.`)
    expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' })
    expect(modules.size).toBeGreaterThan(10)
    expect(modules.size).toBeLessThanOrEqual(max)
  })

  it.each(['recall', 'search'])('%s loads no learning rule, although it quotes turns', (command) => {
    using directory = temporaryDirectory()
    modulesOf(directory.path, 'before', ['hear', 'We rented a kayak in Norway near Voss last summer.'])

    const argv = [command, 'Where did we rent that kayak in Norway?']
    const { stdout, modules } = modulesOf(directory.path, 'modules', argv)

    expect(stdout).toContain('Voss')
    // A search loads the module of all use cases, because it resolves names of beliefs.
    const naming = command === 'search' ? [`${sources}/memory/learn/name-of.ts`] : []
    expect([...modules].filter((url) => url.startsWith(`${sources}/memory/learn/`))).toEqual(naming)
  })

  it('a server that answers a recall loads neither evaluation nor tasks', async () => {
    using directory = temporaryDirectory()
    modulesOf(directory.path, 'before', commands[0].argv)
    const list = join(directory.path, 'served.txt')
    const dir = join(directory.path, 'memory')
    const env = { PATH: process.env.PATH, HOME: directory.path, MODULES: list }
    const argv = [...program, 'serve', '--port', '0', '--json', '--dir', dir]
    const server = spawn(process.execPath, argv, { cwd: directory.path, env, stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      let printed = ''
      for await (const chunk of server.stdout) {
        printed += String(chunk)
        if (printed.trimEnd().endsWith('}')) break
      }
      const token = readFileSync(join(dir, 'state', 'token'), 'utf8').trim()
      const response = await fetch(`${JSON.parse(printed).url}/api/v1/recall`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ message: 'What are our payment terms?' }),
      })

      expect(response.status).toBe(200)
      expect(await response.text()).toContain('14 days')
      expect(existsSync(list)).toBe(true)
      const loaded = readFileSync(list, 'utf8').trimEnd().split('\n')
      expect(loaded.filter((url) => /\/src\/(?:eval|tasks)\//u.test(url))).toEqual([])
    } finally {
      server.kill()
      await once(server, 'exit')
    }
  })
})
