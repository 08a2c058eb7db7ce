import type { Insertion, JsonSpans, Span } from '../json-spans.ts'

/** A message of the history that a request carries. */
export type HistoryMessage = {
  readonly role: 'user' | 'assistant'
  /** The text that the person wrote or that the model answered. */
  readonly text: string
  /** Makes room for a block after the person's own text; null for messages that take none. */
  readonly insert: ((block: string) => readonly Insertion[]) | null
}

/** The conversation in a request. */
export type Conversation = {
  readonly messages: readonly HistoryMessage[]
  /** The id by which the service knows what came before, where the client does not send it again. */
  readonly continues: string | null
}

/** What the service answered. */
export type Answer = {
  readonly text: string
  /** The id with which a client may refer to this answer. */
  readonly id: string | null
  /** Whether the answer came to its end. */
  readonly isComplete: boolean
}

/** One of the protocols by which clients talk to models. */
export type Dialect = {
  readonly name: 'chat-completions' | 'responses' | 'messages'
  /** The end of the path that its requests go to. */
  readonly route: string
  /** The conversation in the body of a request; null when it has none that is understood. */
  readonly read: (body: JsonObject, spans: JsonSpans) => Conversation | null
  /** The answer in the events of a stream, or in one JSON document. */
  readonly answerIn: (documents: readonly JsonObject[], isStream: boolean) => Answer
}

export type JsonObject = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

export const objectsIn = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** The texts of a content: a string, or a list of parts of which those of the given types count. */
export const textsIn = (content: unknown, types: readonly string[]): readonly string[] =>
  typeof content === 'string'
    ? [content]
    : objectsIn(content).flatMap(({ type, text }) =>
        typeof type === 'string' && types.includes(type) && typeof text === 'string' ? [text] : [],
      )

/** Adds a part with the block to a content that is a list, or makes a list of a content that is one text. */
export function insertPart(spans: JsonSpans, content: Span, type: string): NonNullable<HistoryMessage['insert']> {
  const part = (text: string): string => `{"type":"${type}","text":${text}}`
  return (block) => {
    const added = part(JSON.stringify(block))
    if (spans.isString(content))
      return [
        { at: content.start, text: `[{"type":"${type}","text":` },
        { at: content.end, text: `},${added}]` },
      ]
    return [{ at: content.end - 1, text: `${spans.elements(content).length === 0 ? '' : ','}${added}` }]
  }
}
