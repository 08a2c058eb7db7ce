import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify, stripVTControlCharacters } from 'node:util'
import { canaryLine, canaryPrompt } from '../hooks/canary.ts'
import type { Machine } from '../session.ts'
import type { ConnectHost } from './hosts.ts'

type Verification = {
  /** Whether a request to the model contained the line of the hook. */
  readonly delivered: boolean
  readonly detail: string
}

type HostCommand = { readonly args: readonly string[]; readonly env?: Readonly<Record<string, string>> }

/** The command that runs a host with one prompt and a model at a local URL. */
const commands: Partial<Record<ConnectHost, (prompt: string, url: string) => HostCommand>> = {
  'claude-code': (prompt, url) => {
    const env = { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'credence-verify', ANTHROPIC_AUTH_TOKEN: '' }
    const more = {
      CLAUDE_CODE_OAUTH_TOKEN: '',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    }
    // Also passed as settings, because the person's own settings may name a different service.
    return {
      args: ['-p', prompt, '--no-session-persistence', '--settings', JSON.stringify({ env })],
      env: { ...env, ...more },
    }
  },
  codex: (prompt, url) => {
    const provider = `{ name = "credence", base_url = "${url}/v1", wire_api = "responses" }`
    const model = ['-c', 'model="scripted"', '-c', 'model_provider="credence_verify"']
    const options = ['--skip-git-repo-check', '--ephemeral', '--sandbox', 'read-only']
    return { args: ['exec', ...options, ...model, '-c', `model_providers.credence_verify=${provider}`, prompt] }
  },
}

export const canVerify = (host: ConnectHost): boolean => commands[host] !== undefined

/** Long enough for the first run of a host on a slow machine. */
const maxRunMs = 120_000

/**
 * Runs the host with its real configuration, one prompt and a local model. The hook answers the prompt with a line that only
 * Credence can compute; the requests to the model must contain it. Nothing is stored.
 */
export async function verifyDelivery(
  host: ConnectHost,
  { file, machine, directory }: { readonly file: string; readonly machine: Machine; readonly directory: string },
): Promise<Verification> {
  const id = randomBytes(8).toString('hex')
  const bodies: string[] = []
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request)
    const path = new URL(request.url ?? '/', 'http://model').pathname
    const events = path.endsWith('/messages') ? anthropicEvents : path.endsWith('/responses') ? responsesEvents : null
    if (events === null) return void response.writeHead(404).end('{}')
    bodies.push(body)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  try {
    const { args = [], env = {} } = commands[host]?.(canaryPrompt(id), `http://127.0.0.1:${port}`) ?? {}
    const options = { cwd: directory, env: { ...machine.env, HOME: machine.env.HOME ?? machine.home, ...env } }
    const running = promisify(execFile)(file, args, {
      ...options,
      shell: machine.platform === 'win32',
      timeout: maxRunMs,
    })
    running.child.stdin?.end()
    const { stdout = '', stderr = '' } = await running.catch((error) => error)
    if (bodies.some((body) => body.includes(canaryLine(id))))
      return { delivered: true, detail: 'The line of the hook was in the request to the model.' }
    const printed = stripVTControlCharacters(`${stdout}${stderr}`).trim().slice(-1_000)
    const reason =
      bodies.length === 0
        ? 'The program sent no request to the model.'
        : 'The program asked the model without the line of the hook.'
    return { delivered: false, detail: `${reason} It printed:\n${printed}` }
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) body += chunk
  return body
}

const text = 'Credence has seen this request.'
const usage = { input_tokens: 1, output_tokens: 1 }

/** The model's answer in the protocols of both hosts. */
const anthropicEvents = [
  {
    type: 'message_start',
    message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'scripted', content: [], usage },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
  { type: 'message_stop' },
]
const message = { type: 'message', id: 'm_1', role: 'assistant', content: [{ type: 'output_text', text }] }
const responsesEvents = [
  { type: 'response.created', response: { id: 'resp_1' } },
  { type: 'response.output_item.done', output_index: 0, item: message },
  { type: 'response.completed', response: { id: 'resp_1', usage: { ...usage, total_tokens: 2 } } },
]
