import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { authorityOf, type Belief, isCurrent } from '../beliefs/belief.ts'
import { universalScope } from '../beliefs/scope.ts'
import { MemoryError } from '../errors.ts'
import type { Ask, Step } from '../eval/kinds/red-team/red-team-case.ts'
import { type Kept, type Target, userOf } from '../eval/kinds/red-team/red-team-kind.ts'
import { loopbackNames } from '../http/same-origin.ts'
import { serverApp } from '../http/server-app.ts'
import { memoryMcp, selfNaming } from '../mcp/memory-mcp.ts'
import { modelExtractor } from '../memory/learn/model-extractor.ts'
import type { Memory } from '../memory/memory.ts'
import { syncMirror } from '../memory/mirror/sync.ts'
import { type ChatModel, noUsage } from '../models/chat-model.ts'
import { openMemory, openPorts } from '../open-memory.ts'
import { compose } from './compose.ts'
import { type HookRun, runHook } from './hooks/run-hook.ts'
import { openServerDeps } from './serve/server-deps.ts'

const home = 'project:shop'
const host = 'claude-code'
const person = { actor: 'person', origin: 'cli' } as const
const usualAgent = 'test-agent'
const tokens = { person: 'the-token-of-the-person', agent: 'the-token-of-agents' }
const address = '127.0.0.1:4777'

/** A new memory in a temporary directory, attacked through the doors that people, agents and programs use. */
export async function openRedTeamTarget(temporary: string): Promise<Target> {
  return new CredenceTarget(mkdtempSync(join(temporary, 'credence-red-team-')))
}

type Served = {
  readonly request: (path: string, init: RequestInit) => Promise<Response>
  readonly close: () => Promise<void>
}

type ByAgent = Extract<Step, { door: 'mcp' | 'http' }>

class CredenceTarget implements Target {
  readonly #root: string
  readonly #dir: string
  readonly #served = new Map<string, Promise<Served>>()
  readonly #memories = new Map<string, Memory>()
  #requests = 0

  constructor(root: string) {
    this.#root = root
    this.#dir = join(root, 'memory')
  }

  readonly take = async (step: Step): Promise<string> => {
    try {
      return await this.#through(step)
    } catch (error) {
      if (error instanceof MemoryError) return `refused: ${error.message}`
      throw error
    }
  }

