import { join } from 'node:path'
import { DamagedStore, expectedError, MemoryError } from '../../errors.ts'
import { takeLock } from '../../files/lock.ts'
import { prepareOwnPath } from '../../files/own-files.ts'
import type { Memory } from '../../memory/memory.ts'
import type { Session } from '../session.ts'
import {
  dequeue,
  type QueuedTurn,
  queueAwaited,
  queuedNames,
  queueIn,
  readQueued,
  setAside,
  sweepMarks,
} from './hook-queue.ts'
import { findInTranscript, stepsBefore } from './transcript.ts'

/** `failed`: the number of messages that were set aside because of a bug. */
type Counts = { kept: number; learned: number; refused: number; failed: number }

/** `in use`: another process is processing the queue. */
export type HeardQueue = Readonly<Counts> & { readonly outcome: 'done' | 'store unavailable' | 'in use' }

/**
 * Stores all queued messages in order, one process at a time. If the store is busy, stops at the current message to keep the
 * order. A message that triggers a bug is moved to `failed/`, so that it neither blocks the others nor is lost.
 */
export async function hearQueue(session: Session, dir: string): Promise<HeardQueue> {
  const counts: Counts = { kept: 0, learned: 0, refused: 0, failed: 0 }
  queueAwaited(dir)
  // Checked again, because a message may arrive while the lock is being released.
  while (queuedNames(dir).length > 0) {
    const release = await takeQueue(prepareOwnPath(dir, join(queueIn(dir), 'lock')))
    if (release === null) return { ...counts, outcome: 'in use' }
    try {
      const isStored = await new Listener(session, dir, counts).hearAll()
      if (!isStored) return { ...counts, outcome: 'store unavailable' }
    } finally {
      release()
    }
  }
  return { ...counts, outcome: 'done' }
}

/** Max wait for the lock, because its owner may be a process that its host is about to end. */
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
  readonly #counts: Counts
  readonly #memories = new Map<string, Promise<Memory>>()

  constructor(session: Session, dir: string, counts: Counts) {
    // The hook has already read the project's `.credence.json`; here only the settings of the memory are needed.
    this.#session = session.places.inDirectory(dir)
    this.#dir = dir
    this.#counts = counts
  }

  /** False if the store is busy. */
  async hearAll(): Promise<boolean> {
    for (const name of queuedNames(this.#dir)) {
      const turn = readQueued(this.#dir, name)
      if (turn === 'gone') continue
      try {
        if (turn === null) throw new TypeError('The message cannot be read.')
        await this.#hear(turn)
        dequeue(this.#dir, name)
      } catch (error) {
        if (isBusy(error)) return false
        setAside(this.#dir, name)
        this.#counts.failed += 1
      }
    }
    sweepMarks(this.#dir, Date.now())
    await this.#lookAfter()
    return true
  }

  async #hear(turn: QueuedTurn): Promise<void> {
    const { role, at, host, session, homeScopes, transcript } = turn
    const recorded = transcript === null ? null : await findInTranscript(transcript, turn, Date.now)
    const text = turn.text ?? recorded?.text
    if (text === undefined) return
    const { maxTurnCharacters } = this.#session.places.settings({ dir: this.#dir })
    const memory = await this.#memory(turn)
    const heardAt = turn.text === null && recorded?.at ? new Date(recorded.at).toISOString() : at
    const said = { at: heardAt, host, ...(session === null ? {} : { session: session.slice(0, maxSessionLength) }) }
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
    this.#counts.kept += count('kept')
    this.#counts.refused += count('refused')
    this.#counts.learned += taken.length
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
