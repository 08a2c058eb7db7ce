import type { TurnRole } from '../../../beliefs/turn.ts'
import { isObject, type JsonObject } from '../../../json.ts'
import { offsetIn, withOffset } from '../../../local-time.ts'
import type { HeardTurn } from '../../conversation/hear.ts'

/** The formats of conversation files, named after the programs that write them; `jsonl` is our own. */
export const chatFormats = [
  'claude-code',
  'codex',
  'gemini',
  'opencode',
  'openclaw',
  'cursor',
  'chatgpt',
  'claude',
  'jsonl',
] as const
export type ChatFormat = (typeof chatFormats)[number]

/** A turn in a file, and the working directory of the conversation, if the file records it. */
export type ChatTurn = {
  readonly turn: HeardTurn
  readonly directory: string | null
  /** Set for one half of a tool step. The message id is the id of the step. */
  readonly step?: 'call' | 'result' | undefined
}

export const objectsIn = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

export const stringIn = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** A time as ISO 8601, from a text (whose UTC offset is kept), from seconds or from milliseconds; null if it is invalid. */
export function timeIn(value: unknown): string | null {
  const time = typeof value === 'number' ? new Date(value < 1e11 ? value * 1_000 : value) : new Date(String(value))
  return value === null || value === undefined || Number.isNaN(time.getTime())
    ? null
    : withOffset(time.toISOString(), offsetIn(String(value)))
}

/** The texts in the content of a message, which is one text or a list of parts. */
export function textsIn(content: unknown, types: readonly string[]): readonly string[] {
  if (typeof content === 'string') return [content]
  return objectsIn(content).flatMap(({ type, text }) =>
    typeof text === 'string' && types.includes(String(type)) ? [text] : [],
  )
}

export type ChatPart = {
  readonly role: TurnRole
  readonly text: string
  readonly id: string | null
  readonly step?: ChatTurn['step']
}
type Place = {
  readonly host: string
  readonly session: string | null
  readonly at: string | null
  readonly directory?: string | null
}

/** The turns of one record that have a text. */
export const turnsOf = (
  { host, session, at, directory = null }: Place,
  said: readonly ChatPart[],
): readonly ChatTurn[] =>
  said
    .filter(({ text }) => text.trim() !== '')
    .map(({ role, text, id, step }) => ({
      directory,
      step,
      turn: {
        text,
        role,
        host,
        ...(session === null ? {} : { session: session.slice(0, maxNameLength) }),
        ...(at === null ? {} : { at }),
        ...(id === null ? {} : { messageId: id.slice(0, maxNameLength) }),
      },
    }))

const maxNameLength = 200

/** One half of a tool step. */
export const stepHalf = (step: 'call' | 'result', id: unknown, text: string): ChatPart => ({
  role: 'tool',
  id: stringIn(id),
  text,
  step,
})

/** A tool call as text: the name of the tool and its input. */
export const toolCall = (name: unknown, input: unknown): string =>
  `${typeof name === 'string' ? name : 'tool'} ${typeof input === 'string' ? input : (JSON.stringify(input) ?? '')}`

/** The result of a tool as text. `content` is a text, or a list of parts with texts. */
export const toolResult = (content: unknown): string =>
  textsIn(content, ['text', 'input_text', 'output_text']).join('\n\n')

/** Max characters of a step. Longer ones are cut in the middle, because they are files or logs that are stored elsewhere. */
const maxStepLength = 4_000

/**
 * Joins a tool call and its result into one turn, so that hooks and imports store the same turn for a step. Calls to Credence are
 * left out with their results, so that an answer of the memory is not stored again.
 */
export class StepJoiner {
  /** Calls without a result so far, by id; null for a call to Credence. */
  readonly #calls = new Map<string, ChatTurn | null>()

  take(one: ChatTurn): readonly ChatTurn[] {
    const { turn, step } = one
    const { messageId } = turn
    if (step === undefined || messageId === undefined) return [one]
    if (step === 'call') {
      const isOwn = /(?:^|_)credence(?:_|\.|$)/.test(turn.text.split(' ', 1)[0] ?? '')
      this.#calls.set(messageId, isOwn ? null : one)
      return []
    }
    const call = this.#calls.get(messageId)
    if (call === null) return []
    this.#calls.delete(messageId)
    const text = call === undefined ? turn.text : `${call.turn.text}\n${turn.text}`
    return [{ ...one, turn: { ...call?.turn, ...turn, text: shortenStep(text) } }]
  }

  /** The calls that have no result. */
  rest(): readonly ChatTurn[] {
    return [...this.#calls.values()].flatMap((call) =>
      call === null ? [] : [{ ...call, turn: { ...call.turn, text: shortenStep(call.turn.text) } }],
    )
  }
}

const shortenStep = (text: string): string =>
  text.length <= maxStepLength
    ? text
    : `${text.slice(0, (maxStepLength * 3) / 4)}\n[… ${text.length - maxStepLength} characters …]\n${text.slice(-maxStepLength / 4)}`.toWellFormed()
