import { ownText } from '../own-text.ts'
import { type Dialect, type HistoryMessage, insertPart, isObject, objectsIn, textOf, textsIn } from './dialect.ts'

/** Anthropic's Messages. Results of tools come as messages of the user, which hold no text of theirs. */
export const messages: Dialect = {
  name: 'messages',
  route: '/messages',
  read: (body, spans) => {
    const list = spans.member(spans.root(), 'messages')
    if (list === null || !Array.isArray(body.messages)) return null
    const given: readonly unknown[] = body.messages
    const found = spans.elements(list).flatMap((span, index): readonly HistoryMessage[] => {
      const message = given[index]
      if (!isObject(message) || (message.role !== 'user' && message.role !== 'assistant')) return []
      const texts = textsIn(message.content, ['text'])
      if (message.role === 'assistant') return [{ role: 'assistant', text: texts.join('\n\n'), insert: null }]
      const content = spans.member(span, 'content')
      const insert = content === null ? null : insertPart(spans, content, 'text')
      return [{ role: 'user', text: ownText(texts), insert }]
    })
    return { messages: found, continues: null }
  },
  answerIn: (documents, isStream) => {
    if (!isStream) {
      const [answer = {}] = documents
      const text = textsIn(answer.content, ['text']).join('\n\n')
      return { text, id: null, isComplete: typeof answer.stop_reason === 'string' }
    }
    const texts = new Map<unknown, string>()
    for (const { type, index, content_block: block, delta } of documents) {
      if (type === 'content_block_start' && isObject(block) && block.type === 'text')
        texts.set(index, textOf(block.text))
      if (type === 'content_block_delta' && isObject(delta) && delta.type === 'text_delta')
        texts.set(index, `${texts.get(index) ?? ''}${textOf(delta.text)}`)
    }
    const written = objectsIn(documents).some(({ type }) => type === 'message_stop')
    return { text: [...texts.values()].filter((text) => text !== '').join('\n\n'), id: null, isComplete: written }
  },
}
