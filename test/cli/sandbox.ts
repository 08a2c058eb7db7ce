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
  /** Replaces `cwd`, for example to throw. */
  readonly workingDirectory?: () => string
  readonly env?: Readonly<Record<string, string>>
  /** Standard input; empty by default. */
  readonly stdin?: string | PassThrough
  /** Typed at a terminal: each `typed` text once standard error contains its `shown` text. */
  readonly typed?: readonly (readonly [shown: string, typed: string])[]
  /** The columns of the terminal, if all three streams are a terminal. */
  readonly columns?: number
  /**
   * The start of the program on the clock of `performance.now()`. A start in the future gives the program more time.
   */
  readonly startedAt?: number
  /** Starts background programs; by default none is started. */
  readonly startDetached?: (argv: readonly string[]) => Promise<void>
  readonly platform?: NodeJS.Platform
}

export const bin = fileURLToPath(new URL('../../bin/credence.js', import.meta.url))

/** An empty home and an empty working directory outside any repository, with functions that run the command line there. */
export function createSandbox() {
  const directory = temporaryDirectory()
  const home = join(directory.path, 'home')
  const work = join(directory.path, 'work')
  const temporary = join(directory.path, 'tmp')
  for (const path of [home, work, temporary]) mkdirSync(path)

  /** Runs the command line in this process, with separate streams and a separate environment. */
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
      // A person types only after seeing the question.
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
    /** Runs with `--json` and returns the document, which must be the whole standard output. */
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

/** Waits for a program to end and collects its output. */
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
