import { join } from 'node:path'
import { DamagedStore, expectedError, MemoryError } from '../../errors.ts'
import { takeLock } from '../../files/lock.ts'
import { prepareOwnPath } from '../../files/own-files.ts'
import type { Memory } from '../../memory/memory.ts'
import type { Session } from '../session.ts'
import { dequeue, type QueuedTurn, queuedNames, queueIn, readQueued, setAside, sweepMarks } from './hook-queue.ts'
import { findInTranscript, stepsBefore } from './transcript.ts'

/** The result of processing the queue. */
export type HeardQueue = {
  readonly kept: number
  readonly learned: number
  readonly refused: number
  /** The number of messages that were set aside because of a bug. */
  readonly failed: number
  /** `in use`: another process is processing the queue. */
  readonly outcome: 'done' | 'store unavailable' | 'in use'
}

const nothing: HeardQueue = { kept: 0, learned: 0, refused: 0, failed: 0, outcome: 'done' }

/**
 * Stores all queued messages in order, one process at a time. If the store is busy, stops at the current message to keep the
 * order. A message that causes a bug is moved to `failed/`, so that it neither blocks the others nor is lost.
 */
export async function hearQueue(session: Session, dir: string): Promise<HeardQueue> {
  let sum = nothing
  // Checked again, because a message may arrive while the lock is being released.
  while (queuedNames(dir).length > 0) {
    const release = await takeQueue(prepareOwnPath(dir, join(queueIn(dir), 'lock')))
    if (release === null) return { ...sum, outcome: 'in use' }
    try {
      const heard = await new Listener(session, dir).hearAll()
      sum = addCounts(sum, heard)
    } finally {
      release()
    }
    if (sum.outcome === 'store unavailable') return sum
  }
  return sum
}

const addCounts = (a: HeardQueue, b: HeardQueue): HeardQueue => ({
  kept: a.kept + b.kept,
  learned: a.learned + b.learned,
  refused: a.refused + b.refused,
  failed: a.failed + b.failed,
  outcome: b.outcome,
})

/** How long to wait for the lock of a process whose host may be ending it. */
const maxQueueWaitMs = 3_000

/** Null if another process has the lock. */
async function takeQueue(lock: string): Promise<(() => void) | null> {
  try {
    return await takeLock(lock, 'The queue of hooks', maxQueueWaitMs)
  } catch (error) {
    if (error instanceof MemoryError && error.code === 'conflict') return null
    throw error
  }
}

/** Whether the error may go away: another process is writing, the disk is full, a file is refused, or the store needs repair. */
const isBusy = (error: unknown): boolean =>
  error instanceof DamagedStore || ['unavailable', 'conflict'].includes(expectedError(error)?.code ?? '')

class Listener {
  readonly #session: Session
  readonly #dir: string
  readonly #memories = new Map<string, Promise<Memory>>()

  constructor(session: Session, dir: string) {
    // The hook has already read the project's `.credence.json`; here only the settings of the memory are needed.
    this.#session = session.places.inDirectory(dir)
    this.#dir = dir
  }

  async hearAll(): Promise<HeardQueue> {
    let sum = nothing
    for (const name of queuedNames(this.#dir)) {
      const turn = readQueued(this.#dir, name)
      if (turn === 'gone') continue
      try {
        if (turn === null) throw new TypeError('The message cannot be read.')
        sum = addCounts(sum, await this.#hear(turn))
        dequeue(this.#dir, name)
      } catch (error) {
        if (isBusy(error)) return { ...sum, outcome: 'store unavailable' }
        setAside(this.#dir, name)
        sum = { ...sum, failed: sum.failed + 1 }
      }
    }
    sweepMarks(this.#dir, Date.now())
    await this.#lookAfter()
    return sum
  }

  async #hear(turn: QueuedTurn): Promise<HeardQueue> {
    const { role, at, host, session, homeScopes, transcript } = turn
    const recorded = transcript === null ? null : await findInTranscript(transcript, turn, Date.now)
    const text = turn.text ?? recorded?.text
    if (text === undefined) return nothing
    const { maxTurnCharacters } = this.#session.places.settings({ dir: this.#dir })
    const memory = await this.#memory(turn)
    const said = { at, host, ...(session === null ? {} : { session: session.slice(0, maxSessionLength) }) }
    const isAnswer = role === 'assistant' && recorded !== null && transcript !== null
    const steps = (isAnswer ? stepsBefore(transcript, recorded) : []).map((step) => ({
      ...said,
      text: step.text,
      role: step.role,
      messageId: step.uuid,
      ...(step.at === null ? {} : { at: new Date(step.at).toISOString() }),
    }))
    const { turns, taken } = await memory.hear(
      [...steps, { ...said, text, role, ...(recorded === null ? {} : { messageId: recorded.uuid }) }],
      { scopes: homeScopes, maxTurnCharacters },
    )
    const count = (outcome: string): number => turns.filter((one) => one.outcome === outcome).length
    return { ...nothing, kept: count('kept'), refused: count('refused'), learned: taken.length }
  }

  async #lookAfter(): Promise<void> {
    const { keepTurnsDays } = this.#session.places.settings({ dir: this.#dir })
    for (const opened of this.#memories.values()) await forgetOldTurns(await opened, keepTurnsDays, new Date())
  }

  #memory({ user, scopes, host }: QueuedTurn): Promise<Memory> {
    const key = JSON.stringify([user, scopes, host])
    const known = this.#memories.get(key)
    if (known !== undefined) return known
    const author = { actor: 'person', origin: host } as const
    const memory = this.#session.memories.writing({ dir: this.#dir, user, scope: scopes, as: author })
    this.#memories.set(key, memory)
    return memory
  }
}

const maxSessionLength = 200

const dayMs = 86_400_000

/** Forgets turns that are older than keepTurnsDays; 0 keeps all turns. Returns the number of forgotten turns. */
export async function forgetOldTurns(memory: Memory, keepTurnsDays: number, now: Date): Promise<number> {
  if (keepTurnsDays === 0) return 0
  const until = new Date(now.getTime() - keepTurnsDays * dayMs).toISOString()
  const { total } = await memory.turns({ until, limit: 1 })
  return total === 0 ? 0 : (await memory.forgetTurns({ until })).turns
}
