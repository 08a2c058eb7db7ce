import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { tourScopes } from '../../src/cli/commands/connect/tour.ts'
import { compose } from '../../src/cli/compose.ts'
import { fillDemo } from '../../src/cli/serve/demo-memory.ts'
import { openServedStore } from '../../src/cli/serve/served-store.ts'
import { startRun } from '../../src/eval/run/run.ts'
import { recallRunners } from '../../src/eval/runners/retrieval/retrieval-runner.ts'
import { openPackFolder } from '../../src/eval/runners/runner.ts'
import type { ApiErrorBody, RouteAnswer } from '../../src/http/api/contract.ts'
import { loopbackNames } from '../../src/http/same-origin.ts'
import { type ServerOptions, serverApp } from '../../src/http/server-app.ts'
import { openPorts } from '../../src/open-memory.ts'
import { openServer } from '../../src/open-server.ts'
import type { ServedMemory, ServedPeople, ServerFacts } from '../../src/operations/served-memory.ts'
import { temporaryDirectory } from '../temporary-directory.ts'

export const token = 'a-token-of-43-characters-0123456789-abcdefg'
export const agentToken = 'the-token-of-agents-has-43-characters-01234'
export const host = '127.0.0.1:4777'

/** The sender of a request: with a token, with the cookie and the header, with the cookie alone, or without credentials. */
export type Asker = 'program' | 'agent' | 'page' | 'page without header' | 'nobody'

type Sent = {
  readonly as?: Asker
  readonly body?: unknown
  /** Sent unchanged, in place of `body`, which is sent as JSON. */
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** An answer. `Body` is the type that the test expects; nothing else checks it. */
export type Answered<Body = ApiErrorBody> = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: Body
}

/** A real server on a demo memory in a real store, called without a socket. */
export async function startTestServer({
  store,
  busyTimeoutMs,
  server: facts,
  people,
  view,
  ...options
}: Partial<Omit<ServerOptions, 'served'>> & {
  /** Parts of the served memory that are replaced. */
  readonly server?: Partial<ServerFacts>
  readonly people?: Partial<ServedPeople>
  readonly view?: Partial<ServedMemory['view']>
  /** The address of a PostgreSQL store. */
  readonly store?: string | undefined
  readonly busyTimeoutMs?: number
} = {}) {
  const directory = temporaryDirectory()
  const paths = ['home', 'work', 'tmp', 'memory', 'web'].map((name) => join(directory.path, name))
  for (const path of paths) mkdirSync(path, { mode: 0o700 })
  const [home, work, temporary, dir, webDirectory] = paths as [string, string, string, string, string]
  const quiet = (): PassThrough => new PassThrough().resume() as PassThrough
  const session = compose(
    {
      // Recalls by words alone, because these ports have no model.
      env: { PATH: process.env.PATH, HOME: home, XDG_CACHE_HOME: temporary, CREDENCE_SEMANTIC: 'off' },
      home,
      temporary,
      workingDirectory: () => work,
      stdin: quiet,
      stdout: quiet(),
      stderr: quiet(),
    },
    async () => {},
  )
  const server = store === undefined ? undefined : () => openServer(dir, store)
  const ports = openPorts(dir, { server, busyTimeoutMs })
  await fillDemo(ports, dir)
  const place = { dir, user: 'local', scopes: tourScopes, homeScopes: tourScopes.slice(0, 1), isDemo: true }
  const problems: unknown[] = []
  const open = await openServedStore(session, ports, place, (line) => problems.push(line))
  const served: ServedMemory = {
    ...open.served,
    server: { ...open.served.server, ...facts },
    people: { ...open.served.people, ...people },
    view: { ...open.served.view, ...view },
  }
  const ended = new Set<string>()
  const { app, close } = serverApp({
    tokens: { person: token, agent: agentToken },
    endedSessions: { has: (id) => ended.has(id), add: async (id) => void ended.add(id) },
    hosts: loopbackNames,
    webDirectory,
    onBug: (error) => problems.push(error),
    ...options,
    served,
  })
  let cookie = ''

  const send = async <Body = ApiErrorBody>(
    method: string,
    path: string,
    { as = 'program', body, text, headers = {} }: Sent = {},
  ): Promise<Answered<Body>> => {
    if (as.startsWith('page') && cookie === '') cookie = await logIn()
    const content = text ?? (body === undefined ? undefined : JSON.stringify(body))
    const response = await app.request(path, {
      method,
      headers: {
        host,
        ...(content === undefined ? {} : { 'content-type': 'application/json' }),
        ...(as === 'program' ? { authorization: `Bearer ${token}` } : {}),
        ...(as === 'agent' ? { authorization: `Bearer ${agentToken}` } : {}),
        ...(as.startsWith('page') ? { cookie } : {}),
        ...(as === 'page' ? { 'x-credence': '1' } : {}),
        ...headers,
      },
      ...(content === undefined ? {} : { body: content }),
    })
    const answer = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
    return {
      status: response.status,
      headers: response.headers,
      text: answer,
      body: (isJson ? JSON.parse(answer) : null) as Body,
    }
  }

  const logIn = async (): Promise<string> => {
    const { headers } = await send('POST', '/api/v1/login', { as: 'nobody', body: { token } })
    return headers.get('set-cookie')?.split(';')[0] ?? ''
  }

  return {
    dir,
    webDirectory,
    ports,
    session,
    served: open.served,
    evalRoot: open.evalRoot,
    app,
    problems,
    send,
    /** The counts of passed and failed cases of a stored run. */
    ofRun: async (runId: string) =>
      (await send<RouteAnswer<'cases'>>('GET', `/api/v1/evals/runs/${runId}/cases?limit=200`)).body.items,
    /** Runs a shipped pack in this process and stores the run; `name` stores one system under the name of another. */
    evaluate: async (pack: string, runId: string, system: 'bm25' | 'none' = 'bm25', name: string = system) => {
      const { systems, packsDirectory } = await session.evaluation()
      const subject = { ...(await systems({ packsDirectory, embedder: 'none' }).open(system)), name }
      try {
        const benchmark = await openPackFolder(
          join(packsDirectory, pack),
          recallRunners(async () => subject),
          { explain: true },
        )
        await startRun(
          benchmark,
          runId,
          { repeats: 1, seed: 1 },
          {
            root: open.evalRoot,
            now: () => new Date(),
            signal: new AbortController().signal,
            environment: {
              given: {},
              settings: {},
              git: null,
              node: process.version,
              os: { platform: 'test', release: 'test', arch: 'test' },
            },
          },
        )
      } finally {
        await subject.close()
      }
    },
    [Symbol.asyncDispose]: async () => {
      close()
      await open.close()
      directory[Symbol.dispose]()
    },
  }
}
