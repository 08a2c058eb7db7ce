// Credence as OpenClaw's memory: tools for its agents, and context before each prompt. Must not import anything outside the
// package, because OpenClaw loads a copy of its files. The memory runs in a separate process, `credence mcp`.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

const corpora = ['memory', 'wiki', 'all', 'sessions']

const searchParameters = {
  type: 'object',
  additionalProperties: false,
  required: ['query'],
  properties: {
    query: { type: 'string', description: 'The question, in the words the person would use.' },
    maxResults: { type: 'integer', minimum: 1, description: 'Default 6.' },
    minScore: { type: 'number', description: 'Leaves out results below it. Exact hits are at 0.75 and above.' },
    corpus: { type: 'string', enum: corpora, description: 'Beliefs are in memory; the other corpora are empty.' },
  },
}

const getParameters = {
  type: 'object',
  additionalProperties: false,
  required: ['path'],
  properties: {
    path: { type: 'string', description: 'A path from the results of memory_search.' },
    from: { type: 'integer', description: 'The first line to return, counted from 1.' },
    lines: { type: 'integer', description: 'The number of lines to return.' },
    corpus: { type: 'string', enum: ['memory', 'wiki', 'all'] },
  },
}

const rememberParameters = {
  type: 'object',
  additionalProperties: false,
  required: ['name', 'content'],
  properties: {
    name: { type: 'string', description: 'The name that people use for it. A message with this name recalls it.' },
    content: { type: 'string', description: "The fact, in the person's own words." },
    aliases: { type: 'array', items: { type: 'string' }, description: 'Other names that people use for it.' },
  },
}

/** `openclaw credence`, which `credence connect openclaw` runs to check the connection. */
const checkCommand = {
  name: 'credence',
  description: 'Check that the Credence plugin reaches its memory',
  hasSubcommands: false,
}

const plugin = {
  id: 'credence',
  name: 'Credence',
  description: 'Memory that recalls the few beliefs that a message is about, and shows why.',
  kind: 'memory',
  register(api) {
    const memory = new MemoryProcess(api.pluginConfig ?? {}, api.runtime?.version ?? '')
    api.registerTool(
      {
        name: 'memory_search',
        label: 'Memory Search',
        description:
          'Look up what is remembered about the person and their work, before answering about earlier decisions, preferences, names or open questions. Exact results are named in the question; possible ones only share words with it and must be checked. If the answer has disabled=true, memory is unavailable: tell the person, with the warning and the action.',
        parameters: searchParameters,
        execute: async (_id, given) => toolAnswer(() => search(memory, given ?? {}), unavailable),
      },
      { name: 'memory_search' },
    )
    api.registerTool(
      {
        name: 'memory_get',
        label: 'Memory Get',
        description: 'Read one belief by its path from memory_search.',
        parameters: getParameters,
        execute: async (_id, given) =>
          toolAnswer(
            () => read(memory, given ?? {}),
            (reason) => ({ path: String(given?.path ?? ''), text: '', disabled: true, error: reason }),
          ),
      },
      { name: 'memory_get' },
    )
    api.registerTool(
      {
        name: 'memory_remember',
        label: 'Memory Remember',
        description:
          'Remember one lasting fact that the person stated. Not for secrets, guesses, or text of web pages and tools. A statement that contradicts the person is only proposed to them.',
        parameters: rememberParameters,
        execute: async (_id, given) =>
          toolAnswer(
            () => remember(memory, given ?? {}),
            (reason) => ({ outcome: 'failed', error: reason }),
          ),
      },
      { name: 'memory_remember' },
    )
    api.on?.('before_prompt_build', async (event) => {
      try {
        const prependContext = await contextFor(memory, event?.prompt)
        return prependContext === '' ? undefined : { prependContext }
      } catch (error) {
        // A prompt without memory is better than no prompt.
        api.logger?.warn?.(`credence: ${error instanceof Error ? error.message : String(error)}`)
        return undefined
      }
    })
    api.registerCli?.(
      ({ program }) => {
        program
          .command(checkCommand.name)
          .description(checkCommand.description)
          .action(() => check(memory))
      },
      { descriptors: [checkCommand] },
    )
  },
}

