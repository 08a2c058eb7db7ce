import type { RecallCounts, RecallTally } from '../../beliefs/recall-counts.ts'
import type { Context } from './context.ts'

/** How long counts are gathered before they are written. */
const everyMs = 2_000
/** Max counts of a user that wait to be written. Further ones are dropped. */
const maxWaiting = 200

/** Counts recalls after they were answered. Drops counts that cannot be written because the store is locked or read-only. */
export class RecallCounter {
  readonly #counts: Pick<RecallCounts, 'countRecalls'>
  readonly #waiting = new Map<string, RecallTally[]>()
  #timer: NodeJS.Timeout | null = null

  constructor(counts: Pick<RecallCounts, 'countRecalls'>) {
    this.#counts = counts
  }

  note(user: string, context: Context, at: Date, durationMs: number): void {
    const { prelude, pinned, relevant, questions, quotes, perhaps } = context
    const listed = [...pinned, ...[...relevant, ...perhaps].map(({ belief }) => belief), ...questions].map(
      ({ id }) => id,
    )
    // A preference in the prelude may be pinned too, but counts only once.
    const beliefIds = [...new Set([...(prelude?.beliefIds ?? []), ...listed])]
    const isSilent = relevant.length + quotes.length + perhaps.length === 0
    const waiting = this.#waiting.get(user) ?? []
    this.#waiting.set(user, waiting)
    if (waiting.length < maxWaiting) waiting.push({ at: at.toISOString(), beliefIds, isSilent, durationMs })
    this.#timer ??= setTimeout(() => void this.flush(), everyMs).unref()
  }

  async flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    // A failure to count is ignored.
    for (const [user, tallies] of waiting) await this.#counts.countRecalls(user, tallies).catch(() => {})
  }
}
