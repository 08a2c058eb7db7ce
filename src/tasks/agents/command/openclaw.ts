import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isSafeId } from '../../../eval/store/schemas/primitives.ts'
import { type JsonObject, objectIn } from '../../../json.ts'
import type { TranscriptMessage } from '../../transcript.ts'
import type { AgentEnvironment, CommandProfile } from './command-agent.ts'
import {
  countAt,
  jsonLines,
  messagesIn,
  type OutputReading,
  objectAt,
  plainReading,
  problemOf,
  textAt,
} from './read-output.ts'

/** OpenClaw without its gateway. Every conversation gets a separate OpenClaw agent, because a new id may continue an older session. */
export function openclaw(model: string | null, environment: AgentEnvironment): CommandProfile {
  const agentOf = (session: string): string => `credence-${session.slice(0, 8)}`
  const state = environment.OPENCLAW_STATE_DIR ?? join(environment.HOME ?? environment.USERPROFILE ?? '', '.openclaw')
  return {
    name: 'openclaw',
    program: 'openclaw',
    model,
    before: ({ session, workspace }) => [
      'agents',
      'add',
      agentOf(session),
      '--workspace',
      workspace,
      '--non-interactive',
      ...(model === null ? [] : ['--model', model]),
    ],
    args: ({ session, prompt }) => [
      'agent',
      '--local',
      '--json',
      '--agent',
      agentOf(session),
      '--session-id',
      session,
      '--message',
      prompt,
    ],
    after: ({ session }) => ['agents', 'delete', agentOf(session), '--force'],
    takesStdin: false,
    read: async ({ stdout, stderr }, { session, prompt }) => {
      const document = objectIn(stdout, isAnswer) ?? objectIn(stderr, isAnswer)
      if (document === null) {
        const written = (stderr.trim() || stdout.trim()).slice(-300) || 'it wrote nothing at all'
        return { ...plainReading(''), problem: problemOf(`It wrote no JSON document: ${written}`) }
      }
      const sessions = join(state, 'agents', agentOf(session), 'sessions')
      return readDocument(document, (id) => readKeptMessages(join(sessions, `${id ?? session}.jsonl`), prompt))
    },
    passThrough: [
      'OPENCLAW_STATE_DIR',
      'OPENCLAW_CONFIG_PATH',
      'OPENROUTER_API_KEY',
      'OPENAI_API_KEY',
      'ANTHROPIC_API_KEY',
      'GEMINI_API_KEY',
      'HTTPS_PROXY',
      'NODE_EXTRA_CA_CERTS',
    ],
    versionArgs: ['--version'],
  }
}

/** Whether a document is OpenClaw's reply. Depending on the version it is on standard output or standard error, after log lines. */
const isAnswer = ({ payloads, status }: JsonObject): boolean => Array.isArray(payloads) || typeof status === 'string'

async function readDocument(
  document: JsonObject,
  messagesOf: (id: string | null) => Promise<readonly TranscriptMessage[]>,
): Promise<OutputReading> {
  const meta = objectAt(document, 'meta')
  const agentMeta = objectAt(meta, 'agentMeta')
  const usage = objectAt(agentMeta, 'usage')
  const payloads = (Array.isArray(document.payloads) ? document.payloads : []) as readonly JsonObject[]
  const answer = payloads.flatMap((payload) => textAt(payload, 'text') ?? []).join('\n')
  const id = textAt(agentMeta, 'sessionId')
  const kept = id === null || isSafeId(id) ? await messagesOf(id) : []
  const isFailed = document.status === 'error' || meta.error !== undefined
  const message = textAt(document, 'summary') ?? textAt(objectAt(meta, 'error'), 'message') ?? answer
  return {
    ...plainReading(answer),
    ...(kept.length > 0 ? { messages: kept } : {}),
    usage: {
      input: countAt(usage, 'input'),
      output: countAt(usage, 'output'),
      cacheRead: countAt(usage, 'cacheRead'),
      cacheWrite: countAt(usage, 'cacheWrite'),
    },
    model: textAt(agentMeta, 'model'),
    problem: isFailed ? problemOf(message) : null,
  }
}

/** The messages after the last occurrence of the prompt in OpenClaw's transcript. Tool calls are only in the transcript. */
async function readKeptMessages(file: string, prompt: string): Promise<readonly TranscriptMessage[]> {
  // Without a transcript, the answer is still available.
  const lines = jsonLines(await readFile(file, 'utf8').catch(() => ''))
  const asked = lines.findLastIndex(
    // OpenClaw writes a date before the prompt, so the prompt is searched for inside each message.
    ({ type, message }) =>
      type === 'message' && JSON.stringify(message).includes(JSON.stringify(prompt.trim()).slice(1, -1)),
  )
  return asked === -1 ? [] : messagesIn(lines.slice(asked + 1))
}
