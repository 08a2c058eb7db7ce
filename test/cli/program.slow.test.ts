import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { createSandbox, endOf } from './sandbox.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const onPosix = it.skipIf(process.platform === 'win32')

describe('the program', () => {
  it('remembers in one process and recalls in the next, without colour codes in a pipe', async () => {
    using place = createSandbox()

    const remembered = await endOf(place.start(['remember', 'Cached on port 6380.', '--name', 'Redis']))
    const recalled = await endOf(place.start(['recall', 'Is redis up?', '--explain']))

    expect(remembered.exitCode).toBe(0)
    expect(recalled).toMatchObject({ exitCode: 0, stderr: '' })
    expect(recalled.stdout).toContain('Cached on port 6380.')
    expect(remembered.stdout + recalled.stdout).not.toContain('\u001b')
  })

  it('prints colours when forced', async () => {
    using place = createSandbox()

    const { stdout } = await endOf(place.start(['remember', 'x', '--name', 'x'], { env: { FORCE_COLOR: '1' } }))

    expect(stdout.startsWith('\u001b[32mRemembered\u001b[39m')).toBe(true)
  })

  it('reads a message from a pipe', async () => {
    using place = createSandbox()
    await place.run('remember', 'Cached on port 6380.', '--name', 'Redis')
    const child = place.start(['recall', '-', '--json'])

    child.stdin.end('Is redis up?')
    const { exitCode, stdout } = await endOf(child)

    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout).relevant).toHaveLength(1)
  })

  it('prints its version and its help', async () => {
    using place = createSandbox()

    expect(await endOf(place.start(['--version']))).toMatchObject({ exitCode: 0, stdout: `${manifest.version}\n` })
    expect((await endOf(place.start(['remember', '--help']))).stdout).toMatch(
      /^Usage: credence remember <statement…\|->/,
    )
  })

  it('suggests the option with the nearest name', async () => {
    using place = createSandbox()

    expect(await endOf(place.start(['recall', 'x', '--jsno']))).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: 'error: There is no option --jsno.\nhint: Did you mean --json?\n',
    })
  })

  onPosix('ends quietly when its reader has seen enough', async () => {
    using place = createSandbox()
    // Far more than a pipe buffers, so that the program is still writing when the reader closes it.
    const lines = Array.from({ length: 3_000 }, (_, n) =>
      JSON.stringify({ name: `belief ${n}`, content: 'A long statement. '.repeat(20), scopes: ['project:a'] }),
    )
    await place.runWith({ stdin: lines.join('\n') }, 'import', '-')
    const child = place.start(['export'])

    const first = await once(child.stdout, 'data')
    child.stdout.destroy()
    const { exitCode, signal, stderr } = await endOf(child)

    expect(String(first[0])).toMatch(/^\{.*"id":/)
    expect({ exitCode, signal, stderr }).toEqual({ exitCode: 0, signal: null, stderr: '' })
  })

  onPosix('ends like an interrupted program when it is interrupted, with nothing written', async () => {
    using place = createSandbox()
    const child = place.start(['import', '-'])
    child.stdin.write('{"name": "half", "content": "a be')

    // The program creates the compile cache at its start, right before it waits for input.
    const ready = setInterval(() => {
      if (existsSync(join(place.path, 'cache', 'credence'))) child.kill('SIGINT')
    }, 50)
    const { exitCode, signal, stdout } = await endOf(child)
    clearInterval(ready)

    expect({ exitCode, signal, stdout }).toEqual({ exitCode: null, signal: 'SIGINT', stdout: '' })
    expect(readdirSync(place.home)).toEqual([])
  })

  onPosix('a shell sees 130 after an interrupt, and what was half made is cleaned up', () => {
    using place = createSandbox()
    const file = join(place.work, 'half-written')
    const script = `
      const { compose, processEnvironment } = await import(${JSON.stringify(pathToFileURL(join(root, 'src/cli/compose.ts')).href)})
      const { rmSync, writeFileSync } = await import('node:fs')
      const session = compose(processEnvironment(), async () => {})
      writeFileSync(${JSON.stringify(file)}, 'half')
      session.program.whenInterrupted(() => rmSync(${JSON.stringify(file)}))
      process.kill(process.pid, 'SIGINT')
      setInterval(() => {}, 1_000)
    `
    writeFileSync(join(place.work, 'script.mjs'), script)

    const { stdout } = spawnSync('sh', ['-c', `'${process.execPath}' script.mjs; echo $?`], {
      cwd: place.work,
      encoding: 'utf8',
    })

    expect(stdout).toBe('130\n')
    expect(existsSync(file)).toBe(false)
  })
})

describe('a one-shot command', () => {
  it('loads only the modules that it needs', async () => {
    using place = createSandbox()
    await place.run('remember', 'Cached on port 6380.', '--name', 'Redis')
    const spy = join(place.work, 'spy.mjs')
    writeFileSync(
      spy,
      `import { registerHooks } from 'node:module'
       registerHooks({ load(url, context, next) { process.stderr.write(url + '\\n'); return next(url, context) } })`,
    )

    const { stderr, exitCode } = await endOf(
      place.start(['recall', 'redis?', '--json'], { env: { NODE_OPTIONS: `--import=${pathToFileURL(spy).href}` } }),
    )

    const loaded = stderr.split('\n').filter((url) => url.startsWith('file:'))
    const isUnneeded = (url: string): boolean =>
      /\/zod\/|\/cli\/(?:help|describe-\w+|confirm|read-text)\.ts|\/memory\/doctor\.ts|\/eval\/|\/http\/|\/mcp\//.test(
        url,
      ) ||
      (url.includes('/cli/commands/') && !url.endsWith('/recall.ts'))
    expect(exitCode).toBe(0)
    expect(loaded.some((url) => url.endsWith('/memory/recall.ts'))).toBe(true)
    expect(loaded.filter(isUnneeded)).toEqual([])
  })
})
