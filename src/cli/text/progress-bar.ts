import type { EnvironmentVariables, OutputStream } from './output.ts'

const barWidth = 28
/** The remaining time is shown once the work has taken this long. */
const patienceMs = 2_000

type ProgressOptions = {
  readonly isShown?: boolean
  readonly clock?: () => number
  readonly report?: (progress: Progress) => void
}

export type Progress = { readonly label: string; readonly done: number; readonly total: number }

/** A progress line that is redrawn in place, on a terminal only. `report` is called for every step. */
export class ProgressBar {
  readonly #stream: OutputStream
  readonly #isShown: boolean
  readonly #clock: () => number
  readonly #report: (progress: Progress) => void
  #drawn = ''
  /** The start of the current work; null if there is none. */
  #began: { readonly at: number; readonly done: number; readonly total: number } | null = null

  constructor(stream: OutputStream, env: EnvironmentVariables, options: ProgressOptions = {}) {
    this.#stream = stream
    this.#clock = options.clock ?? (() => performance.now())
    this.#report = options.report ?? (() => {})
    this.#isShown = (options.isShown ?? true) && stream.isTTY === true && env.TERM !== 'dumb' && (env.CI ?? '') === ''
  }

  show(label: string, done: number, total: number): void {
    this.#report({ label, done, total })
    if (!this.#isShown) return
    // A different total means different work, with its own speed.
    if (this.#began?.total !== total || done < this.#began.done) this.#began = { at: this.#clock(), done, total }
    const filled = total === 0 ? 0 : Math.round((done / total) * barWidth)
    const bar = `${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)}`
    const line = `${bar} ${done}/${total} ${label}${this.#timeLeft(done)}`.slice(0, (this.#stream.columns || 80) - 1)
    if (line === this.#drawn) return
    this.#drawn = line
    this.#stream.write(`\r${line}\u001b[K`)
  }

  /** Erases the line, so that the answer starts on an empty one. */
  clear(): void {
    if (this.#drawn !== '') this.#stream.write('\r\u001b[K')
    this.#drawn = ''
    this.#began = null
  }

  /** The remaining time, estimated from the average speed so far. */
  #timeLeft(done: number): string {
    if (this.#began === null) return ''
    const { at, done: before, total } = this.#began
    const elapsed = this.#clock() - at
    if (elapsed < patienceMs || done === before || done >= total) return ''
    return `, ${duration((elapsed / (done - before)) * (total - done))} left`
  }
}

function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1_000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.ceil(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
