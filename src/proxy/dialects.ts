import { isSaidByPerson } from '../beliefs/turn.ts'
import { isObject, type JsonObject } from '../json.ts'
import { objectsIn, stringIn, textsIn } from '../memory/transfer/chats/chat.ts'

/** A message of the history in a request. */
export type HistoryMessage = {
  readonly role: 'user' | 'assistant'
  /** The person's text or the model's answer. */
  readonly text: string
  /**
   * Whether the person may have typed the text: it is the only one and unmarked. If there are several texts, any may be a document; next to
   * a tool result, a text may be the client's.
   */
  readonly isTyped: boolean
  /** The author named by the client; null if none is named. */
  readonly author: string | null
  /** Adds a block after the person's text, in the parsed body. Must be called only for the person's messages that have a text. */
  readonly add: (block: string) => void
}

export type RequestConversation = {
  readonly messages: readonly HistoryMessage[]
  /** The service's id for the earlier messages, if the client does not send them again. */
  readonly continues: string | null
  /** The name that the client gives the conversation. */
  readonly session?: string | undefined
}

export type ModelAnswer = {
  readonly text: string
  /** The id with which a client may refer to this answer. */
  readonly id: string | null
  readonly isComplete: boolean
}

/** The parsed body of a request, which `HistoryMessage.add` changes. */
export type RequestBody = Record<string, unknown>

/** A protocol between clients and models. */
export type Dialect = {
  /** The end of the URL path of its requests. */
  readonly route: string
  /** Reads the conversation from the body of a request; null if the body is not understood. */
  readonly read: (body: RequestBody) => RequestConversation | null
  /** Reads the answer from the events of a stream, or from one JSON document. */
  readonly answerIn: (documents: readonly JsonObject[], isStream: boolean) => ModelAnswer
}

const messageTextOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Adds a block to the content of a message. */
type WithBlock = (content: unknown, block: string) => unknown

/** Adds the block as the last part of a list. */
const withPart =
  (type: string): WithBlock =>
  (content, block) => [...(Array.isArray(content) ? content : [{ type, text: content }]), { type, text: block }]

/** Appends the block to a content that is a plain text, because many servers for this protocol do not accept lists. */
const withText: WithBlock = (content, block) =>
  typeof content === 'string' ? `${content}\n\n${block}` : withPart('text')(content, block)

/** The messages of the person and the model in a list from the body. */
function messagesIn(list: unknown, types: readonly string[], withBlock: WithBlock): readonly HistoryMessage[] | null {
  if (!Array.isArray(list)) return null
  return list.flatMap((message: unknown): readonly HistoryMessage[] => {
    if (!isObject(message) || (message.type ?? 'message') !== 'message') return []
    const texts = textsIn(message.content, types)
    if (message.role === 'assistant')
      return [{ role: 'assistant', text: texts.join('\n\n'), isTyped: false, author: null, add: () => {} }]
    if (message.role !== 'user') return []
    const { text, isTyped } = ownText(texts)
    return [
      {
        role: 'user',
        text,
        isTyped: isTyped && !objectsIn(message.content).some((part) => isMarked(part) || part.type === 'tool_result'),
        author: stringIn(message.name),
        add: (block) => Object.assign(message, { content: withBlock(message.content, block) }),
      },
    ]
  })
}

const fieldsOfTypedText = ['type', 'text', 'cache_control']

/** Whether a text has additional fields, such as a title or a source, and is therefore a document. */
const isMarked = (part: JsonObject): boolean =>
  typeof part.text === 'string' && Object.keys(part).some((field) => !fieldsOfTypedText.includes(field))

/** The history in the `messages` of a request. */
function historyIn(body: RequestBody, withBlock: WithBlock): RequestConversation | null {
  const messages = messagesIn(body.messages, ['text'], withBlock)
  return messages === null ? null : { messages, continues: null }
}

/** OpenAI's Chat Completions, which most other services and local servers also support. */
export const chatCompletions: Dialect = {
  route: '/chat/completions',
  read: (body) => historyIn(body, withText),
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

/** Anthropic's Messages. Tool results are user messages without text from the person. */
export const messages: Dialect = {
  route: '/messages',
  read: (body) => historyIn(body, withPart('text')),
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

/** OpenAI's Responses. Earlier messages are in `input`, or the service stores them and the request contains their id. */
export const responses: Dialect = {
  route: '/responses',
  read: (body) => {
    const { input, previous_response_id: previous, conversation } = body
    const kept = isObject(conversation) ? conversation.id : conversation
    const continues = stringIn(previous) ?? stringIn(kept)
    const list = typeof input === 'string' ? [{ role: 'user', content: input }] : input
    const withBlock: WithBlock = (content, block) => {
      // A plain text is converted to a list only if a block is added.
      body.input = list
      return withPart('input_text')(content, block)
    }
    const messages = messagesIn(list, ['input_text', 'output_text', 'text'], withBlock)
    return messages === null ? null : { messages, continues }
  },
  answerIn: (documents, isStream) => {
    const whole = isStream ? documents.map(({ response }) => response).filter(isObject) : documents
    const first = whole[0]
    const last = whole.at(-1)
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

/** The person's own texts in a message, without texts that a program added. */
export function ownText(texts: readonly string[]): Pick<HistoryMessage, 'text' | 'isTyped'> {
  const own = texts
    .filter(isSaidByPerson)
    .map((text) => text.trim())
    .filter((text) => text !== '')
  return { text: own.join('\n\n'), isTyped: own.length < 2 }
}
