import { once } from 'node:events'
import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { RouteAnswer } from '../../src/http/api/contract.ts'
import { createSandbox, endOf } from '../cli/sandbox.ts'
import { serving } from './serving.ts'

/** Server-sent events in order. */
async function* eventsIn(response: Response): AsyncGenerator<{ event: string; data: RouteAnswer<'events'> }> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true })
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const block = text.slice(0, end)
      text = text.slice(end + 2)
      const event = /^event: (.+)$/mu.exec(block)?.[1]
      const data = /^data: (.+)$/mu.exec(block)?.[1]
      if (event !== undefined && data !== undefined) yield { event, data: JSON.parse(data) }
    }
  }
}

/** Everything that a server sends on a bare socket until it closes the connection. */
async function conversation(port: number, text: string): Promise<string> {
  const socket: Socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  let heard = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    heard += chunk
  })
  socket.write(text)
  await new Promise((resolve) => socket.on('close', resolve))
  return heard
}

describe('credence serve', () => {
  it('serves a demo if there is no memory, reports it, and leaves no files', async () => {
    using place = createSandbox()
    await using server = await serving(place)

    expect(server.isDemo).toBe(true)
    expect(readdirSync(place.temporary)).toEqual([])
    const health = (await (await server.ask('/health')).json()) as RouteAnswer<'health'>
    expect(health).toMatchObject({ isDemo: true, user: 'local', dir: server.dir })
    expect(health.counts.current).toBeGreaterThan(5)
    const { code, errors } = await server.stop('SIGINT')

    expect(code).toBe(0)
    expect(errors).toContain('credence init')
    expect(existsSync(server.dir)).toBe(false)
    expect(existsSync(join(place.home, '.local'))).toBe(false)
  })

  it('fills every page of the demo: conversations, waiting items, and a run that got worse', async () => {
    using place = createSandbox()
    await using server = await serving(place, '--demo', '--evaluate')
    const get = async <Body>(path: string) => (await (await server.ask(path)).json()) as Body

    const { counts } = await get<RouteAnswer<'health'>>('/health')
    expect(counts.proposals).toBeGreaterThan(0)
    expect(counts.candidates).toBeGreaterThan(0)
    expect((await get<RouteAnswer<'listConversations'>>('/conversations')).total).toBeGreaterThan(3)
    expect((await get<RouteAnswer<'growth'>>('/growth')).recalls.length).toBeGreaterThan(3)
    await expect
      .poll(
        async () => {
          const { items } = await get<RouteAnswer<'standings'>>('/evals/standings')
          return items.find(({ system }) => system === 'invented-memory')?.broken.length ?? 0
        },
        { timeout: 60_000 },
      )
      .toBeGreaterThan(0)
    expect((await server.stop('SIGINT')).code).toBe(0)
    expect(existsSync(server.dir)).toBe(false)
  })

  it('stores its token in a private file, and keeps the login across a restart', async () => {
    using place = createSandbox()
    await place.run('init', '--dir', 'memory')
    const file = join(place.work, 'memory', 'state', 'token')
    const first = await serving(place)
    const login = await fetch(`${first.url}/api/v1/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: first.token }),
    })
    const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? ''
    expect((await first.stop()).code).toBe(0)
    expect(first.isDemo).toBe(false)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readFileSync(file, 'utf8').trim()).toBe(first.token)
    chmodSync(file, 0o644)

    await using second = await serving(place)
    const health = await fetch(`${second.url}/api/v1/health`, { headers: { cookie } })

    expect(second.token).toBe(first.token)
    expect(health.status).toBe(200)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    await second.stop()
  })

  it('listens on this machine only', async () => {
    using place = createSandbox()
    await using server = await serving(place, '--demo')
    const addresses = Object.values(networkInterfaces())
      .flat()
      .filter((one) => one !== undefined && !one.internal && one.family === 'IPv4')

    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/u)
    for (const one of addresses) {
      const socket = connect(server.port, one?.address)
      const [error] = await once(socket, 'error')
      expect((error as NodeJS.ErrnoException).code).toBe('ECONNREFUSED')
    }
    await server.stop()
  })

  it.each([['0.0.0.0'], ['::'], ['192.0.2.1'], ['example.com']])(
    'refuses --host %s without --allow-remote',
    async (host) => {
      using place = createSandbox()

      const { exitCode, stderr } = await place.run('serve', '--host', host, '--port', '0')

      expect(exitCode).toBe(2)
      expect(stderr).toContain('--allow-remote')
    },
  )

  it('reports a port in use, and names a free one', async () => {
    using place = createSandbox()
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as { port: number }

    const { exitCode, stderr } = await place.run('serve', '--demo', '--port', String(port))
    other.close()

    expect(exitCode).toBe(3)
    expect(stderr).toContain(`Port ${port} of 127.0.0.1 is in use.`)
    expect(stderr).toMatch(/Try --port \d+, or --port 0 for any free port/u)
    expect(readdirSync(place.temporary)).toEqual([])
  })

  it('prints the port as it is typed after npm start', async () => {
    using place = createSandbox()
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as { port: number }
    const env = { npm_command: 'start', npm_lifecycle_event: 'start' }

    const { stderr } = await place.runWith({ env }, 'serve', '--demo', '--port', String(port))
    other.close()

    expect(stderr).toMatch(/Try `npm start -- --port \d+`, or `npm start -- --port 0` for any free port\./u)
  })

  it('refuses a token file with other contents', async () => {
    using place = createSandbox()
    await place.run('init', '--dir', 'memory')
    const { writeFileSync } = await import('node:fs')
    writeFileSync(join(place.work, 'memory', 'state', 'token'), 'short')

    const { exitCode, stderr } = await place.run('serve', '--port', '0')

    expect(exitCode).toBe(3)
    expect(stderr).toContain('does not contain a token')
  })

  it('runs packs and the doctor in separate processes', async () => {
    using place = createSandbox()
    await using server = await serving(place, '--demo')
    const stream = eventsIn(await server.ask('/events'))
    await stream.next()

    const started = await server.ask('/evals/run', { method: 'POST', body: JSON.stringify({ pack: 'session-drift' }) })
    const { runId } = (await started.json()) as RouteAnswer<'startRun'>
    const busy = await server.ask('/evals/run', { method: 'POST', body: JSON.stringify({ pack: 'session-drift' }) })
    const doctor = (await (await server.ask('/doctor')).json()) as RouteAnswer<'doctor'>
    let run: RouteAnswer<'run'> | null = null
    for await (const { event } of stream) {
      if (event !== 'evals') continue
      const found = await server.ask(`/evals/runs/${runId}`)
      if (found.status === 200) run = (await found.json()) as RouteAnswer<'run'>
      if (run?.run.status === 'completed') break
    }

    expect(started.status).toBe(202)
    expect(busy.status).toBe(409)
    expect(doctor.ok).toBe(true)
    expect(doctor.findings.length).toBeGreaterThan(3)
    expect(run).toMatchObject({ passRate: 1, verdicts: { pass: 12 } })
    await server.stop()
  })
})

describe('live updates', () => {
  it('report changes of another process, and end with the server', async () => {
    using place = createSandbox()
    await place.run('init', '--dir', 'memory')
    await using server = await serving(place)
    const response = await server.ask('/events')
    const stream = eventsIn(response)
    const hello = (await stream.next()).value

    await endOf(place.start(['remember', 'Tea is at four.', '--name', 'tea', '--dir', 'memory']))
    const told = (await stream.next()).value

    expect(response.headers.get('content-type')).toContain('text/event-stream')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(hello).toMatchObject({ event: 'hello', data: { journalHead: 0 } })
    expect(told).toMatchObject({ event: 'journal', data: { journalHead: 1 } })
    const { code } = await server.stop()
    expect(code).toBe(0)
    expect((await stream.next()).done).toBe(true)
  })

  it('are limited to a number of pages', async () => {
    using place = createSandbox()
    await using server = await serving(place, '--demo')
    const open = await Promise.all(Array.from({ length: 60 }, () => server.ask('/events')))

    const statuses = open.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(50)
    expect(statuses.filter((status) => status === 429)).toHaveLength(10)
    for (const { body } of open) await body?.cancel()
    await server.stop()
  })
})

describe('a raw socket', () => {
  it('receives no data without a token', async () => {
    using place = createSandbox()
    await using server = await serving(place, '--demo')
    const { port, token } = server
    const status = async (text: string) => (await conversation(port, text)).split('\r\n')[0] ?? ''
    const head = `Host: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n`

    expect(await status(`GET /api/v1/health HTTP/1.1\r\n${head}\r\n`)).toContain('200')
    expect(await status(`GET /api/v1/health HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`)).toContain(
      '403',
    )
    expect(await status('GET /api/v1/health HTTP/1.1\r\nConnection: close\r\n\r\n')).toContain('400')
    expect(await status(`GET /../../../etc/passwd HTTP/1.1\r\n${head}\r\n`)).toMatch(/404|400|200|503/u)
    expect(await conversation(port, `GET /../../../etc/passwd HTTP/1.1\r\n${head}\r\n`)).not.toContain('root:')
    expect(await conversation(port, `GET /..%2f..%2f..%2fetc%2fpasswd HTTP/1.1\r\n${head}\r\n`)).not.toContain('root:')
    // No answer is fine too: the server may close the connection before the client has read it.
    expect(await status(`GET / HTTP/1.1\r\n${head}X: ${'a'.repeat(100_000)}\r\n\r\n`)).toMatch(/431|^$/u)
    const long = `POST /api/v1/recall HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: 2000000\r\n\r\n{`
    expect(await status(long)).toContain('413')
    expect(await status(`TRACE /api/v1/health HTTP/1.1\r\n${head}\r\n`)).toMatch(/405|501|400/u)
    await server.stop()
  })
})
