import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { masked } from '../../memory/learn/secrets.ts'
import type { QueuedTurn } from './hook-queue.ts'

/** One message of a transcript of Claude Code. */
export type TranscriptMessage = {
  readonly uuid: string
  readonly role: 'user' | 'assistant'
  readonly text: string
  /** When it was written; null where the line does not say. */
  readonly at: number | null
}

/** Only the end of a transcript is read: the message was said just now. */
const tailBytes = 8 * 1024 * 1024
/** The host writes a message a moment after its hooks have run. */
const longestWaitMs = 2_000
const betweenLooksMs = 100
/** The clocks of hook and host may differ by this much. */
const clockSlackMs = 2_000

/** Waits until a queued turn appears in the transcript; null when it does not. */
export async function findInTranscript(
  file: string,
  turn: Pick<QueuedTurn, 'role' | 'text' | 'at'>,
  now: () => number,
): Promise<TranscriptMessage | null> {
  const saidAt = Date.parse(turn.at)
  for (;;) {
    const found = messagesAtEnd(file).findLast(
      ({ role, text, at }) =>
        role === turn.role &&
        (turn.text === null ? at === null || at <= saidAt + clockSlackMs : masked(text).trim() === turn.text.trim()),
    )
    if (found !== undefined) return found
    if (now() - saidAt > longestWaitMs) return null
    await wait(betweenLooksMs)
  }
}

/** The messages at the end of a transcript, oldest first; none when there is no such file. */
export function messagesAtEnd(file: string): readonly TranscriptMessage[] {
  let descriptor: number
  try {
    descriptor = openSync(file, 'r')
  } catch {
    // The host makes the file with its first message.
    return []
  }
  try {
    const { size } = fstatSync(descriptor)
    const bytes = Buffer.alloc(Math.min(size, tailBytes))
    const read = readSync(descriptor, bytes, 0, bytes.length, size - bytes.length)
    return bytes.subarray(0, read).toString('utf8').split('\n').flatMap(messageIn)
  } finally {
    closeSync(descriptor)
  }
}

/** A line of the transcript, when it is a message of the conversation: no tool's result, and nothing of a subagent. */
function messageIn(line: string): readonly TranscriptMessage[] {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    // The end of a line that began before the part that was read, or one that is still being written.
    return []
  }
  if (!isRecord(value) || value.isSidechain === true || value.isMeta === true || !isRecord(value.message)) return []
  const { type, uuid, timestamp } = value
  if ((type !== 'user' && type !== 'assistant') || typeof uuid !== 'string') return []
  const text = textOf(value.message.content)
  const at = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN
  return text === '' ? [] : [{ uuid, role: type, text, at: Number.isNaN(at) ? null : at }]
}

/** A content is a text, or a list of blocks, of which only the text blocks count. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .flatMap((block) =>
      isRecord(block) && block.type === 'text' && typeof block.text === 'string' ? [block.text] : [],
    )
    .join('\n\n')
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
