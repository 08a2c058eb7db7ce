import { isSaidByPerson } from '../beliefs/turn.ts'
import { isObject, type JsonObject } from '../json.ts'
import { objectsIn, stringIn, textsIn } from '../memory/transfer/chats/chat.ts'

/** A message of the history that a request carries. */
export type HistoryMessage = {
  readonly role: 'user' | 'assistant'
  /** The text that the person wrote or that the model answered. */
  readonly text: string
  /** Whether the person may have typed it: it is one text, which the client does not mark. Of several, any may be a document. */
  readonly isTyped: boolean
  /** The author that the client names; null for none. */
  readonly author: string | null
  /** Adds a block after the person's own text, in the body that was read. Only for messages of the person with a text. */
  readonly add: (block: string) => void
}

export type RequestConversation = {
  readonly messages: readonly HistoryMessage[]
  /** The id by which the service knows the earlier messages, if the client does not send them again. */
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

/** One of the protocols by which clients talk to models. */
export type Dialect = {
  /** The end of the path that its requests go to. */
  readonly route: string
  /** The conversation in the body of a request; null if the body has none that is understood. */
  readonly read: (body: RequestBody) => RequestConversation | null
  /** The answer in the events of a stream, or in one JSON document. */
  readonly answerIn: (documents: readonly JsonObject[], isStream: boolean) => ModelAnswer
}

const messageTextOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** A content with a block added to it. */
type WithBlock = (content: unknown, block: string) => unknown

/** The content as a list, with the block as its last part. */
const withPart =
  (type: string): WithBlock =>
  (content, block) => [...(Array.isArray(content) ? content : [{ type, text: content }]), { type, text: block }]

/** A content that is one text stays one: many servers of this protocol take no lists. */
const withText: WithBlock = (content, block) =>
  typeof content === 'string' ? `${content}\n\n${block}` : withPart('text')(content, block)

/** The messages of the person and the model in a list of the body. */
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
        isTyped: isTyped && !objectsIn(message.content).some(isMarked),
        author: stringIn(message.name),
        add: (block) => Object.assign(message, { content: withBlock(message.content, block) }),
      },
    ]
  })
}

const fieldsOfTypedText = ['type', 'text', 'cache_control']

/** Whether a client adds fields to a text, such as a title or a source: then it is a document. */
const isMarked = (part: JsonObject): boolean =>
  typeof part.text === 'string' && Object.keys(part).some((field) => !fieldsOfTypedText.includes(field))

/** The history of a request that has it in `messages`. */
function historyIn(body: RequestBody, withBlock: WithBlock): RequestConversation | null {
  const messages = messagesIn(body.messages, ['text'], withBlock)
  return messages === null ? null : { messages, continues: null }
}

/** OpenAI's Chat Completions, which most other services and local servers speak too. */
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

/** Anthropic's Messages. Results of tools are messages of the user without a text of the person. */
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

/** OpenAI's Responses. Earlier messages are in `input`, or the service keeps them and the request names their id. */
export const responses: Dialect = {
  route: '/responses',
  read: (body) => {
    const { input, previous_response_id: previous, conversation } = body
    const kept = isObject(conversation) ? conversation.id : conversation
    const continues = stringIn(previous) ?? stringIn(kept)
    const list = typeof input === 'string' ? [{ role: 'user', content: input }] : input
    const withBlock: WithBlock = (content, block) => {
      // A text is sent as a list only if something is added to it.
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

/** The texts of a message that the person wrote, without those that a program added. */
export function ownText(texts: readonly string[]): Pick<HistoryMessage, 'text' | 'isTyped'> {
  const own = texts
    .filter(isSaidByPerson)
    .map((text) => text.trim())
    .filter((text) => text !== '')
  return { text: own.join('\n\n'), isTyped: own.length < 2 }
}
