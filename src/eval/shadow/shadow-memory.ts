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
  /** A monotonic clock in milliseconds. */
  readonly clock: () => number
  /** Called when a record could not be kept. Recall itself never fails because of it. */
  readonly onProblem: (error: unknown) => void
  readonly retention?: Retention
}

/** A recall waits for records only when this many are waiting for the disk, and not longer than this. */
const mostWaiting = 100
const longestWaitMs = 50

/** The same memory, with a shadow record of every recall. `close` waits until all records are written. */
export function withShadow(memory: Memory, options: ShadowOptions): Memory {
  const { clock, now, source = 'bm25', sessionKey = null } = options
  const queue = recordQueue(options)
  return {
    ...memory,
    recall: async (message, request = {}) => {
      const start = clock()
      const context = await memory.recall(message, request)
      const durationMs = clock() - start
      const limit = request.budget?.maxBeliefs ?? defaultBudget.maxBeliefs
      await queue.add({ message, context, limit, source, sessionKey, recordedAt: now(), durationMs })
      return context
    },
    close: async () => {
      await queue.drained()
      await memory.close()
    },
  }
}

/** Writes records one after the other. Records that are dropped in a row are reported once. */
function recordQueue({ root, now, retention, onProblem }: ShadowOptions) {
  let key: Promise<Uint8Array> | null = null
  let tail: Promise<void> = Promise.resolve()
  let waiting = 0
  let isDropping = false

  const write = async (observation: Observation): Promise<void> => {
    key ??= shadowKey(root)
    const traceId = newTraceId()
    await writeShadow(root, shadowRecordOf(observation, await key, traceId))
    // Pruning costs more than writing, so only one record in 256 prunes, also in one-shot commands.
    if (traceId.startsWith('00')) await pruneShadows(root, now(), retention)
  }

  return {
    add: async (observation: Observation): Promise<void> => {
      if (waiting >= mostWaiting) await Promise.race([tail, setTimeout(longestWaitMs, undefined, { ref: false })])
      if (waiting >= mostWaiting) {
        if (!isDropping) onProblem(new Error('The disk is too slow for shadow records; some are dropped.'))
        isDropping = true
        return
      }
      isDropping = false
      waiting += 1
      tail = tail
        .then(() => write(observation))
        .catch(onProblem)
        .then(() => {
          waiting -= 1
        })
    },
    drained: (): Promise<void> => tail,
  }
}
