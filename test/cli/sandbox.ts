import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { main } from '../../src/cli/main.ts'
import { temporaryDirectory } from '../temporary-directory.ts'

export type Ending = { readonly exitCode: number | null; readonly stdout: string; readonly stderr: string }

type Circumstances = {
  readonly cwd?: string
  /** Instead of a directory: what happens when somebody asks for it. */
  readonly workingDirectory?: () => string
  readonly env?: Readonly<Record<string, string>>
  /** What comes in; without it, nothing does. */
  readonly stdin?: string | PassThrough
  /** What a person types at a terminal: each text when standard error shows the one before it. */
  readonly typed?: readonly (readonly [shown: string, typed: string])[]
  /** Whether all three streams are a terminal, of this many columns. */
  readonly columns?: number
  /** When the program started, on the clock of `performance.now()`; later than now leaves it more time. */
  readonly startedAt?: number
  /** What becomes of a program that is to go on by itself; without it, nothing is started. */
  readonly startDetached?: (argv: readonly string[]) => Promise<void>
  readonly platform?: NodeJS.Platform
}

export const bin = fileURLToPath(new URL('../../bin/credence.js', import.meta.url))

/** A home and a working directory outside of any repository, both empty, and the command line to run there. */
export function createSandbox() {
  const directory = temporaryDirectory()
  const home = join(directory.path, 'home')
  const work = join(directory.path, 'work')
  const temporary = join(directory.path, 'tmp')
  for (const path of [home, work, temporary]) mkdirSync(path)

  /** Runs the command line in this process, with streams and an environment of its own. */
  async function runWith(
    { cwd = work, workingDirectory = () => cwd, env = {}, stdin: given = '', typed, columns, ...more }: Circumstances,
    ...argv: readonly string[]
  ): Promise<Ending> {
    const stdout = new Capture(columns)
    const stdin = typed === undefined ? given : new PassThrough()
    const left = [...(typed ?? [])]
    const stderr = new Capture(columns, (text) => {
      const [next] = left
      if (next === undefined || !text.includes(next[0]) || typeof stdin === 'string') return
      left.shift()
      // A person types after the question is shown.
      setImmediate(() => stdin.write(next[1]))
    })
    const input = Object.assign(typeof stdin === 'string' ? new PassThrough() : stdin, { isTTY: columns !== undefined })
    if (typeof stdin === 'string') input.end(stdin)
    const environment = { env, home, temporary, workingDirectory, stdin: () => input, stdout, stderr, ...more }
    const exitCode = await main(argv, environment)
    return { exitCode, stdout: stdout.text(), stderr: stderr.text() }
  }
  const run = (...argv: readonly string[]): Promise<Ending> => runWith({}, ...argv)

  return {
    path: directory.path,
    home,
    work,
    temporary,
    runWith,
    run,
    /** Runs with `--json`, and returns the one document, which must be all there is on standard output. */
    json: async (...argv: readonly string[]) => {
      const ending = await run(...argv, '--json')
      if (ending.exitCode !== 0) throw new Error(`credence ${argv.join(' ')}: ${ending.exitCode} ${ending.stderr}`)
      return JSON.parse(ending.stdout)
    },
    /** Starts the real program. */
    start: (argv: readonly string[], { cwd = work, env = {} }: Circumstances = {}) =>
      spawn(process.execPath, [bin, ...argv], {
        cwd,
        env: {
          PATH: process.env.PATH,
          TZ: process.env.TZ,
          HOME: home,
          XDG_CACHE_HOME: join(directory.path, 'cache'),
          ...env,
        },
        stdio: 'pipe',
      }),
    [Symbol.dispose]: () => directory[Symbol.dispose](),
  }
}

/** Waits for a program to end and gathers what it wrote. */
export async function endOf(
  child: ReturnType<ReturnType<typeof createSandbox>['start']>,
): Promise<Ending & { readonly signal: string | null }> {
  const gathered = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (chunk: string) => {
      gathered[stream] += chunk
    })
  }
  const [exitCode, signal] = await new Promise<[number | null, string | null]>((resolve, reject) => {
    child.on('error', reject).on('close', (code, by) => resolve([code, by]))
  })
  return { exitCode, signal, ...gathered }
}

class Capture extends Writable {
  readonly isTTY: boolean
  readonly columns: number
  readonly #chunks: Buffer[] = []

  readonly #onText: (text: string) => void

  constructor(columns: number | undefined, onText: (text: string) => void = () => {}) {
    super()
    this.#onText = onText
    this.isTTY = columns !== undefined
    this.columns = columns ?? 0
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#chunks.push(chunk)
    done()
    this.#onText(chunk.toString('utf8'))
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString('utf8')
  }
}
