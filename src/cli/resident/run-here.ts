import { tmpdir } from 'node:os'
import { Readable, Writable } from 'node:stream'
import { yieldToEventLoop } from '../../next-turn.ts'
import { type ProcessEnvironment, processEnvironment } from '../compose.ts'
import { hookEventNamed } from '../hooks/host-protocol.ts'
import type { EnvironmentVariables } from '../text/output.ts'

type Terminal = { readonly isTTY?: boolean; readonly columns?: number }

/** A command of another process of this account, with the environment of that process. */
export type ForeignCommand = {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: EnvironmentVariables
  readonly home: string
  /** The complete standard input. */
  readonly input: string
  /** How long the other process has run. */
  readonly ageMs: number
  readonly stdout: Terminal
  readonly stderr: Terminal
}

/** The result of a command, for the process that requested it. */
export type CommandEnding = { readonly exitCode: number; readonly stdout: string; readonly stderr: string }

type Background = Pick<ForeignCommand, 'argv' | 'env'> & { readonly ended: Promise<unknown> }

/** Runs commands of other processes in this one, with the same results. */
export class ForeignCommands {
  readonly #running = new Set<Promise<unknown>>()
  readonly #background = new Set<Background>()
  readonly #afterPrompt: () => void
  #isHandedOver = false

  /** `afterPrompt` is called whenever the hook of a prompt has been answered. */
  constructor(afterPrompt: () => void = () => {}) {
    this.#afterPrompt = afterPrompt
  }

  async run(command: ForeignCommand): Promise<CommandEnding> {
    const { main } = await import('../main.ts')
    const stdout = new Collector(command.stdout)
    const stderr = new Collector(command.stderr)
    const environment: ProcessEnvironment = {
      env: command.env,
      home: command.home,
      temporary: tmpdir(),
      workingDirectory: () => command.cwd,
      stdin: () => Readable.from([Buffer.from(command.input)]),
      stdout,
      stderr,
      startedAt: performance.now() - command.ageMs,
      // Runs here, because this process keeps running anyway; starts only after the answer has been sent.
      startDetached: async (argv, variables) => {
        const env = { ...command.env, ...variables }
        if (this.#isHandedOver) return processEnvironment().startDetached?.(argv, env)
        const ended = yieldToEventLoop().then(() => this.run({ ...command, argv, env, input: '', ageMs: 0 }))
        const background = { argv, env, ended }
        this.#background.add(background)
        this.#track(ended.finally(() => this.#background.delete(background)))
      },
    }
    const ending = main(command.argv, environment).then((exitCode) => stdout.ending(exitCode, stderr))
    this.#track(ending)
    const [name, event = ''] = command.argv
    if (name === 'hook' && hookEventNamed(event) === 'prompt-submit') void ending.then(this.#afterPrompt, () => {})
    // A hook prints its answer in one piece, and its exit code is always 0, so the host need not wait for the rest of its work.
    if (name !== 'hook' || command.argv.includes('--json')) return ending
    return Promise.race([ending, stdout.printed.then(() => stdout.ending(0, stderr))])
  }

  #track(running: Promise<unknown>): void {
    this.#running.add(running)
    void running.catch(() => {}).finally(() => this.#running.delete(running))
  }

  /** Waits for the running commands and for the background commands that they start. */
  async finish(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running)
  }

  /** Restarts background commands in separate processes, because a host does not wait long for this process to end. */
  async handOver(): Promise<void> {
    this.#isHandedOver = true
    const { startDetached } = processEnvironment()
    for (const { argv, env } of this.#background) await startDetached?.(argv, env)
  }
}

/** Loads the modules that hooks need, so that the first prompt does not wait for them. */
export async function preloadHook(): Promise<void> {
  await import('../commands/connect/hook.ts')
  await import('../../open-memory.ts')
  const { findStatements } = await import('../../memory/learn/rules.ts')
  const { maskSecrets } = await import('../../memory/learn/secrets.ts')
  await import('../../memory/recall/render.ts')
  await import('../../search/turns/push.ts')
  await import('../hooks/hear-queue.ts')
  await import('../../memory/use-cases.ts')
  // Their patterns are compiled when they are first used.
  findStatements(maskSecrets('Remember that we deploy on Fridays.'))
}

class Collector extends Writable {
  readonly isTTY: boolean
  readonly columns: number
  readonly #first = Promise.withResolvers<void>()
  #text = ''

  constructor({ isTTY = false, columns = 80 }: Terminal) {
    super({ decodeStrings: false })
    this.isTTY = isTTY
    this.columns = columns
  }

  override _write(chunk: string | Buffer, _encoding: string, done: () => void): void {
    this.#text += chunk
    this.#first.resolve()
    // The answer of a hook is sent before the hook continues, because its remaining work writes files.
    setImmediate(done)
  }

  /** Resolves with the first write, even of an empty text. */
  get printed(): Promise<void> {
    return this.#first.promise
  }

  ending(exitCode: number, stderr: Collector): CommandEnding {
    return { exitCode, stdout: this.#text, stderr: stderr.#text }
  }
}
