import type { JsonSpans, Span } from '../json-spans.ts'
import { ownText } from '../own-text.ts'
import { type Dialect, type HistoryMessage, insertPart, isObject, objectsIn, textOf, textsIn } from './dialect.ts'

/** OpenAI's Chat Completions, which most other services and local servers speak too. */
export const chatCompletions: Dialect = {
  name: 'chat-completions',
  route: '/chat/completions',
  read: (body, spans) => {
    const list = spans.member(spans.root(), 'messages')
    if (list === null || !Array.isArray(body.messages)) return null
    const given: readonly unknown[] = body.messages
    const messages = spans.elements(list).flatMap((span, index): readonly HistoryMessage[] => {
      const message = given[index]
      if (!isObject(message) || (message.role !== 'user' && message.role !== 'assistant')) return []
      const texts = textsIn(message.content, ['text'])
      if (message.role === 'assistant') return [{ role: 'assistant', text: texts.join('\n\n'), insert: null }]
      const content = spans.member(span, 'content')
      return [{ role: 'user', text: ownText(texts), insert: content === null ? null : insertText(spans, content) }]
    })
    return { messages, continues: null }
  },
  answerIn: (documents, isStream) => {
    const choices = documents.flatMap(({ choices }) => objectsIn(choices)).filter(({ index = 0 }) => index === 0)
    const pieces = choices.map(({ delta, message }) => (isStream ? delta : message)).filter(isObject)
    return {
      text: pieces.map(({ content }) => textOf(content)).join(''),
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
