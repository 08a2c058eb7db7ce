import { ownText } from '../own-text.ts'
import {
  type Dialect,
  type HistoryMessage,
  insertPart,
  isObject,
  type JsonObject,
  objectsIn,
  textOf,
  textsIn,
} from './dialect.ts'

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
      return { messages: [{ role: 'user', text: ownText([body.input]), insert }], continues }
    }
    if (!Array.isArray(body.input)) return null
    const given: readonly unknown[] = body.input
    const messages = spans.elements(input).flatMap((span, index): readonly HistoryMessage[] => {
      const item = given[index]
      if (!isObject(item) || (item.type ?? 'message') !== 'message') return []
      const texts = textsIn(item.content, ['input_text', 'output_text', 'text'])
      if (item.role === 'assistant') return [{ role: 'assistant', text: texts.join('\n\n'), insert: null }]
      const content = spans.member(span, 'content')
      if (item.role !== 'user' || content === null) return []
      return [{ role: 'user', text: ownText(texts), insert: insertPart(spans, content, 'input_text') }]
    })
    return { messages, continues }
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
    return { text: deltas.map(({ delta }) => textOf(delta)).join(''), id, isComplete }
  },
}

const outputOf = ({ output }: JsonObject): string =>
  objectsIn(output)
    .filter(({ type }) => type === 'message')
    .flatMap(({ content }) => textsIn(content, ['output_text']))
    .join('\n\n')
