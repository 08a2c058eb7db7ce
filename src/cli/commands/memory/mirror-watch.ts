import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { mirrorFile } from '../../../memory/mirror/state/state.ts'
import type { Synced } from '../../../memory/mirror/sync.ts'
import { watchMirror } from '../../../memory/mirror/watch.ts'
import { defineCommand } from '../../command.ts'
import { placeOptions } from '../../common-options.ts'
import type { Style } from '../../output.ts'
import { headline, noMemory, remark, syncedDetails } from './mirror-sync.ts'

export const mirrorWatch = defineCommand({
  args: {},
  options: placeOptions,
  description:
    'Prints a line for each sync that did something, and below it what waits for you. Also picks up what other programs remember. Ctrl-C ends it.',
  examples: [
    { command: 'credence mirror watch', effect: 'Takes in every save of MEMORY.md a moment after it.' },
    { command: 'credence mirror watch --dir ./memory', effect: 'The same for the memory of this directory.' },
  ],
  async run({ options }, session) {
    const { dir, user } = session.place(options)
    if (!existsSync(await session.storeFile(dir))) throw noMemory(dir)
    const ports = await session.ports(dir)
    const { signal, release } = session.interruption()
    const lines = new Lines()
    const watched = watchMirror(ports, {
      dir,
      user,
      signal,
      onSync: (synced) => lines.push(synced),
      onProblem: (problem) => lines.push(problem instanceof Error ? problem : new Error(String(problem))),
    }).finally(async () => {
      release()
      await ports.store.close()
      lines.end()
    })
    // Whoever prints the lines sees what went wrong; nobody else has to.
    watched.catch(() => {})
    return {
      document: lines.documents(watched),
      text: (style) => lines.texts(`Watching ${join(dir, mirrorFile)}. Ctrl-C ends it.`, style, watched),
    }
  },
})

/** What happens, as it happens. */
class Lines {
  readonly #waiting: (Synced | Error)[] = []
  #isOver = false
  #wake: () => void = () => {}

  push(line: Synced | Error): void {
    this.#waiting.push(line)
    this.#wake()
  }

  end(): void {
    this.#isOver = true
    this.#wake()
  }

  async *documents(watched: Promise<void>): AsyncGenerator<object> {
    for await (const line of this.#all())
      yield line instanceof Error ? { outcome: 'failed', message: line.message } : line
    await watched
  }

  async *texts(opening: string, style: Style, watched: Promise<void>): AsyncGenerator<string> {
    yield `${clock()}  ${opening}\n`
    const narrow = { ...style, width: style.width - indent }
    for await (const line of this.#all()) {
      const [first = '', ...rest] =
        line instanceof Error
          ? remark('Failed', style.red, line.message, narrow)
          : [...headline(line, narrow), ...syncedDetails(line, narrow)]
      yield [`${clock()}  ${first}`, ...rest.map((one) => `${' '.repeat(indent)}${one}`), ''].join('\n')
    }
    await watched
  }

  async *#all(): AsyncGenerator<Synced | Error> {
    for (;;) {
      const next = this.#waiting.shift()
      if (next !== undefined) yield next
      else if (this.#isOver) return
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
    }
  }
}

const clock = (): string => new Date().toISOString().slice(11, 19)

/** As wide as the time and what stands behind it. */
const indent = 10
