import { join } from 'node:path'
import { MemoryError } from '../../errors.ts'
import { takeLock } from '../../files/lock.ts'
import type { Memory } from '../../memory/memory.ts'
import { forgetOldTurns } from '../old-turns.ts'
import type { Session } from '../session.ts'
import { dequeue, type QueuedTurn, queuedNames, queueIn, readQueued, setAside, sweepMarks } from './hook-queue.ts'
import { findInTranscript } from './transcript.ts'

/** What became of the messages that waited. */
export type HeardQueue = {
  readonly kept: number
  readonly learned: number
  readonly refused: number
  /** How many met a bug and were set aside. */
  readonly failed: number
  /** `in use`: another process is hearing the queue. */
  readonly outcome: 'done' | 'store unavailable' | 'in use'
}

const nothing: HeardQueue = { kept: 0, learned: 0, refused: 0, failed: 0, outcome: 'done' }

/**
 * Hears everything that waits, in the order in which it was said. One process does so at a time. When the store is busy the
 * queue stops at that message, so that nothing is heard before what came before it. A message that meets a bug is set aside
 * in a file, so that it neither stops the others nor is lost.
 */
export async function hearQueue(session: Session, dir: string): Promise<HeardQueue> {
  let sum = nothing
  // A message that came in while the lock was being given back has found nobody else to hear it.
  while (queuedNames(dir).length > 0) {
    const release = await takeQueue(join(queueIn(dir), 'lock'))
    if (release === null) return { ...sum, outcome: 'in use' }
    try {
      const heard = await new Listener(session, dir).hearAll()
      sum = added(sum, heard)
    } finally {
      release()
    }
    if (sum.outcome === 'store unavailable') return sum
  }
  return sum
}

const added = (one: HeardQueue, other: HeardQueue): HeardQueue => ({
  kept: one.kept + other.kept,
  learned: one.learned + other.learned,
  refused: one.refused + other.refused,
  failed: one.failed + other.failed,
  outcome: other.outcome,
})

/** Null when another process is at it. */
async function takeQueue(lock: string): Promise<(() => void) | null> {
  try {
    return await takeLock(lock, 'The queue of hooks')
  } catch (error) {
    if (error instanceof MemoryError && error.code === 'conflict') return null
    throw error
  }
}

/** Somebody else was writing for longer than was worth waiting, or the disk is full. */
const isBusy = (error: unknown): boolean =>
  error instanceof MemoryError && (error.code === 'unavailable' || error.code === 'conflict')

class Listener {
  readonly #session: Session
  readonly #dir: string
  readonly #memories = new Map<string, Promise<Memory>>()

  constructor(session: Session, dir: string) {
    // What a directory says about itself was read by the hook; here only the memory itself is asked.
    this.#session = session.inDirectory(dir)
    this.#dir = dir
  }

  async hearAll(): Promise<HeardQueue> {
    let sum = nothing
    for (const name of queuedNames(this.#dir)) {
      const turn = readQueued(this.#dir, name)
      if (turn === 'gone') continue
      try {
        if (turn === null) throw new TypeError('The message cannot be read.')
        sum = added(sum, await this.#hear(turn))
        dequeue(this.#dir, name)
      } catch (error) {
        if (isBusy(error)) return { ...sum, outcome: 'store unavailable' }
        setAside(this.#dir, name)
        sum = { ...sum, failed: sum.failed + 1 }
      }
    }
    sweepMarks(this.#dir, Date.now())
    await this.#forgetOld()
    await this.#embedNew()
    return sum
  }

  async #hear(turn: QueuedTurn): Promise<HeardQueue> {
    const { role, at, host, session, homeScopes, transcript } = turn
    const recorded = transcript === null ? null : await findInTranscript(transcript, turn, Date.now)
    const text = turn.text ?? recorded?.text
    if (text === undefined) return nothing
    const { maxTurnCharacters } = this.#session.settings({ dir: this.#dir })
    const memory = await this.#memory(turn)
    const { turns, taken } = await memory.hear(
      {
        text,
        role,
        at,
        host,
        ...(session === null ? {} : { session: session.slice(0, longestSession) }),
        ...(recorded === null ? {} : { messageId: recorded.uuid }),
      },
      { scopes: homeScopes, maxTurnCharacters },
    )
    const count = (outcome: string): number => turns.filter((one) => one.outcome === outcome).length
    return { ...nothing, kept: count('kept'), refused: count('refused'), learned: taken.length }
  }

  /** What is new may wait for the next time: only a little is worked out now, newest first. */
  async #embedNew(): Promise<void> {
    if (!this.#session.settings({ dir: this.#dir }).sentenceVectors) return
    for (const memory of this.#memories.values()) await (await memory).embedTurns({ limit: 50 })
  }

  #memory({ user, scopes, host }: QueuedTurn): Promise<Memory> {
    const key = JSON.stringify([user, scopes, host])
    const known = this.#memories.get(key)
    if (known !== undefined) return known
    const author = { actor: 'person', origin: host } as const
    const memory = this.#session.memory({ dir: this.#dir, user, scope: scopes, as: author })
    this.#memories.set(key, memory)
    return memory
  }

  async #forgetOld(): Promise<void> {
    const { keepTurnsDays } = this.#session.settings({ dir: this.#dir })
    for (const memory of this.#memories.values()) await forgetOldTurns(await memory, keepTurnsDays, new Date())
  }
}

const longestSession = 200
