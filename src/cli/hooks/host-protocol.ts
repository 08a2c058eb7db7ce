import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { withoutHookContext } from '../../beliefs/turn.ts'
import { MemoryError } from '../../errors.ts'
import { isObject, type JsonObject, parseObject } from '../../json.ts'

/** The programs whose hooks are supported. */
export const hookHosts = ['claude-code', 'codex', 'gemini', 'opencode', 'cursor', 'vscode'] as const
export type HookHost = (typeof hookHosts)[number]

/** The events of hosts, and `hear`, which hooks start in the background to process the queue. */
export const hookEvents = ['session-start', 'prompt-submit', 'pre-tool', 'stop', 'pre-compact', 'hear'] as const
export type HookEvent = (typeof hookEvents)[number]

/** The hosts' names for the events; Claude Code and Codex use the first. */
const hostNames: Readonly<Record<HookEvent, readonly string[]>> = {
  'session-start': ['SessionStart', 'sessionStart'],
  'prompt-submit': ['UserPromptSubmit', 'beforeSubmitPrompt', 'BeforeAgent'],
  'pre-tool': ['PreToolUse'],
  stop: ['Stop', 'AfterAgent'],
  'pre-compact': ['PreCompact', 'preCompact', 'PreCompress', 'SessionEnd'],
  hear: [],
}

/** Finds an event by our name or a host's name for it. */
export const hookEventNamed = (name: string): HookEvent | undefined =>
  hookEvents.find((event) => event === name || hostNames[event].includes(name))

/**
 * The answer in the host's format; empty for no answer. Codex refuses unknown fields, and accepts context for three events
 * only. `notice` is added to the context, because Cursor shows the person a message only if the hook stops the prompt.
 */
export function hookAnswer(host: HookHost, event: HookEvent, context: string, notice = ''): string {
  const line = (answer: object): string => `${JSON.stringify(answer)}\n`
  if (host === 'cursor') {
    const additional_context = `${notice}${context}`
    if (event === 'prompt-submit')
      return line({ continue: true, ...(additional_context === '' ? {} : { additional_context }) })
    return event === 'session-start' && additional_context !== '' ? line({ additional_context }) : ''
  }
  const additionalContext = `${notice}${context}`
  if (additionalContext === '') return ''
  const [usual] = hostNames[event]
  const hookEventName = host === 'gemini' && event === 'prompt-submit' ? 'BeforeAgent' : usual
  return line({ hookSpecificOutput: { hookEventName, additionalContext } })
}

/** The fields of the host's input that hooks need. */
export type HookPayload = {
  /** VS Code also runs the hooks in Claude Code's settings, but sends some field names in camel case. */
  readonly isFromVsCode: boolean
  /** A digest that is equal for all hooks of one event, and too short for guessing a message from it. */
  readonly digest: string
  readonly directory: string | null
  readonly prompt: string
  readonly session: string | null
  /** The answer that has just been completed, if the host sends it. */
  readonly answer: string | null
  /** The file in which the host records the conversation. */
  readonly transcript: string | null
  /** The input of the tool that is about to run. */
  readonly tool: JsonObject | null
}

const maxPayloadBytes = 64 * 1024 * 1024

/** Reads the host's input to its end; null if `signal` aborts first. */
export async function readPayload(stdin: Readable, signal: AbortSignal): Promise<HookPayload | null> {
  const chunks: Buffer[] = []
  let size = 0
  const stop = (): void => void stdin.destroy()
  signal.addEventListener('abort', stop, { once: true })
  try {
    for await (const chunk of stdin) {
      const bytes = Buffer.from(chunk)
      size += bytes.length
      if (size > maxPayloadBytes) throw new MemoryError('invalid', `The input has more than ${maxPayloadBytes} bytes.`)
      chunks.push(bytes)
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    signal.removeEventListener('abort', stop)
    stdin.destroy()
  }
  return signal.aborted ? null : parsePayload(Buffer.concat(chunks).toString('utf8'))
}

/** Parses the host's input. Claude Code and Codex send `cwd`; Cursor sends the roots of its workspace. */
function parsePayload(text: string): HookPayload {
  let value: unknown
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ''))
  } catch (cause) {
    throw new MemoryError('invalid', 'The input is not JSON.', { cause })
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new MemoryError('invalid', 'The input is not an object.')
  const given = new Map(Object.entries(value))
  const field = (name: string): string | null => textIn(given.get(name))
  const roots = given.get('workspace_roots')
  const fields = {
    directory: field('cwd') ?? (Array.isArray(roots) ? textIn(roots[0]) : null),
    prompt: withoutHookContext(field('prompt') ?? ''),
    session: field('session_id') ?? field('conversation_id') ?? field('sessionId'),
    answer: field('last_assistant_message') ?? field('prompt_response'),
    transcript: field('transcript_path'),
    tool: objectIn(given.get('tool_input')),
  }
  // Only `source` distinguishes the start of a session from a compaction.
  const told = JSON.stringify([fields, field('source')])
  return {
    ...fields,
    isFromVsCode: given.has('hookEventName'),
    digest: createHash('sha256').update(told).digest('hex').slice(0, 4),
  }
}

/** An object; hosts that call a tool may send it as JSON text. */
const objectIn = (value: unknown): JsonObject | null =>
  isObject(value) ? value : typeof value === 'string' ? parseObject(value) : null

const textIn = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)
