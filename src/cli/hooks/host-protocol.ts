import type { Readable } from 'node:stream'
import { MemoryError } from '../../errors.ts'

/** The programs whose hooks are understood. */
export const hookHosts = ['claude-code', 'codex', 'cursor'] as const
export type HookHost = (typeof hookHosts)[number]

/** What happened in a host; the last one is no host's: the others start it when a message waits to be heard. */
export const hookEvents = ['session-start', 'prompt-submit', 'stop', 'pre-compact', 'hear'] as const
export type HookEvent = (typeof hookEvents)[number]

/** What each host calls it. Claude Code and Codex share their names. */
const ownNames: Readonly<Record<HookEvent, readonly string[]>> = {
  'session-start': ['SessionStart', 'sessionStart'],
  'prompt-submit': ['UserPromptSubmit', 'beforeSubmitPrompt'],
  stop: ['Stop'],
  'pre-compact': ['PreCompact', 'preCompact'],
  hear: [],
}

/** An event by our name or by its host's. */
export const hookEventNamed = (name: string): HookEvent | undefined =>
  hookEvents.find((event) => event === name || ownNames[event].includes(name))

/**
 * What a host is to be told, as it wants to be told; empty for nothing. Codex refuses answers with anything more in them
 * than it knows, and takes context at two events only; Cursor takes it at one, and wants a word at another. `notice` is for
 * the person.
 */
export function hookAnswer(host: HookHost, event: HookEvent, context: string, notice = ''): string {
  const line = (answer: object): string => `${JSON.stringify(answer)}\n`
  if (host === 'cursor') {
    if (event === 'prompt-submit') return line({ continue: true, ...(notice === '' ? {} : { user_message: notice }) })
    return event === 'session-start' && context !== '' ? line({ additional_context: context }) : ''
  }
  const additionalContext = `${notice}${context}`
  if (additionalContext === '') return ''
  const [hookEventName] = ownNames[event]
  return line({ hookSpecificOutput: { hookEventName, additionalContext } })
}

/** What a host says about the moment. Everything it also says is of no interest here. */
export type HookPayload = {
  readonly directory: string | null
  readonly prompt: string
  readonly session: string | null
  /** The answer that has just ended, where the host gives it. */
  readonly answer: string | null
  /** The file in which the host records the conversation. */
  readonly transcript: string | null
}

/** More is no message of a conversation. */
const largestPayload = 64 * 1024 * 1024

/** Reads what a host sends, until its end or until `signal`, whichever comes first. */
export async function readPayload(stdin: Readable, signal: AbortSignal): Promise<HookPayload> {
  const chunks: Buffer[] = []
  let size = 0
  const stop = (): void => void stdin.destroy()
  signal.addEventListener('abort', stop, { once: true })
  try {
    for await (const chunk of stdin) {
      const bytes = Buffer.from(chunk)
      size += bytes.length
      if (size > largestPayload) throw new MemoryError('invalid', `The input has more than ${largestPayload} bytes.`)
      chunks.push(bytes)
    }
  } catch (error) {
    if (signal.aborted) throw tooLate()
    throw error
  } finally {
    signal.removeEventListener('abort', stop)
    stdin.destroy()
  }
  if (signal.aborted) throw tooLate()
  return parsePayload(Buffer.concat(chunks).toString('utf8'))
}

const tooLate = (): MemoryError => new MemoryError('unavailable', 'The input did not end in time.')

/** Claude Code and Codex give `cwd`, Cursor gives the roots of its workspace. */
export function parsePayload(text: string): HookPayload {
  let value: unknown
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ''))
  } catch (cause) {
    throw new MemoryError('invalid', 'The input is not JSON.', { cause })
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new MemoryError('invalid', 'The input is not an object.')
  const given = new Map(Object.entries(value))
  const roots = given.get('workspace_roots')
  return {
    directory: textIn(given.get('cwd')) ?? (Array.isArray(roots) ? textIn(roots[0]) : null),
    prompt: textIn(given.get('prompt')) ?? '',
    session: textIn(given.get('session_id')) ?? textIn(given.get('conversation_id')),
    answer: textIn(given.get('last_assistant_message')),
    transcript: textIn(given.get('transcript_path')),
  }
}

const textIn = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)
