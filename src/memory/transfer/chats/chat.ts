import type { TurnRole } from '../../../beliefs/turn.ts'
import { isObject, type JsonObject } from '../../../json.ts'
import { offsetIn, withOffset } from '../../../local-time.ts'
import type { HeardTurn } from '../../conversation/hear.ts'

/** The program that wrote a file of conversations. */
export const chatFormats = ['claude-code', 'codex', 'openclaw', 'chatgpt', 'claude', 'jsonl'] as const
export type ChatFormat = (typeof chatFormats)[number]

/** A turn of a file, and the working directory of the conversation, if the file records it. */
export type ChatTurn = { readonly turn: HeardTurn; readonly directory: string | null }

export const objectsIn = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

export const stringIn = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** A time as ISO 8601, with the UTC offset of a text: of a text, of seconds or of milliseconds; null if it is none. */
export function timeIn(value: unknown): string | null {
  const time = typeof value === 'number' ? new Date(value < 1e11 ? value * 1_000 : value) : new Date(String(value))
  return value === null || value === undefined || Number.isNaN(time.getTime())
    ? null
    : withOffset(time.toISOString(), offsetIn(String(value)))
}

/** The texts of a content that is one text, or a list of parts with texts. */
export function textsIn(content: unknown, types: readonly string[]): readonly string[] {
  if (typeof content === 'string') return [content]
  return objectsIn(content).flatMap(({ type, text }) =>
    typeof text === 'string' && types.includes(String(type)) ? [text] : [],
  )
}

type Said = { readonly role: TurnRole; readonly text: string; readonly id: string | null }
type Place = {
  readonly host: string
  readonly session: string | null
  readonly at: string | null
  readonly directory?: string | null
}

/** Turns of one record, those without a text left out. */
export const turnsOf = ({ host, session, at, directory = null }: Place, said: readonly Said[]): readonly ChatTurn[] =>
  said
    .filter(({ text }) => text.trim() !== '')
    .map(({ role, text, id }) => ({
      directory,
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

/** One step of a tool: its name and its input. */
export const toolCall = (name: unknown, input: unknown): string =>
  `${typeof name === 'string' ? name : 'tool'} ${typeof input === 'string' ? input : (JSON.stringify(input) ?? '')}`

/** The answer of a tool: a text, or a list of parts with texts. */
export const toolResult = (content: unknown): string =>
  textsIn(content, ['text', 'input_text', 'output_text']).join('\n\n')