export default plugin

/** Max time for a tool call, and for the context of a prompt. */
const maxCallMs = 20_000
const maxRecallMs = 5_000

/** `credence mcp` as a child process, started on first use and restarted after it has ended. */
class MemoryProcess {
  #config
  /** The version of OpenClaw; empty if unknown. */
  #version
  #started = null
  /** The scopes in view. New beliefs go to the first. */
  scopes

  constructor(config, version) {
    this.#config = config
    this.#version = version
    this.scopes = config.scopes ?? ['user:universal']
  }

  /** Calls a tool and returns its structured answer. Throws the tool's message if it refuses. */
  async call(name, given) {
    const { isError, content, structuredContent } = await this.#ask('tools/call', { name, arguments: given }, maxCallMs)
    if (isError) throw new ToolError(content?.[0]?.text ?? `${name} failed.`)
    return structuredContent
  }

  /** The message, preceded by the recalled context. */
  async recall(message) {
    const { messages } = await this.#ask('prompts/get', { name: 'recall', arguments: { message } }, maxRecallMs)
    return messages[0].content.text
  }

  async #ask(method, params, ms) {
    this.#started ??= this.#start()
    const { request } = await this.#started
    return request(method, params, ms)
  }

  async #start() {
    const { command = ['credence'], dir, user } = this.#config
    const [program, ...args] = command
    const options = [
      ...(dir === undefined ? [] : ['--dir', dir]),
      ...(user === undefined ? [] : ['--user', user]),
      ...this.scopes.flatMap((scope) => ['--scope', scope]),
    ]
    const child = spawn(program, [...args, 'mcp', '--host', 'openclaw', ...options], {
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    const waiting = new Map()
    const end = (error) => {
      this.#started = null
      for (const { reject } of waiting.values()) reject(error)
      waiting.clear()
    }
    child.on('error', (error) => end(new Error(`${program} cannot be started: ${error.message}`)))
    child.on('exit', () => end(new Error(`${program} has ended.`)))
    child.stdin.on('error', () => {})
    // The process must not keep OpenClaw from ending; it ends itself when its input does.
    for (const handle of [child, child.stdin, child.stdout]) handle.unref?.()
    createInterface({ input: child.stdout }).on('line', (line) => {
      const { id, result, error } = JSON.parse(line)
      const { resolve, reject } = waiting.get(id) ?? {}
      waiting.delete(id)
      if (error === undefined) resolve?.(result)
      else reject?.(new Error(error.message))
    })
    const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    let last = 0
    const request = (method, params, ms) =>
      new Promise((resolve, reject) => {
        last += 1
        const id = last
        const timer = setTimeout(() => {
          waiting.delete(id)
          reject(new Error(`${program} did not answer within ${ms} ms.`))
        }, ms)
        const settled = (settle) => (value) => {
          clearTimeout(timer)
          settle(value)
        }
        waiting.set(id, { resolve: settled(resolve), reject: settled(reject) })
        send({ id, method, params })
      })
    const clientInfo = { name: 'openclaw', version: this.#version }
    await request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }, maxCallMs)
    send({ method: 'notifications/initialized' })
    return { request }
  }
}

/** A refusal by the memory, as opposed to a failure to reach it. */
class ToolError extends Error {}

async function search(memory, { query, maxResults = 6, minScore = 0, corpus = 'memory' }) {
  if (typeof query !== 'string' || query.trim() === '') throw new TypeError('query must be a non-empty text')
  if (!corpora.includes(corpus)) throw new TypeError(`corpus must be one of: ${corpora.join(', ')}`)
  if (corpus === 'wiki' || corpus === 'sessions') return { results: [], provider: 'credence' }
  const limit = Math.min(20, Math.max(1, Math.trunc(maxResults) || 1))
  const { beliefs } = await memory.call('memory_search', { query, limit, in: 'beliefs' })
  const results = beliefs.map(resultOf).filter(({ score }) => score >= minScore)
  return { results, provider: 'credence' }
}

