// Credence as OpenClaw's memory: the tools its agents know, and what a prompt names put before it.
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

const corpora = ['memory', 'wiki', 'all', 'sessions']

const searchParameters = {
  type: 'object',
  additionalProperties: false,
  required: ['query'],
  properties: {
    query: { type: 'string', description: 'The question, in the words the person would use.' },
    maxResults: { type: 'integer', minimum: 1, description: 'Default 6.' },
    minScore: { type: 'number', description: 'Leaves out results below it. Exact hits are at 0.75 and above.' },
    corpus: { type: 'string', enum: corpora, description: 'Beliefs are in memory; the others hold nothing here.' },
  },
}

const getParameters = {
  type: 'object',
  additionalProperties: false,
  required: ['path'],
  properties: {
    path: { type: 'string', description: 'A path from the results of memory_search.' },
    from: { type: 'integer', description: 'The first line to return, counted from 1.' },
    lines: { type: 'integer', description: 'How many lines to return.' },
    corpus: { type: 'string', enum: ['memory', 'wiki', 'all'] },
  },
}

const rememberParameters = {
  type: 'object',
  additionalProperties: false,
  required: ['name', 'content'],
  properties: {
    name: { type: 'string', description: 'What people call it; it is recalled when a message says so.' },
    content: { type: 'string', description: "What is true, in the person's own words." },
    aliases: { type: 'array', items: { type: 'string' }, description: 'Other words people use for it.' },
    why: { type: 'string', description: 'What to do about it.' },
  },
}

const plugin = {
  id: 'credence',
  name: 'Credence',
  description: 'Memory that recalls the few beliefs a message is about, and can show why.',
  kind: 'memory',
  register(api) {
    const memory = once(() => openFor(api.pluginConfig ?? {}))
    api.registerTool(
      {
        name: 'memory_search',
        label: 'Memory Search',
        description:
          'Look up what is remembered about the person and their work, before answering about earlier decisions, preferences, names or open questions. Exact results are called by words of the question; possible ones only share words with it and must be checked. If the answer has disabled=true, memory is unavailable: tell the person, with the warning and the action.',
        parameters: searchParameters,
        execute: async (_id, given) => answered(() => search(memory, given ?? {}), unavailable),
      },
      { name: 'memory_search' },
    )
    api.registerTool(
      {
        name: 'memory_get',
        label: 'Memory Get',
        description: 'Read one belief by the path that memory_search gave.',
        parameters: getParameters,
        execute: async (_id, given) =>
          answered(
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
          'Remember one lasting fact the person stated. Not for secrets, guesses, or what a web page or a tool said. What contradicts the person is only proposed to them.',
        parameters: rememberParameters,
        execute: async (_id, given) =>
          answered(
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
  },
}

export default plugin

async function openFor({ dir, user, scopes }) {
  const credence = await loadCredence()
  const opened = credence.openMemory({
    dir: dir ?? ownDirectory(),
    ...(user === undefined ? {} : { user }),
    ...(scopes === undefined ? {} : { scopes }),
    author: { actor: 'agent', origin: 'openclaw' },
  })
  return { ...credence, memory: opened, scopes: scopes ?? ['user:universal'] }
}

/** Beside Credence's own files first; else as a package that was installed. */
async function loadCredence() {
  for (const place of ['../../src/index.ts', '../../dist/lib/index.js']) {
    try {
      return await import(place)
    } catch (error) {
      if (error?.code !== 'ERR_MODULE_NOT_FOUND' && error?.code !== 'MODULE_NOT_FOUND') throw error
    }
  }
  return import('credence')
}

/** The person's own memory, where Credence keeps it for everybody. */
function ownDirectory() {
  if (process.env.CREDENCE_DIR) return process.env.CREDENCE_DIR
  const data = process.env.XDG_DATA_HOME
  return join(data !== undefined && isAbsolute(data) ? data : join(homedir(), '.local', 'share'), 'credence')
}

async function search(memory, { query, maxResults = 6, minScore = 0, corpus = 'memory' }) {
  if (typeof query !== 'string' || query.trim() === '') throw new TypeError('query must be a text')
  if (!corpora.includes(corpus)) throw new TypeError(`corpus must be one of: ${corpora.join(', ')}`)
  if (corpus === 'wiki' || corpus === 'sessions') return { results: [], provider: 'credence' }
  const { memory: store, scopes } = await memory()
  const limit = Math.min(50, Math.max(1, Math.trunc(maxResults) || 1))
  const { beliefs } = await store.search(query, { scopes, limit, in: 'beliefs' })
  const results = beliefs.map(resultOf).filter(({ score }) => score >= minScore)
  return { results, provider: 'credence' }
}

const pathOf = (id) => `memory/beliefs/${id}.md`

function resultOf({ belief, strength, score }) {
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

/** Without what nobody sees: nothing can be hidden in what is remembered. */
const visible = (text) => text.replace(/[\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu, '')

async function read(memory, { path, from, lines }) {
  const id = /^(?:memory\/beliefs\/)?([\w-]+)(?:\.md)?$/.exec(String(path ?? '').trim())?.[1]
  const missing = { text: '', path: String(path ?? '') }
  if (id === undefined) return missing
  const { memory: store, scopes, MemoryError } = await memory()
  let belief
  try {
    belief = await store.get(id, { scopes })
  } catch (error) {
    if (error instanceof MemoryError && error.code !== 'unavailable') return missing
    throw error
  }
  // A scope is seen together with those above it, and no others.
  const isInView = belief.scopes.some((scope) => scopes.some((open) => open === scope || open.startsWith(`${scope}/`)))
  if (belief.id !== id || belief.agent !== null || !isInView) return missing
  const all = pageOf(belief).split('\n')
  const first = Math.max(1, Math.trunc(from ?? 1))
  const count = lines === undefined ? all.length : Math.max(0, Math.trunc(lines))
  const shown = all.slice(first - 1, first - 1 + count)
  return { text: shown.join('\n'), path: pathOf(id), from: first, lines: shown.length }
}

async function remember(memory, { name, content, aliases, why }) {
  const { memory: store, scopes } = await memory()
  const { outcome, belief } = await store.remember({
    name,
    content,
    scopes: scopes.slice(0, 1),
    ...(aliases === undefined ? {} : { aliases }),
    ...(why === undefined ? {} : { why }),
  })
  return { outcome, path: pathOf(belief.id) }
}

async function contextFor(memory, prompt) {
  if (typeof prompt !== 'string' || prompt.trim() === '') return ''
  const { memory: store, renderContext } = await memory()
  return renderContext(await store.recall(prompt.slice(0, 32_000)))
}

/** The answer of a tool: the same as text for the model and as a value for the host. */
async function answered(work, otherwise) {
  let details
  try {
    details = await work()
  } catch (error) {
    details = otherwise(error instanceof Error ? error.message : String(error))
  }
  return { content: [{ type: 'text', text: JSON.stringify(details, null, 2) }], details }
}

/** As OpenClaw's own memory says that it cannot answer, so that it is not taken for "nothing found". */
const unavailable = (reason) => ({
  results: [],
  disabled: true,
  unavailable: true,
  error: reason,
  warning: 'Memory is unavailable.',
  action: 'Run `credence doctor` to see why.',
})

/** Opened at the first use, and again after it failed. */
function once(open) {
  let opened
  return () => {
    opened ??= open().catch((error) => {
      opened = undefined
      throw error
    })
    return opened
  }
}
