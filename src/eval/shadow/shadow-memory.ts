import { setTimeout } from 'node:timers/promises'
import type { Memory } from '../../memory/memory.ts'
import { defaultBudget } from '../../memory/recall/context.ts'
import {
  newTraceId,
  type Observation,
  pruneShadows,
  type Retention,
  shadowKey,
  shadowRecordOf,
  writeShadow,
} from './shadow.ts'

export type ShadowOptions = {
  /** The eval store. */
  readonly root: string
  readonly sessionKey?: string | null
  readonly source?: Observation['source']
  readonly now: () => Date
  /** Milliseconds that only ever grow. */
  readonly clock: () => number
  /** Told when a record could not be kept. Recall itself never fails because of it. */
  readonly onProblem: (error: unknown) => void
  readonly retention?: Retention
}

/** So many records may wait for the disk before a recall waits for them, and it waits no longer than this. */
const mostWaiting = 100
const longestWaitMs = 50

/**
 * The same memory, with a shadow record of every recall. What is recalled stays the same, and a recall waits for records
 * only when they cannot be written as fast as they are made; `close` waits until all are kept.
 */
export function withShadow(memory: Memory, options: ShadowOptions): Memory {
  const queue = new RecordQueue(options)
  return {
    ...memory,
    recall: async (message, request = {}) => {
      const start = options.clock()
      const context = await memory.recall(message, request)
      const durationMs = options.clock() - start
      await queue.add({
        message,
        context,
        limit: request.budget?.maxBeliefs ?? defaultBudget.maxBeliefs,
        source: options.source ?? 'bm25',
        sessionKey: options.sessionKey ?? null,
        recordedAt: options.now(),
        durationMs,
      })
      return context
    },
    close: async () => {
      await queue.drained()
      await memory.close()
    },
  }
}

/** Writes records one after the other, and tells of what is lost once per loss in a row. */
class RecordQueue {
  readonly #options: ShadowOptions
  #key: Promise<Uint8Array> | null = null
  #tail: Promise<void> = Promise.resolve()
  #waiting = 0
  #isDropping = false

  constructor(options: ShadowOptions) {
    this.#options = options
  }

  async add(observation: Observation): Promise<void> {
    if (this.#waiting >= mostWaiting)
      await Promise.race([this.#tail, setTimeout(longestWaitMs, undefined, { ref: false })])
    if (this.#waiting >= mostWaiting) {
      if (!this.#isDropping)
        this.#options.onProblem(new Error('The disk is too slow for shadow records; some are dropped.'))
      this.#isDropping = true
      return
    }
    this.#isDropping = false
    this.#waiting += 1
    this.#tail = this.#tail
      .then(() => this.#keep(observation))
      .catch(this.#options.onProblem)
      .then(() => {
        this.#waiting -= 1
      })
  }

  drained(): Promise<void> {
    return this.#tail
  }

  async #keep(observation: Observation): Promise<void> {
    const { root, now, retention } = this.#options
    this.#key ??= shadowKey(root)
    const traceId = newTraceId()
    await writeShadow(root, shadowRecordOf(observation, await this.#key, traceId))
    // Looking through the store costs more than a record, so one in 256 pays for all; also in one-shot commands.
    if (traceId.startsWith('00')) await pruneShadows(root, now(), retention)
  }
}