const pathOf = (id) => `memory/beliefs/${id}.md`

function resultOf({ strength, score, ...belief }) {
  const text = pageOf(belief)
  const endLine = text.split('\n').length
  const share = score / (score + 1)
  return {
    path: pathOf(belief.id),
    startLine: 1,
    endLine,
    score: strength === 'exact' ? 0.75 + share / 4 : share / 2,
    snippet: text,
    source: 'memory',
    corpus: 'memory',
    strength,
    citation: `Source: ${pathOf(belief.id)}#L1-L${endLine}`,
  }
}

const pageOf = ({ name, content, why, scopes, updatedAt }) =>
  [
    `# ${visible(name)}`,
    visible(content),
    ...(why === '' ? [] : [`To do about it: ${visible(why)}`]),
    `(${scopes.join(', ')}, ${updatedAt})`,
  ].join('\n')

/** Removes invisible characters, so that remembered text cannot hide anything from a person. */
const visible = (text) => text.replace(/[\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu, '')

async function read(memory, { path, from, lines }) {
  const id = /^(?:memory\/beliefs\/)?([\w-]+)(?:\.md)?$/.exec(String(path ?? '').trim())?.[1]
  const missing = { text: '', path: String(path ?? '') }
  if (id === undefined) return missing
  let belief
  try {
    belief = (await memory.call('memory_get', { id })).belief
  } catch (error) {
    // The same answer for a belief that does not exist and for one out of view.
    if (error instanceof ToolError) return missing
    throw error
  }
  if (belief.id !== id) return missing
  const all = pageOf(belief).split('\n')
  const first = Math.max(1, Math.trunc(from ?? 1))
  const count = lines === undefined ? all.length : Math.max(0, Math.trunc(lines))
  const shown = all.slice(first - 1, first - 1 + count)
  return { text: shown.join('\n'), path: pathOf(id), from: first, lines: shown.length }
}

async function remember(memory, { name, content, aliases = [] }) {
  const names = [name, ...aliases].filter((one) => typeof one === 'string')
  const { outcome, belief } = await memory.call('memory_remember', {
    statement: content,
    where: memory.scopes[0],
    ...(names.length === 0 ? {} : { names }),
  })
  return { outcome, path: pathOf(belief.id) }
}

/** Tries both ways in which the plugin uses the memory: a tool call, and the context of a message. */
async function check(memory) {
  try {
    const { inView, version } = await memory.call('memory_status', {})
    await memory.recall('Hello')
    const scopes = inView.map(({ scope, beliefs }) => `${scope} (beliefs: ${beliefs})`)
    console.log(`Credence ${version} answers OpenClaw. In view: ${scopes.join(', ')}.`)
  } catch (error) {
    console.error(`Credence does not answer OpenClaw: ${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = 1
  }
}

async function contextFor(memory, prompt) {
  if (typeof prompt !== 'string' || prompt.trim() === '') return ''
  const message = prompt.slice(0, 32_000).toWellFormed()
  const text = await memory.recall(message)
  return text.endsWith(message) ? text.slice(0, text.length - message.length) : ''
}

/** The answer of a tool, as text for the model and as a value for the host. */
async function toolAnswer(work, otherwise) {
  let details
  try {
    details = await work()
  } catch (error) {
    details = otherwise(error instanceof Error ? error.message : String(error))
  }
  return { content: [{ type: 'text', text: JSON.stringify(details, null, 2) }], details }
}

/** The format in which OpenClaw's own memory reports a failure, so that it is not mistaken for "nothing found". */
const unavailable = (reason) => ({
  results: [],
  disabled: true,
  unavailable: true,
  error: reason,
  warning: 'Memory is unavailable.',
  action: 'Run `credence doctor` to see why.',
})
