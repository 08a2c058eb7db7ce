import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Refusal, WriterOptions, WriterReport } from './writer.ts'

/** The compile cache of the writers: hundreds of them are started, but their code is compiled only once. */
const compiled = join(tmpdir(), 'credence-compiled-writers')

const program = fileURLToPath(new URL('writer.ts', import.meta.url))

/** A writer in a separate process, and the lines it has printed so far. */
export class WriterProcess {
  readonly child: ChildProcess
  readonly acknowledged: string[] = []
  readonly refusals: Refusal[] = []
  report: WriterReport | null = null
  /** The text that it has printed on standard error. */
  complaints = ''
  readonly ready: Promise<void>
  readonly ended: Promise<void>
  #heard: () => void = () => {}

  /** `through` runs the writer under another program, such as a tracer. */
  constructor(options: WriterOptions, through: readonly string[] = []) {
    const [command, ...rest] = [...through, process.execPath, program, JSON.stringify(options)]
    const env = { ...process.env, NODE_COMPILE_CACHE: compiled }
    this.child = spawn(command as string, rest, { stdio: ['pipe', 'pipe', 'pipe'], env })
    const { stdout, stderr } = this.child
    if (stdout === null || stderr === null) throw new Error('The writer has no output.')
    stderr.on('data', (data) => {
      this.complaints += String(data)
    })
    const lines = createInterface({ input: stdout })
    let becomeReady: () => void = () => {}
    this.ready = new Promise((resolve, reject) => {
      becomeReady = resolve
      // A writer that ends before it is ready has printed the reason.
      this.child.once('close', () => reject(new Error(`The writer never got ready. ${this.complaints}`)))
    })
    this.ready.catch(() => {})
    lines.on('line', (line) => {
      const [word, rest] = split(line)
      if (word === 'ready') becomeReady()
      else if (word === 'ack') this.acknowledged.push(rest)
      else if (word === 'refused') this.refusals.push(JSON.parse(rest) as Refusal)
      else if (word === 'report') this.report = JSON.parse(rest) as WriterReport
      this.#heard()
    })
    this.ended = Promise.all([once(this.child, 'close'), once(lines, 'close')]).then(() => {})
  }

  start(): void {
    this.child.stdin?.write('\n')
  }

  /** Waits until it has acknowledged this many beliefs, however slow the disk is. */
  async hasAcknowledged(count: number): Promise<void> {
    await this.ready
    const enough = new Promise<void>((resolve) => {
      this.#heard = () => {
        if (this.acknowledged.length >= count) resolve()
      }
      this.#heard()
    })
    await Promise.race([enough, this.ended])
  }

  /** Kills it immediately, like a crash. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL')
    await this.ended
  }

  /** Waits until it exits, and fails unless it exited successfully. */
  async finished(): Promise<WriterReport | null> {
    await this.ended
    if (this.child.exitCode !== 0) throw new Error(`The writer ended with ${this.child.exitCode}. ${this.complaints}`)
    return this.report
  }
}

function split(line: string): readonly [word: string, rest: string] {
  const space = line.indexOf(' ')
  return space < 0 ? [line, ''] : [line.slice(0, space), line.slice(space + 1)]
}
