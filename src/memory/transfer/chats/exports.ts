import { isObject, type JsonObject } from '../../../json.ts'
import { type ChatTurn, objectsIn, stringIn, textsIn, timeIn, toolCall, toolResult, turnsOf } from './chat.ts'

/** Reads a conversation in a ChatGPT export, which is a tree of messages. Only the branch that was shown last is read, from `current_node` up to the root. */
export function chatgptConversation(conversation: JsonObject): readonly ChatTurn[] {
  const mapping = isObject(conversation.mapping) ? conversation.mapping : {}
  const branch: JsonObject[] = []
  const seen = new Set<string>()
  for (let id = leafOf(conversation, mapping); id !== null && !seen.has(id); ) {
    seen.add(id)
    const node: unknown = mapping[id]
    if (!isObject(node)) break
    if (isObject(node.message)) branch.unshift(node.message)
    id = stringIn(node.parent)
  }
  const session = stringIn(conversation.conversation_id) ?? stringIn(conversation.id)
  const began = timeIn(conversation.create_time)
  return branch.flatMap((message) => {
    const { author, content, metadata, id } = message
    if (isObject(metadata) && metadata.is_visually_hidden_from_conversation === true) return []
    const role = isObject(author) ? author.role : null
    if (role !== 'user' && role !== 'assistant' && role !== 'tool') return []
    const at = timeIn(message.create_time) ?? began
    // A message from the assistant to a tool is a step of the tool.
    const isStep = role === 'assistant' && stringIn(message.recipient) !== null && message.recipient !== 'all'
    return turnsOf({ host: 'chatgpt', session, at }, [
      { role: isStep ? 'tool' : role, text: chatgptText(content), id: stringIn(id) },
    ])
  })
}

/** The last message of the branch that was shown last: `current_node`, or else the message that is reached from the root by always taking the last child. */
function leafOf({ current_node: current }: JsonObject, mapping: JsonObject): string | null {
  const named = stringIn(current)
  if (named !== null && Object.hasOwn(mapping, named)) return named
  const nodes = Object.entries(mapping)
  let [id = null] = nodes.find(([, node]) => isObject(node) && (node.parent ?? null) === null) ?? []
  for (let depth = 0; depth < nodes.length && id !== null; depth += 1) {
    const node: unknown = mapping[id]
    const children: unknown = isObject(node) ? node.children : null
    const last = Array.isArray(children) ? stringIn(children.at(-1)) : null
    if (last === null) return id
    id = last
  }
  return id
}

function chatgptText(content: unknown): string {
  if (!isObject(content)) return ''
  switch (content.content_type) {
    case 'text':
    case 'multimodal_text': {
      const parts: readonly unknown[] = Array.isArray(content.parts) ? content.parts : []
      return parts
        .map((part) => (isObject(part) ? stringIn(part.text) : stringIn(part)))
        .filter((part) => part !== null)
        .join('\n\n')
    }
    case 'code':
    case 'execution_output':
      return stringIn(content.text) ?? ''
    default:
      return ''
  }
}

/** A conversation in an export of Claude. The text of an attached file is not the person's own. */
export function claudeConversation(conversation: JsonObject): readonly ChatTurn[] {
  const session = stringIn(conversation.uuid)
  return objectsIn(conversation.chat_messages).flatMap((message) => {
    const { sender, uuid } = message
    const role = sender === 'human' || sender === 'user' ? 'user' : sender === 'assistant' ? 'assistant' : null
    if (role === null) return []
    const place = { host: 'claude', session, at: timeIn(message.created_at) ?? timeIn(conversation.created_at) }
    const id = stringIn(uuid)
    const texts = textsIn(message.content, ['text'])
    const text = texts.length > 0 ? texts.join('\n\n') : (stringIn(message.text) ?? '')
    const blocks = objectsIn(message.content)
    const steps = blocks.flatMap((block, index) => {
      if (block.type !== 'tool_use' && block.type !== 'tool_result') return []
      const words = block.type === 'tool_use' ? toolCall(block.name, block.input) : toolResult(block.content)
      return [{ role: 'tool' as const, text: words, id: id && `${id}-${index}` }]
    })
    const attached = objectsIn(message.attachments).map(({ extracted_content: words }, index) => ({
      role: 'user' as const,
      text: stringIn(words) ?? '',
      id: id && `${id}-file-${index}`,
    }))
    const documents = turnsOf(place, attached).map(({ turn, directory }) => ({
      directory,
      turn: { ...turn, origin: 'document' as const },
    }))
    return [...turnsOf(place, [{ role, text, id }, ...steps]), ...documents]
  })
}
