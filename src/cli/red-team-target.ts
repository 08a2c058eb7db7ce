import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { authorityOf, type Belief, isCurrent } from '../beliefs/belief.ts'
import { universalScope } from '../beliefs/scope.ts'
import { MemoryError } from '../errors.ts'
import type { AttackAsk, AttackStep } from '../eval/runners/red-team/red-team-case.ts'
import { type Kept, type Target, userOf } from '../eval/runners/red-team/red-team-runner.ts'
import { apiPrefix } from '../http/api/api-app.ts'
import { loopbackNames } from '../http/same-origin.ts'
import { selfNaming } from '../mcp/memory-mcp.ts'
import { modelExtractor } from '../memory/learn/model-extractor.ts'
import type { Memory } from '../memory/memory.ts'
import { syncMirror } from '../memory/mirror/sync.ts'
import { readChats } from '../memory/transfer/chats/read-chats.ts'
import { type ChatModel, noUsage } from '../models/chat-model.ts'
import { openMemory, openPorts } from '../open-memory.ts'
import { operations } from '../operations/table.ts'
import { memoryInjector } from '../proxy/add-memory.ts'
import { chatCompletions } from '../proxy/dialects.ts'
import { hearLines, newHeardLines } from './commands/conversation/hear.ts'
import { compose } from './compose.ts'
import { type HookRun, runHook } from './hooks/run-hook.ts'
import { stateDirectory } from './memory-location.ts'
import { openServedStore, servedApp } from './serve/served-store.ts'
import { projectFileName, trustProjectFile } from './trusted-memories.ts'

const home = 'project:shop'
const host = 'claude-code'
const person = { actor: 'person', origin: 'cli' } as const
const defaultAgent = 'test-agent'
const tokens = { person: 'the-token-of-the-person', agent: 'the-token-of-agents' }
const address = '127.0.0.1:4777'

type ByAgent = Extract<AttackStep, { door: 'mcp' | 'http' }>

