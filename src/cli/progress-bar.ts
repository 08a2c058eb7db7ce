import type { Environment, OutputStream } from './output.ts'

const barWidth = 28

/** One line that is drawn over itself. On anything but a terminal it draws nothing. */
export class ProgressBar {
  readonly #stream: OutputStream
  readonly #isShown: boolean
  #drawn = ''

  constructor(stream: OutputStream, env: Environment) {
    this.#stream = stream
    this.#isShown = stream.isTTY === true && env.TERM !== 'dumb' && (env.CI ?? '') === ''
  }

  show(label: string, done: number, total: number): void {
    if (!this.#isShown) return
    const filled = total === 0 ? 0 : Math.round((done / total) * barWidth)
    const line = `${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)} ${done}/${total} ${label}`.slice(
      0,
      (this.#stream.columns ?? 80) - 1,
    )
    if (line === this.#drawn) return
    this.#drawn = line
    this.#stream.write(`\r${line}\u001b[K`)
  }

  /** Takes the line away, so that the answer begins on a clean one. */
  clear(): void {
    if (this.#drawn !== '') this.#stream.write('\r\u001b[K')
    this.#drawn = ''
  }
}
