import type { ToolCallBlock, TranscriptMessage } from '../transcript.ts'

/** What changes things is not a look at them. */
const writes = /write|edit|append|create|remember|save|store|delete|forget|update|patch|correct|remove|put|add/iu
const recalls = /recall|memory|memories|remembered|context|knowledge/iu
const reads = /read|cat|open|view|get|load|fetch|search|find|grep|show|file|bash|shell|exec|command|terminal|run/iu

/**
 * The first look into memory before the last words of a session; null when there was none. A call counts when its name
 * says that it recalls, or when it reads and its arguments name a memory or one of `files`; a call that failed does not.
 */
export function memoryReadIn(
  messages: readonly TranscriptMessage[],
  files: readonly string[],
): { readonly name: string; readonly detail: string } | null {
  const failed = new Set(
    messages.flatMap((message) => (message.role === 'toolResult' && message.isError ? [message.toolCallId] : [])),
  )
  const last = messages.findLastIndex(
    ({ role, content }) =>
      role === 'assistant' && content.some((block) => block.type === 'text' && block.text.trim() !== ''),
  )
  const before = last === -1 ? [] : messages.slice(0, last + 1)
  const calls = before.flatMap((message) =>
    message.role === 'assistant' ? message.content.filter((block) => block.type === 'toolCall') : [],
  )
  const found = calls.find((call) => !failed.has(call.id) && isMemoryRead(call, files))
  return found === undefined ? null : { name: found.name, detail: argumentText(found).slice(0, 200) }
}

function isMemoryRead(call: ToolCallBlock, files: readonly string[]): boolean {
  if (writes.test(call.name)) return false
  if (recalls.test(call.name)) return true
  const given = argumentText(call)
  const namesMemory = /memor(?:y|ies)|\brecall\b/iu.test(given) || files.some((file) => given.includes(file))
  return reads.test(call.name) && namesMemory && !onlyWrites(given)
}

/** A command line that fills a file and prints nothing. */
const onlyWrites = (given: string): boolean => />{1,2}\s*\S*memor/iu.test(given) && !/\bcat\s+[^>|]*memor/iu.test(given)

const argumentText = (call: ToolCallBlock): string => JSON.stringify(call.arguments ?? {})