/** A new memory in a temporary directory, attacked through the interfaces that people, agents and programs use. */
export async function openRedTeamTarget(temporary: string): Promise<Target> {
  const root = mkdtempSync(join(temporary, 'credence-red-team-'))
  const dir = join(root, 'memory')
  const servers = new Map<string, ReturnType<typeof serve>>()
  const memories = new Map<string, Memory>()
  let requests = 0

  function through(step: AttackStep): Promise<string> {
    switch (step.door) {
      case 'person': {
        const { scope, ...said } = step.remember
        return answerText(memoryOf(userOf(step)).remember({ ...said, scopes: [scope] }))
      }
      case 'forget': {
        const { belief, turnsWith } = step
        const memory = memoryOf(userOf(step))
        if (belief !== undefined) return answerText(memory.forget(belief))
        return answerText(memory.forgetTurns(turnsWith === undefined ? {} : { containing: turnsWith }))
      }
      case 'hook':
        return hear(step)
      case 'mcp':
        return callTool(step)
      case 'http':
        return send(step, step.path, {
          method: step.method,
          ...(step.body === undefined ? {} : { body: JSON.stringify(step.body) }),
        })
      case 'file':
        return editFile(step)
      case 'import': {
        const format = step.format === 'markdown' ? 'markdown' : 'records'
        const source = step.format === 'markdown' ? 'notes.md' : 'beliefs.jsonl'
        return answerText(memoryOf(userOf(step)).import(step.text, { source, format, scopes: [home] }))
      }
      case 'extractor': {
        const extractor = modelExtractor(scriptedModel(step.answer))
        return answerText(memoryOf(userOf(step)).learn(step.conversation, { extractor, scopes: [home] }))
      }
      case 'tool': {
        const turn = { text: step.text, role: 'tool', host, session: 's1' } as const
        return answerText(memoryOf(userOf(step)).hear(turn, { scopes: [home] }))
      }
      case 'chats':
        return importChats(step)
    }
  }

  /** Imports chats as `credence import chats` does. */
  async function importChats(step: Extract<AttackStep, { door: 'chats' }>): Promise<string> {
    const file = join(root, 'chats.jsonl')
    writeFileSync(file, step.text)
    const heard = newHeardLines()
    const { signal } = new AbortController()
    const request = { source: 'chats.jsonl', defaults: { host: 'import' }, learn: 'review', signal } as const
    const items = readChats(file, 'jsonl')
    await hearLines(memoryOf(userOf(step)), items, heard, { ...request, scopesOf: () => [home] })
    return JSON.stringify(heard)
  }

  /** Opens the memory as the person's commands do. */
  function memoryOf(user: string): Memory {
    const known = memories.get(user)
    if (known !== undefined) return known
    const memory = openMemory({ dir, user, scopes: [home, universalScope], author: person })
    memories.set(user, memory)
    return memory
  }

  async function hear(step: Extract<AttackStep, { door: 'hook' }>): Promise<string> {
    const user = userOf(step)
    const payload = { prompt: step.text, session_id: step.session }
    const shown = await hook('prompt-submit', { user, scopes: [home], payload })
    await hook('hear', { user, scopes: [home], payload: {} })
    return shown
  }

  /** Runs the hook command in this process, in a directory whose project has these scopes. */
  async function hook(
    event: HookRun['event'],
    { user, scopes, payload }: { readonly user: string; readonly scopes: readonly string[]; readonly payload: object },
  ): Promise<string> {
    const project = join(root, `work-${Buffer.from(scopes.join(' ')).toString('hex')}`)
    mkdirSync(project, { recursive: true })
    const file = join(project, projectFileName)
    writeFileSync(file, JSON.stringify({ scopes: [...scopes, universalScope] }))
    trustProjectFile(stateDirectory({ env: {}, home: root }), file, new Date())
    const stdout = new PassThrough()
    const session = sessionIn(project, stdout, JSON.stringify({ ...payload, cwd: project }))
    try {
      await runHook({ host, event, options: { dir, user } }, session)
    } finally {
      await session.close()
    }
    const printed = String(stdout.read() ?? '')
    return printed === '' ? '' : JSON.parse(printed).hookSpecificOutput.additionalContext
  }

  function sessionIn(cwd: string, stdout: PassThrough, input = '') {
    const stdin = new PassThrough()
    stdin.end(input)
    return compose(
      {
        env: { HOME: root },
        home: root,
        temporary: root,
        workingDirectory: () => cwd,
        stdin: () => stdin,
        stdout,
        stderr: new PassThrough().resume() as PassThrough,
        // A start in the future postpones the hook's deadline, so that the result of a case does not depend on the speed of the machine.
        startedAt: performance.now() + 60_000,
      },
      async () => {},
    )
  }

  async function callTool(step: Extract<AttackStep, { door: 'mcp' }>): Promise<string> {
    const { tool, arguments: given, agent = defaultAgent } = step
    const text = await askMcp((path, init) => send(step, path, init), {
      agent,
      method: 'tools/call',
      name: tool,
      params: { name: tool, arguments: given },
    })
    if (/"message":"(?:Tool .* not found|Method not found)/u.test(text))
      throw new TypeError(`There is no tool "${tool}".`)
    return text
  }

  /** One request over MCP. Newer clients send their name in `_meta`: a header could not contain every name. */
  async function askMcp(
    ask: (path: string, init: RequestInit) => Promise<string>,
    { agent, method, name, params }: { agent: string; method: string; name: string; params: object },
  ): Promise<string> {
    requests += 1
    const { headers, _meta } = selfNaming(agent, { method, name })
    const named = Object.entries({ ...headers, 'mcp-name': name === '' ? undefined : headers['mcp-name'] })
    const body = JSON.stringify({ jsonrpc: '2.0', id: requests, method, params: { ...params, _meta } })
    const sent = named.flatMap(([header, value]) => (value === undefined ? [] : [[header, value] as const]))
    const accept = ['accept', 'application/json, text/event-stream'] as const
    return ask('/mcp', { method: 'POST', headers: Object.fromEntries([accept, ...sent]), body })
  }

  const served = (user: string, project: string) => {
    const known = servers.get(`${user} ${project}`) ?? serve(user, project)
    servers.set(`${user} ${project}`, known)
    return known
  }

  async function send(step: ByAgent, path: string, init: RequestInit): Promise<string> {
    const { request } = await served(userOf(step), step.project ?? home)
    const response = await request(path, init)
    const text = await response.text()
    // An attack on a route that does not exist proves nothing.
    if (response.status >= 500 || response.status === 405 || text.includes('There is no /'))
      throw new TypeError(`${init.method} ${path} was answered with ${response.status}: ${text.slice(0, 200)}`)
    return `${response.status} ${text}`
  }

  /** A server for this memory and a project, called without a socket. */
  async function serve(user: string, project: string) {
    const scopes = [project, universalScope]
    const session = sessionIn(root, new PassThrough())
    const place = { dir, user, scopes, homeScopes: [project], isDemo: false }
    const open = await openServedStore(session, openPorts(dir), place, () => {})
    const bugs: unknown[] = []
    const onBug = (error: unknown): void => void bugs.push(error)
    const endedSessions = { has: () => false, add: async () => {} }
    const options = { tokens, endedSessions, hosts: loopbackNames, webDirectory: root, onBug }
    const { app, mcp, close } = servedApp(open, options)
    return {
      request: async (path: string, init: RequestInit): Promise<Response> => {
        const response = await app.request(path, {
          ...init,
          headers: {
            host: address,
            authorization: `Bearer ${tokens.agent}`,
            ...(init.body === undefined || init.body === null ? {} : { 'content-type': 'application/json' }),
            ...init.headers,
          },
        })
        if (bugs.length > 0) throw bugs[0]
        return response
      },
      close: async () => {
        close()
        await mcp.close()
        await open.close()
        await session.close()
      },
    }
  }

  /** The list of resources over MCP, and every listed resource. */
  async function readResources(user: string): Promise<string> {
    const { request } = await served(user, home)
    const ask = async (path: string, init: RequestInit): Promise<string> => (await request(path, init)).text()
    const call = (method: string, params: { readonly uri?: string }): Promise<string> =>
      askMcp(ask, { agent: defaultAgent, method, name: params.uri ?? '', params })
    const listed = await call('resources/list', {})
    const uris = [...new Set([...listed.matchAll(/"uri":"([^"]+)"/gu)].map(([, uri = '']) => uri))]
    const read = await Promise.all(uris.map((uri) => call('resources/read', { uri })))
    return [listed, ...read].join('\n')
  }

  /** The data of the dashboard's pages: every list, a recall and a search. */
  async function readPages(user: string, message: string): Promise<string> {
    const { request } = await served(user, home)
    const headers = { authorization: `Bearer ${tokens.person}` }
    const lists = Object.values(operations)
      .flatMap(({ http, ...rest }) => ('isStream' in rest || !/^GET [^:]+$/u.test(http) ? [] : [http.slice(4)]))
      .map((path) =>
        request(`${apiPrefix}${path}?${new URLSearchParams(path === '/search' ? { q: message } : {})}`, {
          method: 'GET',
          headers,
        }),
      )
    const body = JSON.stringify({ message, scopes: [home, universalScope] })
    const recalled = request(`${apiPrefix}/recall`, { method: 'POST', headers, body })
    return (await Promise.all([...lists, recalled].map(async (answer) => (await answer).text()))).join('\n')
  }

  /** The request that the proxy forwards to a model. */
  async function readProxied(user: string, message: string): Promise<string> {
    const scopes = [home, universalScope]
    const memory = memoryOf(user)
    const { prepare } = memoryInjector({
      memory: { recall: (_, said) => memory.recall(said), keep: async () => {} },
      view: { user, scopes, homeScopes: [home] },
      isPaused: () => true,
      deadlineMs: 60_000,
      now: () => new Date(),
      log: () => {},
    })
    const asked = Buffer.from(JSON.stringify({ model: 'scripted', messages: [{ role: 'user', content: message }] }))
    const prepared = await prepare(chatCompletions, asked, { user, scopes, homeScopes: [home] })
    return prepared.body.toString('utf8')
  }

  async function readMirror(user: string): Promise<string> {
    const ports = openPorts(dir)
    try {
      await syncMirror(ports, { dir, user })
      return readFileSync(join(dir, 'MEMORY.md'), 'utf8')
    } finally {
      await ports.store.close()
    }
  }

  /** Edits MEMORY.md as another program would, and syncs. */
  async function editFile(step: Extract<AttackStep, { door: 'file' }>): Promise<string> {
    const { edit, line = '', old = '', heading } = step
    const file = join(dir, 'MEMORY.md')
    const ports = openPorts(dir)
    try {
      const sync = () => syncMirror(ports, { dir, user: userOf(step) })
      if (!existsSync(file)) await sync()
      const before = readFileSync(file, 'utf8')
      const lines = before.split('\n')
      const at = lines.findIndex((line) => line.includes(old))
      if (edit === 'append') writeFileSync(file, appendLine(before, line, heading))
      else if (at === -1) return `refused: MEMORY.md has no line with "${old}".`
      else {
        const kept = lines[at]?.match(/<!--.*-->/u)?.[0] ?? ''
        lines.splice(at, 1, ...(edit === 'remove' ? [] : [`${line} ${kept}`]))
        writeFileSync(file, lines.join('\n'))
      }
      return JSON.stringify(await sync())
    } finally {
      await ports.store.close()
    }
  }

  return {
    take: async (step) => {
      try {
        return await through(step)
      } catch (error) {
        if (error instanceof MemoryError) return `refused: ${error.message}`
        throw error
      }
    },
    kept: async (user: string): Promise<readonly Kept[]> => {
      const { items } = await memoryOf(user).list({ limit: 1_000 })
      return items.map(keptOf)
    },
    context: async ({ user, message, scopes }: AttackAsk): Promise<string> => {
      const payload = { prompt: message, session_id: 'later' }
      const atStart = await hook('session-start', { user, scopes, payload })
      return `${atStart}${await hook('prompt-submit', { user, scopes, payload })}`
    },
    search: async ({ user, message, scopes }: AttackAsk): Promise<readonly string[]> => {
      const found = await memoryOf(user).search(message, { scopes: [...scopes, universalScope], in: 'turns' })
      return found.quotes.map(({ text }) => text)
    },
    surfaces: async ({ user, message }: AttackAsk): Promise<Readonly<Record<string, string>>> => {
      const memory = memoryOf(user)
      const { items } = await memory.list({ limit: 1_000 })
      const exported: unknown[] = []
      for await (const belief of memory.export()) exported.push(belief)
      for await (const turn of memory.exportTurns()) exported.push(turn)
      return {
        recall: await answerText(memory.recall(message)),
        search: await answerText(memory.search(message)),
        list: JSON.stringify([items, (await memory.turns({ limit: 1_000 })).items]),
        export: JSON.stringify(exported),
        'MCP resources': await readResources(user),
        proxy: await readProxied(user, message),
        dashboard: await readPages(user, message),
        'MEMORY.md': await readMirror(user),
      }
    },
    end: async (): Promise<readonly Uint8Array[]> => {
      try {
        for (const served of servers.values()) await (await served).close()
        for (const memory of memories.values()) await memory.close()
        return (
          readdirSync(dir, { recursive: true, withFileTypes: true })
            // An attacker's own edit of MEMORY.md does not count; only derived files are searched.
            .filter((entry) => entry.isFile() && entry.name !== 'MEMORY.md')
            .map((entry) => readFileSync(join(entry.parentPath, entry.name)))
        )
      } finally {
        rmSync(root, { recursive: true, force: true })
      }
    },
  }
}

const answerText = async (result: Promise<unknown>): Promise<string> => JSON.stringify(await result)

/** Appends a line to a section of MEMORY.md, adding the section if necessary; without a heading, to the end of the file. */
function appendLine(text: string, line: string, heading: string | undefined): string {
  if (heading === undefined) return `${text.trimEnd()}\n${line}\n`
  const title = `## ${heading}`
  const parts = text.split(/^(?=## )/mu)
  const own = parts.findIndex((part) => part.startsWith(`${title}\n`))
  const isOwn = own >= 0
  const made = `${isOwn ? (parts[own] ?? '').trimEnd() : title}\n${isOwn ? '' : '\n'}${line}\n\n`
  // New sections come before the last one, where the mirror adds new lines.
  return (isOwn ? parts.with(own, made) : parts.toSpliced(-1, 0, made)).join('')
}

/** A model that gives the same answer to every request. */
const scriptedModel = (answer: string): ChatModel => ({
  provider: 'openai',
  model: 'scripted',
  reply: async () => ({ text: answer, toolCalls: [], stopReason: 'end', usage: noUsage, model: 'scripted' }),
})

const keptOf = (belief: Belief): Kept => {
  const isWaiting = belief.candidate || (belief.proposedFor !== null && belief.status !== 'superseded')
  const state = isCurrent(belief) ? 'current' : isWaiting ? 'waiting' : 'retired'
  const { id, user, name, aliases, content, why, scopes, pinned, status, confidence, createdAt } = belief
  const isPersons = authorityOf(belief) === 'person'
  return { id, user, name, aliases, content, why, scopes, pinned, status, confidence, createdAt, state, isPersons }
}
