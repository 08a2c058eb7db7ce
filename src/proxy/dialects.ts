import { isSaidByPerson } from '../beliefs/turn.ts'
import { isObject, type JsonObject } from '../json.ts'
import { objectsIn, stringIn, textsIn } from '../memory/transfer/chats/chat.ts'
import type { Insertion, JsonSpans, Span } from './json-spans.ts'

/** A message of the history that a request carries. */
export type HistoryMessage = {
  readonly role: 'user' | 'assistant'
  /** The text that the person wrote or that the model answered. */
  readonly text: string
  /** Whether the person may have typed it: it is one text, which the client does not mark. Of several, any may be a document. */
  readonly isTyped: boolean
  /** The author that the client names; null for none. */
  readonly author: string | null
  /** Makes room for a block after the person's own text; null for messages that take none. */
  readonly insert: ((block: string) => readonly Insertion[]) | null
}

export type RequestConversation = {
  readonly messages: readonly HistoryMessage[]
  /** The id by which the service knows what came before, where the client does not send it again. */
  readonly continues: string | null
}

export type ModelAnswer = {
  readonly text: string
  /** The id with which a client may refer to this answer. */
  readonly id: string | null
  readonly isComplete: boolean
}

/** One of the protocols by which clients talk to models. */
export type Dialect = {
  readonly name: 'chat-completions' | 'responses' | 'messages'
  /** The end of the path that its requests go to. */
  readonly route: string
  /** The conversation in the body of a request; null when it has none that is understood. */
  readonly read: (body: JsonObject, spans: JsonSpans) => RequestConversation | null
  /** The answer in the events of a stream, or in one JSON document. */
  readonly answerIn: (documents: readonly JsonObject[], isStream: boolean) => ModelAnswer
}

const messageTextOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Adds a part with the block to a content that is a list, or makes a list of a content that is one text. */
function insertPart(spans: JsonSpans, content: Span, type: string): NonNullable<HistoryMessage['insert']> {
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

/** The messages in a list of the body; `insert` makes room in the content of the person's messages. */
function messagesIn(
  body: JsonObject,
  spans: JsonSpans,
  { list: name, types, insert }: { list: string; types: string[]; insert: (content: Span) => HistoryMessage['insert'] },
): readonly HistoryMessage[] | null {
  const [list, given] = [spans.member(spans.root(), name), body[name]]
  if (list === null || !Array.isArray(given)) return null
  return spans.elements(list).flatMap((span, index): readonly HistoryMessage[] => {
    const message: unknown = given[index]
    if (!isObject(message) || (message.type ?? 'message') !== 'message') return []
    const texts = textsIn(message.content, types)
    if (message.role === 'assistant')
      return [{ role: 'assistant', text: texts.join('\n\n'), isTyped: false, author: null, insert: null }]
    if (message.role !== 'user') return []
    const content = spans.member(span, 'content')
    const { text, isTyped } = ownText(texts)
    return [
      {
        role: 'user',
        text,
        isTyped: isTyped && !objectsIn(message.content).some(isMarked),
        author: stringIn(message.name),
        insert: content === null ? null : insert(content),
      },
    ]
  })
}

const fieldsOfTypedText = ['type', 'text', 'cache_control']

/** Whether a client adds fields to a text, such as a title or a source: then it is a document. */
const isMarked = (part: JsonObject): boolean =>
  typeof part.text === 'string' && Object.keys(part).some((field) => !fieldsOfTypedText.includes(field))

/** The history of a request that has it in `messages`. */
function historyIn(body: JsonObject, spans: JsonSpans, insert: (content: Span) => HistoryMessage['insert']) {
  const messages = messagesIn(body, spans, { list: 'messages', types: ['text'], insert })
  return messages === null ? null : { messages, continues: null }
}

/** OpenAI's Chat Completions, which most other services and local servers speak too. */
export const chatCompletions: Dialect = {
  name: 'chat-completions',
  route: '/chat/completions',
  read: (body, spans) => historyIn(body, spans, (content) => insertText(spans, content)),
  answerIn: (documents, isStream) => {
    const choices = documents.flatMap(({ choices }) => objectsIn(choices)).filter(({ index = 0 }) => index === 0)
    const pieces = choices.map(({ delta, message }) => (isStream ? delta : message)).filter(isObject)
    return {
      text: pieces.map(({ content }) => messageTextOf(content)).join(''),
      id: null,
      isComplete: choices.some(({ finish_reason: reason }) => typeof reason === 'string'),
    }
  },
}

/** A content that is one text stays one: many servers of this protocol take no lists. */
function insertText(spans: JsonSpans, content: Span): HistoryMessage['insert'] {
  if (!spans.isString(content)) return insertPart(spans, content, 'text')
  return (block) => [{ at: content.end - 1, text: JSON.stringify(`\n\n${block}`).slice(1, -1) }]
}

/** Anthropic's Messages. Results of tools come as messages of the user, which hold no text of theirs. */
export const messages: Dialect = {
  name: 'messages',
  route: '/messages',
  read: (body, spans) => historyIn(body, spans, (content) => insertPart(spans, content, 'text')),
  answerIn: (documents, isStream) => {
    if (!isStream) {
      const [answer = {}] = documents
      const text = textsIn(answer.content, ['text']).join('\n\n')
      return { text, id: null, isComplete: typeof answer.stop_reason === 'string' }
    }
    const texts = new Map<unknown, string>()
    for (const { type, index, content_block: block, delta } of documents) {
      if (type === 'content_block_start' && isObject(block) && block.type === 'text')
        texts.set(index, messageTextOf(block.text))
      if (type === 'content_block_delta' && isObject(delta) && delta.type === 'text_delta')
        texts.set(index, `${texts.get(index) ?? ''}${messageTextOf(delta.text)}`)
    }
    const written = objectsIn(documents).some(({ type }) => type === 'message_stop')
    return { text: [...texts.values()].filter((text) => text !== '').join('\n\n'), id: null, isComplete: written }
  },
}

/** OpenAI's Responses. What came before is in `input`, or the service keeps it and the request names it. */
export const responses: Dialect = {
  name: 'responses',
  route: '/responses',
  read: (body, spans) => {
    const input = spans.member(spans.root(), 'input')
    if (input === null) return null
    const { previous_response_id: previous, conversation } = body
    const kept = isObject(conversation) ? conversation.id : conversation
    const continues = typeof previous === 'string' ? previous : typeof kept === 'string' ? kept : null
    if (typeof body.input === 'string') {
      const part = insertPart(spans, input, 'input_text')
      const insert: HistoryMessage['insert'] = (block) => {
        const [open, close] = part(block)
        if (open === undefined || close === undefined) return []
        return [
          { at: open.at, text: `[{"role":"user","content":${open.text}` },
          { at: close.at, text: `${close.text}}]` },
        ]
      }
      return { messages: [{ role: 'user', ...ownText([body.input]), author: null, insert }], continues }
    }
    const types = ['input_text', 'output_text', 'text']
    const insert = (content: Span) => insertPart(spans, content, 'input_text')
    const messages = messagesIn(body, spans, { list: 'input', types, insert })
    return messages === null ? null : { messages, continues }
  },
  answerIn: (documents, isStream) => {
    const whole = isStream ? documents.map(({ response }) => response).filter(isObject) : documents
    const [first, last] = [whole[0], whole.at(-1)]
    const id = typeof first?.id === 'string' ? first.id : null
    const isComplete = last?.status === 'completed' || last?.status === 'incomplete'
    if (last !== undefined && isComplete) {
      const text = outputOf(last)
      if (text !== '') return { text, id, isComplete }
    }
    const deltas = documents.filter(({ type }) => type === 'response.output_text.delta')
    return { text: deltas.map(({ delta }) => messageTextOf(delta)).join(''), id, isComplete }
  },
}

const outputOf = ({ output }: JsonObject): string =>
  objectsIn(output)
    .filter(({ type }) => type === 'message')
    .flatMap(({ content }) => textsIn(content, ['output_text']))
    .join('\n\n')

/** The texts of a message that the person wrote, without those that a program added. */
function ownText(texts: readonly string[]): Pick<HistoryMessage, 'text' | 'isTyped'> {
  const own = texts
    .filter(isSaidByPerson)
    .map((text) => text.trim())
    .filter((text) => text !== '')
  return { text: own.join('\n\n'), isTyped: own.length < 2 }
}
