import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request as plainRequest } from 'node:http'
import { request } from 'node:https'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createSandbox } from '../cli/sandbox.ts'
import { serving } from '../http/serving.ts'

const missing = ['nginx', 'openssl'].filter((name) => spawnSync(name, ['-v']).error !== undefined)
if (missing.length > 0)
  console.log(
    `${missing.join(' and ')} not installed, so the TLS example is not tested. apt-get install ${missing.join(' ')}`,
  )

const name = 'memory.example.org'

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

/** nginx with the server block of docs/teams.md, with only ports and files changed. */
async function proxied(serverPort: number, port: number) {
  const directory = mkdtempSync(join(tmpdir(), 'credence-nginx-'))
  const certificate = join(directory, 'tls.pem')
  const key = join(directory, 'tls.key')
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`]
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  execFileSync('openssl', ['req', ...kind, ...subject, '-keyout', key, '-out', certificate], { stdio: 'ignore' })
  const guide = readFileSync(new URL('../../docs/teams.md', import.meta.url), 'utf8')
  const [, block = ''] = /```nginx\n(.+?)```/su.exec(guide) ?? []
  const server = block
    .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
    .replace(/ssl_certificate \S+;/u, `ssl_certificate ${certificate};`)
    .replace(/ssl_certificate_key \S+;/u, `ssl_certificate_key ${key};`)
    .replace('127.0.0.1:4777', `127.0.0.1:${serverPort}`)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (of) => `${of}_temp_path ${directory}/${of};`,
  )
  const configuration = join(directory, 'nginx.conf')
  writeFileSync(
    configuration,
    `daemon off; pid ${directory}/pid; error_log stderr;\nevents {}\nhttp { access_log off; ${temporary.join(' ')}\n${server}}\n`,
  )
  const child = spawn('nginx', ['-p', directory, '-c', configuration], { stdio: ['ignore', 'ignore', 'pipe'] })
  let errors = ''
  child.stderr.on('data', (chunk) => {
    errors += chunk
  })
  return {
    ca: readFileSync(certificate),
    isRunning: () => child.exitCode === null,
    errors: () => errors,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null) {
        const exited = once(child, 'exit')
        child.kill('SIGQUIT')
        await exited
      }
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

type Asked = { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: unknown }
type Answer = { readonly status: number; readonly headers: NodeJS.Dict<string | string[]>; readonly text: string }

describe.skipIf(missing.length > 0)('behind nginx with TLS', () => {
  it('people, pages and agents use the server as in the guide', { timeout: 300_000 }, async () => {
    using place = createSandbox()
    await place.run('init', '--dir', 'memory')
    await place.run('people', 'add', 'ana', '--dir', 'memory')
    const { secret } = await place.json('token', 'create', 'ana', '--dir', 'memory')
    const port = await freePort()
    const origin = `https://${name}:${port}`
    await using server = await serving(place, '--dir', 'memory', '--public-url', origin)
    await using nginx = await proxied(server.port, port)
    const ask = (path: string, { method = 'GET', headers = {}, body }: Asked = {}): Promise<Answer> =>
      new Promise((resolve, reject) => {
        const sent = { host: `${name}:${port}`, 'content-type': 'application/json', ...headers }
        const options = { host: '127.0.0.1', port, servername: name, ca: nginx.ca, path, method, headers: sent }
        const asked = request(options, (response) => {
          let text = ''
          response.setEncoding('utf8').on('data', (chunk: string) => {
            text += chunk
          })
          response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
        })
        asked.on('error', reject)
        asked.end(body === undefined ? undefined : JSON.stringify(body))
      })
    // nginx starts listening only a moment after its start.
    for (let tries = 0; tries < 600 && nginx.isRunning(); tries += 1) {
      const isThere = await ask('/').then(
        () => true,
        () => false,
      )
      if (isThere) break
      await pause(100)
    }
    const authorization = `Bearer ${secret}`
    const belief = { name: 'deploys', content: 'Deploys happen on Tuesdays.' }

    const made = await ask('/api/v1/beliefs', { method: 'POST', headers: { authorization }, body: belief })
    const recalled = await ask('/api/v1/recall', {
      method: 'POST',
      headers: { authorization },
      body: { message: 'deploys?' },
    })
    const login = (from: string) =>
      ask('/api/v1/login', { method: 'POST', headers: { origin: from }, body: { token: secret } })
    const page = await login(origin)
    const otherPage = await login('https://evil.example')
    const cookie = String(page.headers['set-cookie'])
    const byPage = await ask('/api/v1/beliefs', { headers: { cookie: cookie.split(';')[0] ?? '' } })
    const call = { name: 'memory_search', arguments: { query: 'deploys' } }
    const byAgent = await ask('/mcp', {
      method: 'POST',
      headers: { authorization, accept: 'application/json, text/event-stream' },
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call },
    })
    const withoutTls = await new Promise<number>((resolve, reject) => {
      const asked = plainRequest({ host: '127.0.0.1', port, headers: { host: name, authorization } }, (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      })
      asked.on('error', reject)
      asked.end()
    })

    expect(made.status, nginx.errors()).toBe(201)
    expect(recalled.text).toContain('Tuesdays')
    expect(page.status).toBe(200)
    expect(cookie).toContain('; Secure')
    expect(otherPage.status).toBe(403)
    expect(byPage.text).toContain('Tuesdays')
    expect(byAgent.text).toContain('Tuesdays')
    expect(withoutTls).toBe(400)
  })
})
