import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * A fault of one request: a refusal with a status; a connection that is cut before or after the work, or in the middle of the upload; no
 * answer at all; a web page; a redirect; an answer without the upload's location.
 */
export type Fault = number | 'cut' | 'cut after' | 'half' | 'hang' | 'page' | 'redirect' | 'nameless'

export type ArenaCall = {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
}

/** A local arena with the five paths of a match. Each fault applies once, to the next request of its path. */
export async function localArena(key: string, faults: Record<string, Fault[]> = {}) {
  const calls: ArenaCall[] = []
  const kept = { registered: 0, markdown: [] as unknown[], artifacts: [] as Buffer[], reports: [] as unknown[] }
  /** Answers by idempotency key, so that a repeated request changes nothing. */
  const answered = new Map<string, unknown>()
  const server = createServer((incoming, outgoing) => void handle(incoming, outgoing).catch(() => outgoing.destroy()))

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = incoming
    calls.push({ method, path, headers })
    const fault = faults[path]?.shift()
    const chunks: Buffer[] = []
    for await (const chunk of incoming) {
      if (fault === 'half') return void incoming.destroy()
      chunks.push(Buffer.from(chunk))
    }
    const answer = (status: number, value: unknown): void => {
      outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    }
    if (fault === 'hang') return
    if (fault === 'cut') return void outgoing.destroy()
    if (fault === 'page') return void outgoing.setHeader('content-type', 'text/html').end('<!doctype html>Log in')
    if (fault === 'redirect') return void outgoing.writeHead(302, { location: 'https://other.example/login?k=1' }).end()
    if (typeof fault === 'number') return answer(fault, { error: `fault ${fault}`, seen: headers.authorization })
    if (headers.authorization !== `Bearer ${key}`) return answer(401, { error: 'unknown agent' })
    const id = String(headers['idempotency-key'])
    const value = (method === 'POST' ? answered.get(id) : undefined) ?? perform(method, path, Buffer.concat(chunks))
    answered.set(id, value)
    if (fault === 'cut after') return void outgoing.destroy()
    if (value === null) return answer(404, { error: 'no such path' })
    answer(method === 'POST' ? 201 : 200, fault === 'nameless' ? { ok: true } : value)
  }

  function perform(method: string, path: string, body: Buffer): unknown {
    if (method === 'GET') return path.startsWith('/matches/') ? { brief: 'Remember things.' } : null
    if (/^\/api\/v1\/matches\/\w+\/register$/u.test(path)) return { registered: ++kept.registered }
    if (path === '/api/v1/agent-reports/markdown')
      return { data: { path: `markdown/${kept.markdown.push(JSON.parse(body.toString()))}.md` } }
    if (path === '/api/v1/agent-reports/artifacts')
      return { artifact_path: `artifacts/${kept.artifacts.push(body)}.zip` }
    if (path === '/api/v1/agent-reports') return { id: kept.reports.push(JSON.parse(body.toString())) }
    return null
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    kept,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
