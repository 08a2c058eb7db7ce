import { isSaidByPerson } from '../../../beliefs/turn.ts'
import { isObject, type JsonObject } from '../../../json.ts'
import { type ChatTurn, objectsIn, stringIn, textsIn, timeIn, toolCall, toolResult, turnsOf } from './chat.ts'

/** Reads the objects of one file in their order. Throws a MemoryError `invalid` for one that is not of the format. */
export type ChatReader = (value: JsonObject) => readonly ChatTurn[]

const ownText = (texts: readonly string[]): string => texts.filter(isSaidByPerson).join('\n\n')

/** Transcripts of Claude Code, `~/.claude/projects/<directory>/<session>.jsonl`. What subagents do is left out. */
export const claudeCode = (): ChatReader => (line) => {
  const { type, message, uuid, sessionId, cwd, timestamp } = line
  if ((type !== 'user' && type !== 'assistant') || !isObject(message)) return []
  if (line.isSidechain === true || line.isMeta === true || line.isCompactSummary === true) return []
  const id = stringIn(uuid)
  const texts = textsIn(message.content, ['text'])
  const steps = objectsIn(message.content).flatMap((block) => {
    const text =
      block.type === 'tool_use'
        ? toolCall(block.name, block.input)
        : block.type === 'tool_result'
          ? toolResult(block.content)
          : ''
    const step = stringIn(block.id) ?? stringIn(block.tool_use_id)
    return [{ role: 'tool' as const, text, id: step === null ? null : `${step}-${String(block.type)}` }]
  })
  const place = { host: 'claude-code', session: stringIn(sessionId), at: timeIn(timestamp), directory: stringIn(cwd) }
  const text = type === 'user' ? ownText(texts) : texts.join('\n\n')
  return turnsOf(place, [{ role: type, text, id }, ...steps])
}

/** Sessions of Codex, `~/.codex/sessions/<year>/<month>/<day>/rollout-….jsonl`, with and without envelopes. */
export function codex(): ChatReader {
  let session: string | null = null
  let directory: string | null = null
  return (line) => {
    const { type, payload, timestamp } = line
    const isEnveloped = isObject(payload)
    if (type === 'session_meta' || type === 'turn_context' || (type === undefined && session === null)) {
      const { id, cwd } = isEnveloped ? payload : line
      if (type !== 'turn_context') session = stringIn(id)
      directory = stringIn(cwd) ?? directory
      return []
    }
    if (isEnveloped && type !== 'response_item') return []
    const item = isEnveloped ? payload : line
    const place = { host: 'codex', session, at: timeIn(timestamp ?? item.timestamp), directory }
    const id = stringIn(item.id)
    const call = stringIn(item.call_id)
    switch (item.type) {
      case 'message': {
        const texts = textsIn(item.content, ['input_text', 'output_text', 'text'])
        if (item.role === 'assistant') return turnsOf(place, [{ role: 'assistant', text: texts.join('\n\n'), id }])
        // The file AGENTS.md comes as a message of the user, too.
        const own = texts.filter((text) => !/^# AGENTS\.md instructions\b/u.test(text))
        return item.role === 'user' ? turnsOf(place, [{ role: 'user', text: ownText(own), id }]) : []
      }
      case 'function_call':
      case 'custom_tool_call': {
        const name = [item.namespace, item.name].filter((part) => stringIn(part) !== null).join('.')
        return turnsOf(place, [
          { role: 'tool', text: toolCall(name, item.arguments ?? item.input), id: call && `${call}-call` },
        ])
      }
      case 'local_shell_call':
        return turnsOf(place, [{ role: 'tool', text: toolCall('shell', item.action), id: call && `${call}-call` }])
      case 'function_call_output':
      case 'custom_tool_call_output': {
        const output = isObject(item.output) ? item.output.content : item.output
        return turnsOf(place, [{ role: 'tool', text: toolResult(output), id: call && `${call}-output` }])
      }
      default:
        return []
    }
  }
}

/** Sessions of OpenClaw, `~/.openclaw/agents/<agent>/sessions/<session>.jsonl`. */
export function openclaw(): ChatReader {
  let session: string | null = null
  let directory: string | null = null
  return (line) => {
    if (line.type === 'session') {
      session = stringIn(line.id)
      directory = stringIn(line.cwd)
      return []
    }
    const { message } = line
    if (line.type !== 'message' || !isObject(message)) return []
    const id = stringIn(line.id) === null ? null : `${session ?? ''}-${String(line.id)}`
    const at = timeIn(line.timestamp) ?? timeIn(message.timestamp)
    const place = { host: 'openclaw', session, at, directory }
    const texts = textsIn(message.content, ['text'])
    switch (message.role) {
      case 'user':
        return turnsOf(place, [{ role: 'user', text: ownText(texts), id }])
      case 'assistant': {
        const calls = objectsIn(message.content).filter(({ type }) => type === 'toolCall')
        const steps = calls.map((call) => {
          const step = stringIn(call.id)
          return { role: 'tool' as const, text: toolCall(call.name, call.arguments), id: step && `${step}-call` }
        })
        return turnsOf(place, [{ role: 'assistant', text: texts.join('\n\n'), id }, ...steps])
      }
      case 'toolResult':
        return turnsOf(place, [{ role: 'tool', text: texts.join('\n\n'), id }])
      default:
        return []
    }
  }
}
