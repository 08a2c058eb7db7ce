import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * What goes wrong with a request: a status, a connection cut before anything is done, or cut after all of it is, a web
 * page instead of an answer, a pointer to another place, or an answer that does not say where the upload is.
 */
export type Fault = number | 'cut' | 'cut after' | 'page' | 'elsewhere' | 'nameless'

export type ArenaCall = {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

/** An arena on this machine with the five paths of a single task. Faults are used up one by one, by path. */
export async function localArena(key: string, faults: Record<string, Fault[]> = {}) {
  const calls: ArenaCall[] = []
  const kept = {
    registered: new Set<string>(),
    markdown: [] as unknown[],
    artifacts: [] as Buffer[],
    reports: [] as Record<string, unknown>[],
  }
  const server = createServer((incoming, outgoing) => void handle(incoming, outgoing))

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(Buffer.from(chunk))
    const body = Buffer.concat(chunks)
    const { method = '', url: path = '', headers } = incoming
    calls.push({ method, path, headers, body })
    const answer = (status: number, value: unknown): void => {
      outgoing.writeHead(status, { 'content-type': 'application/json' })
      outgoing.end(JSON.stringify(value))
    }
    const fault = faults[path]?.shift()
    if (fault === 'cut') return void outgoing.destroy()
    if (fault === 'page') return void outgoing.setHeader('content-type', 'text/html').end('<!doctype html>Log in')
    if (fault === 'elsewhere')
      return void outgoing.writeHead(302, { location: 'https://other.example/login?k=1' }).end()
    if (typeof fault === 'number') return answer(fault, { error: `fault ${fault}`, seen: headers.authorization })
    if (headers.authorization !== `Bearer ${key}`) return answer(401, { error: 'who are you?' })
    const done = perform(method, path, body)
    if (fault === 'cut after') return void outgoing.destroy()
    answer(done.status, fault === 'nameless' ? { ok: true } : done.value)
  }

  function perform(method: string, path: string, body: Buffer): { readonly status: number; readonly value: unknown } {
    const [, match = ''] = /^\/api\/v1\/matches\/([^/]+)\/register$/u.exec(path) ?? []
    if (method === 'POST' && match !== '') {
      if (kept.registered.has(match)) return { status: 409, value: { error: 'already registered' } }
      kept.registered.add(match)
      return { status: 201, value: { ok: true } }
    }
    if (method === 'GET' && path.startsWith('/matches/')) return { status: 200, value: { brief: 'Remember things.' } }
    if (method === 'POST' && path === '/api/v1/agent-reports/markdown') {
      kept.markdown.push(JSON.parse(body.toString()))
      return { status: 201, value: { data: { path: `markdown/${kept.markdown.length}.md` } } }
    }
    if (method === 'POST' && path === '/api/v1/agent-reports/artifacts') {
      kept.artifacts.push(body)
      return { status: 201, value: { artifact_path: `artifacts/${kept.artifacts.length}.zip` } }
    }
    if (method === 'POST' && path === '/api/v1/agent-reports') {
      kept.reports.push(JSON.parse(body.toString()))
      return { status: 201, value: { id: 7 } }
    }
    return { status: 404, value: { error: 'no such path' } }
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    kept,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
