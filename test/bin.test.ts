import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from './temporary-directory.ts'

const bin = fileURLToPath(new URL('../bin', import.meta.url))

// Prints its arguments and exits with the requested code.
const commandLine = `
export async function main(argv) {
  if (argv[0] === 'warn') return void process.emitWarning('The log is long.')
  if (argv[0] === 'fail') throw new Error('a bug')
  if (argv[0] === 'wait') {
    process.on('SIGTERM', () => process.exit(42))
    setInterval(() => {}, 1_000)
    console.log('waiting')
    await new Promise(() => {})
  }
  console.log(JSON.stringify(argv))
  return Number(argv[0] ?? 0)
}
`
// A TypeScript file that runs only with type stripping.
const typedCommandLine = commandLine.replace('(argv)', '(argv: readonly string[]): Promise<number>')

// Without type stripping, this Node behaves like an old one: it cannot run a clone's sources.
const asAnOldNode = ['--no-experimental-strip-types']

function plant(root: string, files: Readonly<Record<string, string>>): string {
  for (const [path, text] of Object.entries({ 'package.json': '{"type":"module"}', ...files })) {
    plantFile(join(root, path), text)
  }
  mkdirSync(join(root, 'bin'))
  for (const file of ['credence.js', 'socket.js', 'package.json'])
    copyFileSync(join(bin, file), join(root, 'bin', file))
  return join(root, 'bin', 'credence.js')
}

/** Gives a planted clone its own Node: a link to the running one. */
function plantOwnNode(root: string): void {
  plantFile(join(root, 'node_modules/node/package.json'), '{"version":"99.1.2"}')
  plantFile(join(root, 'node_modules/node/bin/node'), `#!/bin/sh\nexec '${process.execPath}' "$@"\n`)
  chmodSync(join(root, 'node_modules/node/bin/node'), 0o755)
}

function plantFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

function run(root: string, ...args: readonly string[]) {
  const env = { ...process.env, XDG_CACHE_HOME: join(root, 'cache') }
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env })
  return { status, stdout, stderr }
}

describe('bin/credence.js', () => {
  it('prints a warning as a separate line on standard error, without the format of Node', () => {
    using directory = temporaryDirectory()
    const bin = plant(directory.path, { 'dist/cli/main.js': commandLine })

    const { stdout, stderr } = run(directory.path, bin, 'warn')
    const muted = run(directory.path, '--no-warnings', bin, 'warn')

    expect([stdout, stderr]).toEqual(['', 'warning: The log is long.\n'])
    expect(muted.stderr).toBe('')
  })

  it('runs the compiled files of a published package, also through a link', () => {
    using directory = temporaryDirectory()
    const bin = plant(directory.path, { 'dist/cli/main.js': commandLine })
    symlinkSync(bin, join(directory.path, 'credence'))

    const result = run(directory.path, join(directory.path, 'credence'), '3', '--json')

    expect(result).toEqual({ status: 3, stdout: '["3","--json"]\n', stderr: '' })
  })

  it('runs the sources of a clone without a build', () => {
    using directory = temporaryDirectory()
    const bin = plant(directory.path, {
      'src/cli/main.ts': typedCommandLine,
      'dist/cli/main.js': 'throw new Error("an old build")',
    })

    const result = run(directory.path, bin, '0', 'two words')

    expect(result).toEqual({ status: 0, stdout: '["0","two words"]\n', stderr: '' })
  })

  it('reports a bug with exit code 70, which commands never use otherwise', () => {
    using directory = temporaryDirectory()
    const bin = plant(directory.path, { 'dist/cli/main.js': commandLine })

    const result = run(directory.path, bin, 'fail')

    expect(result).toMatchObject({ status: 70, stdout: '' })
    expect(result.stderr).toContain('Error: a bug')
  })

  it('ends a hook with 0 in any case, because hosts treat 2 as an order to stop', () => {
    using broken = temporaryDirectory()
    using old = temporaryDirectory()
    const withBug = plant(broken.path, {
      'dist/cli/main.js': 'export async function main() { throw new Error("a bug") }',
    })
    const tooOld = plant(old.path, { 'src/cli/main.ts': typedCommandLine })

    expect(run(broken.path, withBug, 'hook', 'stop')).toMatchObject({ status: 0, stdout: '' })
    expect(run(old.path, ...asAnOldNode, tooOld, 'hook', 'stop')).toMatchObject({ status: 0, stdout: '' })
  })

  it('reports the required Node version in one line if this one is too old', () => {
    using directory = temporaryDirectory()
    const bin = plant(directory.path, { 'src/cli/main.ts': typedCommandLine })

    const result = run(directory.path, ...asAnOldNode, bin, '0')

    expect(result).toEqual({
      status: 2,
      stdout: '',
      stderr: `credence: Node ${process.versions.node} is too old; Credence needs Node 24.0 or newer (\`npm ci\` installs one).\n`,
    })
  })

  it.skipIf(process.platform === 'win32')("runs silently with the clone's own Node if this one is too old", () => {
    using directory = temporaryDirectory()
    const bin = plant(directory.path, { 'src/cli/main.ts': typedCommandLine })
    plantOwnNode(directory.path)

    const result = run(directory.path, ...asAnOldNode, bin, '4', '--json')

    expect(result).toEqual({
      status: 4,
      stdout: '["4","--json"]\n',
      stderr: '',
    })
  })

  it.skipIf(process.platform === 'win32')(
    "forwards a signal to the clone's own Node and returns its exit code",
    async () => {
      using directory = temporaryDirectory()
      const bin = plant(directory.path, { 'src/cli/main.ts': typedCommandLine })
      plantOwnNode(directory.path)
      const child = spawn(process.execPath, [...asAnOldNode, bin, 'wait'], {
        env: { ...process.env, XDG_CACHE_HOME: join(directory.path, 'cache') },
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      const exit = once(child, 'exit')

      await once(child.stdout, 'data')
      child.kill('SIGTERM')

      expect(await exit).toEqual([42, null])
    },
  )
})
