import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { isSaidByPerson, withoutHookContext } from '../../../beliefs/turn.ts'
import { isObject, type JsonObject } from '../../../json.ts'
import {
  type ChatPart,
  type ChatTurn,
  objectsIn,
  stepHalf,
  stringIn,
  textsIn,
  timeIn,
  toolCall,
  toolResult,
  turnsOf,
} from './chat.ts'

/** Reads the objects of one file in order. Throws a MemoryError `invalid` for an object in another format. */
export type ChatReader = (value: JsonObject) => readonly ChatTurn[]

const ownText = (texts: readonly string[]): string => texts.filter(isSaidByPerson).join('\n\n')

/** Transcripts of Claude Code, `~/.claude/projects/<directory>/<session>.jsonl`. Messages of subagents are left out. */
export const claudeCode = (): ChatReader => (line) => {
  const { type, message, uuid, sessionId, cwd, timestamp } = line
  if ((type !== 'user' && type !== 'assistant') || !isObject(message)) return []
  if (line.isSidechain === true || line.isMeta === true || line.isCompactSummary === true) return []
  const id = stringIn(uuid)
  const texts = textsIn(message.content, ['text'])
  const place = { host: 'claude-code', session: stringIn(sessionId), at: timeIn(timestamp), directory: stringIn(cwd) }
  const text = type === 'user' ? ownText(texts) : texts.join('\n\n')
  return turnsOf(place, [{ role: type, text, id }, ...stepsIn(message.content)])
}

/** Tool calls and their results, in the blocks of Anthropic's messages. */
const stepsIn = (content: unknown): readonly ChatPart[] =>
  objectsIn(content).flatMap(({ type, id, name, input, tool_use_id, content: result }) => {
    if (type === 'tool_use') return [stepHalf('call', id, toolCall(name, input))]
    return type === 'tool_result' ? [stepHalf('result', tool_use_id, toolResult(result))] : []
  })

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
        // Leaves out the file AGENTS.md, which Codex stores as a message of the user too.
        const own = texts.filter((text) => !/^# AGENTS\.md instructions\b/u.test(text))
        return item.role === 'user' ? turnsOf(place, [{ role: 'user', text: ownText(own), id }]) : []
      }
      case 'function_call':
      case 'custom_tool_call': {
        const name = [item.namespace, item.name].filter((part) => stringIn(part) !== null).join('.')
        const text = toolCall(name, item.arguments ?? item.input)
        return turnsOf(place, [stepHalf('call', call, text)])
      }
      case 'local_shell_call':
        return turnsOf(place, [stepHalf('call', call, toolCall('shell', item.action))])
      case 'function_call_output':
      case 'custom_tool_call_output': {
        const output = isObject(item.output) ? item.output.content : item.output
        return turnsOf(place, [stepHalf('result', call, toolResult(output))])
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
        const steps = calls.map((call) => stepHalf('call', call.id, toolCall(call.name, call.arguments)))
        return turnsOf(place, [{ role: 'assistant', text: texts.join('\n\n'), id }, ...steps])
      }
      case 'toolResult':
        return turnsOf(place, [stepHalf('result', message.toolCallId ?? id, texts.join('\n\n'))])
      default:
        return []
    }
  }
}

/**
 * Sessions of Gemini CLI, `~/.gemini/tmp/<project>/chats/session-….jsonl`, and the `.json` of earlier versions. Gemini CLI writes
 * a message again when its tools have finished.
 */
export function gemini(file: string): ChatReader {
  const project = dirname(dirname(file))
  const directory = textOfFile(join(project, '.project_root')) ?? project
  let session: string | null = null
  return (line) => {
    session = stringIn(line.sessionId) ?? session
    const { messages = isObject(line.$set) ? line.$set.messages : [line] } = line
    return objectsIn(messages).flatMap(({ type, content, id: given, timestamp, toolCalls }) => {
      const place = { host: 'gemini', session, at: timeIn(timestamp), directory }
      const id = stringIn(given)
      const texts =
        typeof content === 'string' ? [content] : objectsIn(content).flatMap(({ text }) => stringIn(text) ?? [])
      if (type === 'user') return turnsOf(place, [{ role: 'user', text: withoutHookContext(ownText(texts)), id }])
      if (type !== 'gemini') return []
      const steps = objectsIn(toolCalls).flatMap(({ id: step, name, args, result }) => [
        stepHalf('call', step, toolCall(name, args)),
        stepHalf('result', step, geminiResult(result)),
      ])
      return turnsOf(place, [...steps, { role: 'assistant', text: texts.join('\n\n'), id }])
    })
  }
}

