import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import type { TurnRole } from '../../beliefs/turn.ts'
import { isObject, parseJson } from '../../json.ts'
import { maskSecrets } from '../../memory/learn/secrets.ts'
import { claudeCode, codex } from '../../memory/transfer/chats/agent-sessions.ts'
import { StepJoiner } from '../../memory/transfer/chats/chat.ts'
import { clockSlackMs, type QueuedTurn } from './hook-queue.ts'

/** A message in a transcript of Claude Code or Codex, or a tool step: the call and its result. */
export type HostMessage = {
  readonly uuid: string
  readonly role: TurnRole
  readonly text: string
  /** When it was written; null if unknown. */
  readonly at: number | null
}

/** Only the end of a transcript is read, because the message is recent. */
const tailBytes = 8 * 1024 * 1024
/** How long to wait for a message, which the host writes shortly after running its hooks. */
const maxWaitMs = 2_000
const betweenLooksMs = 100

/** Waits for a queued turn to appear in the transcript; null on timeout. */
export async function findInTranscript(
  file: string,
  turn: Pick<QueuedTurn, 'role' | 'text' | 'at' | 'after'>,
  now: () => number,
): Promise<HostMessage | null> {
  const saidAt = Date.parse(turn.at)
  const isInTime = (at: number | null): boolean => at === null || at <= saidAt + clockSlackMs
  for (;;) {
    const messages = messagesAtEnd(file)
    const found = (turn.after === undefined ? messages : turnSince(messages, turn.after)).findLast(
      ({ role, text, at }) =>
        role === turn.role && (turn.text === null ? isInTime(at) : maskSecrets(text).trim() === turn.text.trim()),
    )
    if (found !== undefined) return found
    if (now() - saidAt > maxWaitMs) return null
    await wait(betweenLooksMs)
  }
}

/**
 * The messages from a prompt up to the next one. The hooks may not have seen that next prompt: they may have been
 * switched off, or it was sent in a directory with a different memory. Hosts record a prompt before or after its hook.
 */
function turnSince(messages: readonly HostMessage[], prompted: string): readonly HostMessage[] {
  const later = messages.filter(({ at }) => at === null || at >= Date.parse(prompted))
  const next = later.findIndex(({ role }, index) => index > 0 && role === 'user')
  return later.slice(0, next < 0 ? undefined : next)
}

/** The tool steps between an answer and the prompt before it, oldest first, without those of Credence itself. */
export function stepsBefore(file: string, answer: HostMessage): readonly HostMessage[] {
  const messages = messagesAtEnd(file)
  const end = messages.findLastIndex(({ uuid }) => uuid === answer.uuid)
  const before = messages.slice(0, Math.max(0, end))
  const start = before.findLastIndex(({ role }) => role === 'user')
  return before
    .slice(start + 1)
    .filter(({ role }) => role === 'tool')
    .slice(-maxSteps)
}

const maxSteps = 50

/** The size of the end of a transcript that is read before each tool use. */
const lastStepBytes = 256 * 1024

/** The last tool step with a result: the call, a line break, the result. */
export const lastStepIn = (file: string): HostMessage | undefined =>
  messagesAtEnd(file, lastStepBytes).findLast(({ role, text }) => role === 'tool' && text.includes('\n'))

/** The messages and steps at the end of a transcript, oldest first; empty if there is no such file. */
function messagesAtEnd(file: string, maxBytes = tailBytes): readonly HostMessage[] {
  const lines = tailOf(file, maxBytes).split('\n').map(parseJson).filter(isObject)
  const read = lines.some(({ type }) => type === 'response_item') ? codex() : claudeCode()
  const steps = new StepJoiner()
  const turns = lines.flatMap(read).flatMap((turn) => steps.take(turn))
  const messages = new Map<string, HostMessage>()
  for (const { turn } of [...turns, ...steps.rest()]) {
    const { messageId: uuid, role = 'user', text } = turn
    if (uuid !== undefined)
      messages.set(uuid, { uuid, role, text, at: turn.at === undefined ? null : Date.parse(turn.at) })
  }
  return [...messages.values()]
}

/** The last part of a file; empty if there is no such file. */
function tailOf(file: string, maxBytes: number): string {
  let descriptor: number
  try {
    descriptor = openSync(file, 'r')
  } catch {
    // The host creates the file with its first message.
    return ''
  }
  try {
    const { size } = fstatSync(descriptor)
    const bytes = Buffer.alloc(Math.min(size, maxBytes))
    const read = readSync(descriptor, bytes, 0, bytes.length, size - bytes.length)
    return bytes.toString('utf8', 0, read)
  } finally {
    closeSync(descriptor)
  }
}
