import { MemoryError } from '../../errors.ts'
import { noUsage, type Usage } from '../../models/chat-model.ts'
import type { SessionRecord } from '../evidence.ts'
import type { TaskSession } from '../task.ts'

/** A session before anybody came to it. */
export const notReached = (session: TaskSession, index: number): SessionRecord => ({
  id: session.id,
  index,
  prompt: session.prompt,
  isFresh: session.isFresh,
  conversationId: null,
  process: null,
  priorMessages: null,
  outcome: 'not_reached',
  problem: null,
  answer: null,
  transcript: null,
  toolCalls: 0,
  usage: noUsage,
  startedAt: null,
  endedAt: null,
  deadlineMs: null,
})

export const totalOf = (records: readonly SessionRecord[]): Usage =>
  records.reduce(
    (total, { usage }) => ({
      input: total.input + usage.input,
      output: total.output + usage.output,
      cacheRead: total.cacheRead + usage.cacheRead,
      cacheWrite: total.cacheWrite + usage.cacheWrite,
    }),
    noUsage,
  )

/** What went wrong, for a person. */
export function sentenceOf(error: unknown): string {
  if (error instanceof MemoryError && error.hint !== undefined) return `${error.message} ${error.hint}`
  return error instanceof Error ? error.message : String(error)
}