const geminiResult = (result: unknown): string =>
  objectsIn(result)
    .map(({ functionResponse }) => (isObject(functionResponse) ? functionResponse.response : null))
    .filter(isObject)
    .map(({ output, error }) => stringIn(output) ?? stringIn(error) ?? '')
    .join('\n\n')

/** Messages of opencode, each given as an object with its parts. */
export const opencode = (): ChatReader => (message) => {
  const { role, parts, id: given, session, directory, at } = message
  if (role !== 'user' && role !== 'assistant') return []
  const place = { host: 'opencode', session: stringIn(session), at: timeIn(at), directory: stringIn(directory) }
  // Leaves out synthetic parts, which are context that plugins add.
  const texts = textsIn(
    objectsIn(parts).filter(({ synthetic }) => synthetic !== true),
    ['text'],
  )
  const text = role === 'user' ? texts.filter(isSaidByPerson).join('\n') : texts.join('\n\n')
  const steps = objectsIn(parts).flatMap(({ type, tool, callID, state }) => {
    if (type !== 'tool' || !isObject(state)) return []
    const result = stringIn(state.output) ?? stringIn(state.error) ?? ''
    return [stepHalf('call', callID, toolCall(tool, state.input)), stepHalf('result', callID, result)]
  })
  return turnsOf(place, [...steps, { role, text, id: stringIn(given) }])
}

/**
 * Transcripts of Cursor, `~/.cursor/projects/<directory>/agent-transcripts/<session>/<session>.jsonl`. They have neither
 * times nor ids: every turn gets the time at which its file was created, plus one millisecond per line up to its own.
 */
export function cursor(file: string): ChatReader {
  const session = basename(file, extname(file))
  const folders = file.split(/[\\/]/)
  const slug = folders[folders.indexOf('agent-transcripts') - 1] ?? ''
  const directory = directoryOfSlug(slug) ?? join('/', slug)
  const { birthtimeMs, mtimeMs } = statSync(file)
  const createdMs = birthtimeMs > 0 ? Math.min(birthtimeMs, mtimeMs) : mtimeMs
  let lineCount = 0
  return ({ role, message }) => {
    lineCount += 1
    if ((role !== 'user' && role !== 'assistant') || !isObject(message)) return []
    const at = new Date(createdMs + lineCount).toISOString()
    const texts = textsIn(message.content, ['text'])
    const text = role === 'assistant' ? texts.join('\n\n') : ownText(texts.map(withoutCursorTags))
    return turnsOf({ host: 'cursor', session, at, directory }, [{ role, text, id: null }, ...stepsIn(message.content)])
  }
}

/** Cursor writes a prompt between tags, and writes the time and other context before it. */
function withoutCursorTags(text: string): string {
  const start = text.indexOf('<user_query>')
  const end = text.indexOf('</user_query>', start)
  return start === -1 || end === -1 ? text : text.slice(start + '<user_query>'.length, end).trim()
}

const slugOf = (name: string): string => name.replace(/[^a-z0-9]+/gi, '-').replace(/^-+|-+$/g, '')

/** The directory whose path Cursor writes as `home-ana-my-project`; null if it does not exist. */
function directoryOfSlug(slug: string, parent = '/'): string | null {
  for (const name of directoriesIn(parent)) {
    const own = slugOf(name)
    const path = join(parent, name)
    if (own !== '' && own === slug) return path
    const found = own !== '' && slug.startsWith(`${own}-`) ? directoryOfSlug(slug.slice(own.length + 1), path) : null
    if (found !== null) return found
  }
  return null
}

function directoriesIn(path: string): readonly string[] {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
  } catch {
    return []
  }
}

function textOfFile(file: string): string | null {
  try {
    return stringIn(readFileSync(file, 'utf8').trim())
  } catch {
    return null
  }
}
