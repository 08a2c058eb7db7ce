import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isSafeId } from '../../../eval/store/schemas/primitives.ts'
import { noUsage } from '../../../models/chat-model.ts'
import type { TranscriptMessage } from '../../transcript.ts'
import type { CommandProfile, Environment } from './command-agent.ts'
import {
  countAt,
  isObject,
  isUnreachable,
  type JsonObject,
  jsonLines,
  type Output,
  objectAt,
  type Reading,
  readEventStream,
  textAt,
} from './read-output.ts'

/**
 * OpenClaw, run in its own process and not through its gateway. It has been seen to go on with an older session whatever
 * id it is given, so every conversation gets an agent of its own, on the same workspace.
 */
export function openclaw(model: string | null, environment: Environment): CommandProfile {
  const agentOf = (session: string): string => `credence-${session.slice(0, 8)}`
  const state = environment.OPENCLAW_STATE_DIR ?? join(environment.HOME ?? environment.USERPROFILE ?? '', '.openclaw')
  return {
    name: 'openclaw',
    program: 'openclaw',
    model,
    before: ({ session, workspace }) => [
      ...['agents', 'add', agentOf(session), '--workspace', workspace, '--non-interactive'],
      ...(model === null ? [] : ['--model', model]),
    ],
    args: ({ session, prompt }) => [
      ...['agent', '--local', '--json', '--agent', agentOf(session)],
      ...['--session-id', session, '--message', prompt],
    ],
    after: ({ session }) => ['agents', 'delete', agentOf(session), '--force'],
    takesStdin: false,
    read: (output, { session, prompt }) =>
      readOpenclaw(output, { sessions: join(state, 'agents', agentOf(session), 'sessions'), session, prompt }),
    passThrough: [
      ...['OPENCLAW_STATE_DIR', 'OPENCLAW_CONFIG_PATH', 'OPENROUTER_API_KEY', 'OPENAI_API_KEY'],
      ...['ANTHROPIC_API_KEY', 'GEMINI_API_KEY', 'HTTPS_PROXY', 'NODE_EXTRA_CA_CERTS'],
    ],
    versionArgs: ['--version'],
  }
}

type SessionPlace = {
  /** Where OpenClaw keeps its transcripts. */
  readonly sessions: string
  readonly session: string
  readonly prompt: string
}

/**
 * Reads what `openclaw agent --json` writes: one document with `payloads` and `meta`, below `result` when it came through
 * the gateway, on standard error in some versions, and with log lines around it. Which tools were used is only in the
 * transcript it keeps.
 */
async function readOpenclaw({ stdout, stderr }: Output, place: SessionPlace): Promise<Reading> {
  const document = documentIn(stdout) ?? documentIn(stderr)
  if (document === null) return { ...nothing, problem: { fault: 'agent', message: noDocument(stdout, stderr) } }
  const body = isObject(document.result) ? document.result : document
  const agentMeta = objectAt(objectAt(body, 'meta'), 'agentMeta')
  const usage = objectAt(agentMeta, 'usage')
  const answer = (Array.isArray(body.payloads) ? body.payloads : [])
    .filter(isObject)
    .flatMap((payload) => textAt(payload, 'text') ?? [])
    .join('\n')
  const sessionId = textAt(agentMeta, 'sessionId') ?? place.session
  const kept = await keptMessages(place, sessionId)
  const isFailed = document.status === 'error' || objectAt(body, 'meta').error !== undefined
  const message = textAt(document, 'summary') ?? textAt(objectAt(objectAt(body, 'meta'), 'error'), 'message') ?? answer
  return {
    messages:
      kept.length > 0 ? kept : [{ role: 'assistant', content: answer === '' ? [] : [{ type: 'text', text: answer }] }],
    answer,
    usage: {
      input: countAt(usage, 'input'),
      output: countAt(usage, 'output'),
      cacheRead: countAt(usage, 'cacheRead'),
      cacheWrite: countAt(usage, 'cacheWrite'),
    },
    // The agent is named after the conversation's own id, so that stays, whatever OpenClaw calls the session.
    conversationId: null,
    model: textAt(agentMeta, 'model'),
    problem: isFailed ? { fault: isUnreachable(message) ? 'infrastructure' : 'agent', message } : null,
  }
}

const nothing: Omit<Reading, 'problem'> = {
  messages: [],
  answer: '',
  usage: noUsage,
  conversationId: null,
  model: null,
}

const noDocument = (stdout: string, stderr: string): string =>
  `It wrote no JSON document: ${(stderr.trim() || stdout.trim()).slice(-300) || 'it wrote nothing at all'}`

/** The document that has an answer, wherever it stands among log lines. */
function documentIn(text: string): JsonObject | null {
  const isAnswer = (value: unknown): value is JsonObject =>
    isObject(value) && (Array.isArray(value.payloads) || isObject(value.result) || typeof value.status === 'string')
  const oneLine = jsonLines(text).findLast(isAnswer)
  if (oneLine !== undefined) return oneLine
  const end = text.lastIndexOf('}')
  // A document over several lines begins where a line begins with its brace.
  for (const { index } of [...text.matchAll(/^\{/gmu)].slice(-50)) {
    try {
      const value: unknown = JSON.parse(text.slice(index, end + 1))
      if (isAnswer(value)) return value
    } catch {
      // Log lines may begin with a brace, too.
    }
  }
  return null
}

/** What came after the last time the prompt was said, in the transcript that OpenClaw keeps. */
async function keptMessages(
  { sessions, prompt }: SessionPlace,
  sessionId: string,
): Promise<readonly TranscriptMessage[]> {
  if (!isSafeId(sessionId)) return []
  let text: string
  try {
    text = await readFile(join(sessions, `${sessionId}.jsonl`), 'utf8')
  } catch {
    // Without it there is still the answer.
    return []
  }
  const lines = jsonLines(text)
  const asked = lines.findLastIndex(
    ({ type, message }) =>
      type === 'message' && isObject(message) && message.role === 'user' && saysIt(message, prompt),
  )
  if (asked === -1) return []
  const said = lines.slice(asked + 1).map((line) => JSON.stringify(line))
  return readEventStream({ stdout: said.join('\n'), stderr: '' }).messages
}

/** OpenClaw puts a date before what was said. */
const saysIt = (message: JsonObject, prompt: string): boolean => {
  const { content } = message
  const texts =
    typeof content === 'string'
      ? [content]
      : Array.isArray(content)
        ? content.filter(isObject).map((block) => textAt(block, 'text') ?? '')
        : []
  return texts.join('\n').includes(prompt.trim())
}