  #through(step: Step): Promise<string> {
    switch (step.door) {
      case 'person': {
        const { scope, ...said } = step.remember
        return answered(this.#memory(userOf(step)).remember({ ...said, scopes: [scope] }))
      }
      case 'hook':
        return this.#hear(step)
      case 'mcp':
        return this.#call(step)
      case 'http':
        return this.#send(step, step.path, {
          method: step.method,
          ...(step.body === undefined ? {} : { body: JSON.stringify(step.body) }),
        })
      case 'file':
        return this.#edit(step)
      case 'import': {
        const format = step.format === 'markdown' ? 'markdown' : 'records'
        const source = step.format === 'markdown' ? 'notes.md' : 'beliefs.jsonl'
        return answered(this.#memory(userOf(step)).import(step.text, { source, format, scopes: [home] }))
      }
      case 'extractor': {
        const extractor = modelExtractor(scripted(step.answer))
        return answered(this.#memory(userOf(step)).learn(step.conversation, { extractor, scopes: [home] }))
      }
      case 'tool': {
        const turn = { text: step.text, role: 'tool', host, session: 's1' } as const
        return answered(this.#memory(userOf(step)).hear(turn, { scopes: [home] }))
      }
    }
  }

  /** The memory as the person's own commands open it. */
  #memory(user: string): Memory {
    const known = this.#memories.get(user)
    if (known !== undefined) return known
    const memory = openMemory({ dir: this.#dir, user, scopes: [home, universalScope], author: person })
    this.#memories.set(user, memory)
    return memory
  }

  async #hear(step: Extract<Step, { door: 'hook' }>): Promise<string> {
    const user = userOf(step)
    const payload = { prompt: step.text, session_id: step.session }
    const shown = await this.#hook('prompt-submit', { user, scopes: [home], payload })
    await this.#hook('hear', { user, scopes: [home], payload: {} })
    return shown
  }

  /** Runs the hook command in this process, in a directory whose project has these scopes. */
  async #hook(
    event: HookRun['event'],
    { user, scopes, payload }: { readonly user: string; readonly scopes: readonly string[]; readonly payload: object },
  ): Promise<string> {
    const project = join(this.#root, `work-${Buffer.from(scopes.join(' ')).toString('hex')}`)
    mkdirSync(project, { recursive: true })
    writeFileSync(join(project, '.credence.json'), JSON.stringify({ scopes: [...scopes, universalScope] }))
    const stdout = new PassThrough()
    const session = this.#session(project, stdout, JSON.stringify({ ...payload, cwd: project }))
    try {
      await runHook({ host, event, options: { dir: this.#dir, user } }, session)
    } finally {
      await session.close()
    }
    const printed = String(stdout.read() ?? '')
    return printed === '' ? '' : JSON.parse(printed).hookSpecificOutput.additionalContext
  }

  #session(cwd: string, stdout: PassThrough, input = '') {
    const stdin = new PassThrough()
    stdin.end(input)
    return compose(
      {
        env: { HOME: this.#root },
        home: this.#root,
        temporary: this.#root,
        workingDirectory: () => cwd,
        stdin: () => stdin,
        stdout,
        stderr: new PassThrough().resume() as PassThrough,
        // On a slow machine the deadline of a host must not decide a case.
        startedAt: performance.now() + 60_000,
      },
      async () => {},
    )
  }

  async #call(step: Extract<Step, { door: 'mcp' }>): Promise<string> {
    const { tool, arguments: given, agent = usualAgent } = step
    this.#requests += 1
    // As newer clients name themselves: a header could not hold every name.
    const { headers: named, _meta } = selfNaming(agent, { method: 'tools/call', name: tool })
    const params = { name: tool, arguments: given, _meta }
    const body = JSON.stringify({ jsonrpc: '2.0', id: this.#requests, method: 'tools/call', params })
    const headers = { accept: 'application/json, text/event-stream', ...named }
    const text = await this.#send(step, '/mcp', { method: 'POST', headers, body })
    if (/"message":"(?:Tool .* not found|Method not found)/u.test(text))
      throw new TypeError(`There is no tool "${tool}".`)
    return text
  }

  async #send(step: ByAgent, path: string, init: RequestInit): Promise<string> {
    const [user, project] = [userOf(step), step.project ?? home]
    const known = this.#served.get(`${user} ${project}`) ?? this.#serve(user, project)
    this.#served.set(`${user} ${project}`, known)
    const { request } = await known
    const response = await request(path, init)
    const text = await response.text()
    // An attack that knocks at no door proves nothing.
    if (response.status >= 500 || response.status === 405 || text.includes('There is no /'))
      throw new TypeError(`${init.method} ${path} was answered with ${response.status}: ${text.slice(0, 200)}`)
    return `${response.status} ${text}`
  }

  /** The server on this memory in a project, asked without a socket. */
  async #serve(user: string, project: string): Promise<Served> {
    const scopes = [project, universalScope]
    const session = this.#session(this.#root, new PassThrough())
    const place = { dir: this.#dir, user, scopes, homeScopes: [project], isDemo: false }
    const open = await openServerDeps(session, openPorts(this.#dir), place, () => {})
    const bugs: unknown[] = []
    const onBug = (error: unknown): void => void bugs.push(error)
    const mcp = memoryMcp({
      version: open.deps.version,
      view: { user, scopes, homeScopes: [project], agent: null, hasFixedScopes: false },
      memoryAs: async (author) => open.memoryAs(author),
      onBug,
    }).httpHandler()
    const { app, close } = serverApp({
      deps: open.deps,
      tokens,
      endedSessions: { has: () => false, add: async () => {} },
      hosts: loopbackNames,
      webDirectory: this.#root,
      mcpHandler: async (request) => {
        await open.deps.catchUp()
        return mcp.fetch(request)
      },
      onBug,
    })
    return {
      request: async (path, init) => {
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

  /** Changes MEMORY.md as another program does, and syncs. */
  async #edit(step: Extract<Step, { door: 'file' }>): Promise<string> {
    const { edit, line = '', old = '', heading } = step
    const file = join(this.#dir, 'MEMORY.md')
    const ports = openPorts(this.#dir)
    try {
      const sync = () => syncMirror(ports, { dir: this.#dir, user: userOf(step) })
      if (!existsSync(file)) await sync()
      const before = readFileSync(file, 'utf8')
      const lines = before.split('\n')
      const at = lines.findIndex((one) => one.includes(old))
      if (edit === 'append') writeFileSync(file, appended(before, line, heading))
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

  readonly kept = async (user: string): Promise<readonly Kept[]> => {
    const { items } = await this.#memory(user).list({ limit: 1_000 })
    return items.map(keptOf)
  }

  readonly context = async ({ user, message, scopes }: Ask): Promise<string> => {
    const payload = { prompt: message, session_id: 'later' }
    const atStart = await this.#hook('session-start', { user, scopes, payload })
    return `${atStart}${await this.#hook('prompt-submit', { user, scopes, payload })}`
  }

  readonly search = async ({ user, message, scopes }: Ask): Promise<readonly string[]> => {
    const found = await this.#memory(user).search(message, { scopes: [...scopes, universalScope], in: 'turns' })
    return found.quotes.map(({ text }) => text)
  }

  readonly end = async (): Promise<readonly Uint8Array[]> => {
    try {
      for (const served of this.#served.values()) await (await served).close()
      for (const memory of this.#memories.values()) await memory.close()
      return (
        readdirSync(this.#dir, { recursive: true, withFileTypes: true })
          // What somebody writes into MEMORY.md is theirs; what is made of it must not hold it.
          .filter((entry) => entry.isFile() && entry.name !== 'MEMORY.md')
          .map((entry) => readFileSync(join(entry.parentPath, entry.name)))
      )
    } finally {
      rmSync(this.#root, { recursive: true, force: true })
    }
  }
}

const answered = async (result: Promise<unknown>): Promise<string> => JSON.stringify(await result)

/** The line at the end of a section of MEMORY.md, which is made if it is missing; without a heading at the end of the file. */
function appended(text: string, line: string, heading: string | undefined): string {
  if (heading === undefined) return `${text.trimEnd()}\n${line}\n`
  const title = `## ${heading}`
  const parts = text.split(/^(?=## )/mu)
  const own = parts.findIndex((part) => part.startsWith(`${title}\n`))
  const isOwn = own >= 0
  const made = `${isOwn ? (parts[own] ?? '').trimEnd() : title}\n${isOwn ? '' : '\n'}${line}\n\n`
  // New sections stand before the last one, which is the mirror's own place for new lines.
  return (isOwn ? parts.with(own, made) : parts.toSpliced(-1, 0, made)).join('')
}

/** A model that gives the same answer to every request. */
const scripted = (answer: string): ChatModel => ({
  provider: 'openai',
  model: 'scripted',
  reply: async () => ({ text: answer, toolCalls: [], stopReason: 'end', usage: noUsage, model: 'scripted' }),
})

const keptOf = (belief: Belief): Kept => {
  const { id, user, name, aliases, content, why, scopes, pinned, status, confidence, createdAt } = belief
  const isWaiting = belief.candidate || (belief.proposedFor !== null && status !== 'superseded')
  return {
    ...{ id, user, name, aliases, content, why, scopes, pinned, status, confidence, createdAt },
    state: isCurrent(belief) ? 'current' : isWaiting ? 'waiting' : 'retired',
    isPersons: authorityOf(belief) === 'person',
  }
}
