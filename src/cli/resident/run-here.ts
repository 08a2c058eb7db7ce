import { tmpdir } from 'node:os'
import { Readable, Writable } from 'node:stream'
import type { ProcessEnvironment } from '../compose.ts'
import type { EnvironmentVariables } from '../text/output.ts'

type Terminal = { readonly isTTY?: boolean; readonly columns?: number }

/** A command of another process of this account, with everything that it knows of its environment. */
export type ForeignCommand = {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: EnvironmentVariables
  readonly home: string
  /** Its whole standard input. */
  readonly input: string
  /** How long the other process has run. */
  readonly ageMs: number
  readonly stdout: Terminal
  readonly stderr: Terminal
}

/** The result of a command, for the process that asked. */
export type CommandEnding = { readonly exitCode: number; readonly stdout: string; readonly stderr: string }

/** Runs commands of other processes in this one, with the result that they would have had there. */
export class ForeignCommands {
  readonly #running = new Set<Promise<unknown>>()

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
      // Instead of another process: this one goes on anyway.
      startDetached: async (argv, variables) => {
        void this.run({ ...command, argv, env: { ...command.env, ...variables }, input: '', ageMs: 0 })
      },
    }
    const running = main(command.argv, environment)
    this.#running.add(running)
    try {
      return { exitCode: await running, stdout: stdout.text, stderr: stderr.text }
    } finally {
      this.#running.delete(running)
    }
  }

  /** Waits for the commands that run, and for those that they leave to run. */
  async finish(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running)
  }
}

/** Loads the modules that the hook of a prompt needs, so that the first prompt does not wait for them. */
export async function preloadHook(): Promise<void> {
  await import('../commands/connect/hook.ts')
  await import('../../open-memory.ts')
  await import('../../memory/learn/rules.ts')
  await import('../../memory/learn/secrets.ts')
  await import('../../memory/recall/render.ts')
}

class Collector extends Writable {
  readonly isTTY: boolean
  readonly columns: number
  text = ''

  constructor({ isTTY = false, columns = 80 }: Terminal) {
    super({ decodeStrings: false })
    this.isTTY = isTTY
    this.columns = columns
  }

  override _write(chunk: string | Buffer, _encoding: string, done: () => void): void {
    this.text += chunk
    done()
  }
}
