import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { openMemory } from '../../src/open-memory.ts'
import { benchScope, generateMessages } from '../corpus.ts'
import { milliseconds, type Spread, spreadOf } from '../measure.ts'
import type { Lane } from '../run.ts'

const file = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))

export type ProxyFigures = {
  readonly beliefs: number
  readonly turns: number
  readonly bare: Spread
  readonly proxy: Spread
  /** The number of requests that got a memory block. */
  readonly added: number
  readonly addedMs: number
}

/** Requests through `credence proxy`, compared with a proxy that only forwards them. */
export const proxyLane: Lane = {
  name: 'proxy',
  summary: 'the time that the proxy adds to a request, compared with a bare pass-through',
  async run({ quick, log, stores }) {
    const size = quick ? 1_000 : 10_000
    const { dir, sample } = await stores.copyOf(size)
    const said = generateMessages(sample, { count: size, words: 20, mentions: 1, seed: 31 })
    const memory = openMemory({ dir, scopes: [benchScope] })
    await memory.hear(
      said.map((text, index) => ({ text, session: `s${index % 100}` })),
      { scopes: [benchScope], learn: 'nothing' },
    )
    await memory.close()
    const upstream = await startUpstream()
    const argv = ['proxy', '--upstream', upstream.url, '--dir', dir, '--scope', benchScope, '--port', '0', '--json']
    const ours = await started([file('bin/credence.js'), ...argv])
    const bare = await started([file('bench/programs/bare-proxy.ts'), upstream.url])
    try {
      const messages = generateMessages(sample, { count: quick ? 100 : 1_000, words: 40, mentions: 2, seed: 32 })
      const warmUp = generateMessages(sample, { count: quick ? 50 : 300, words: 40, mentions: 2, seed: 33 })
      const askOurs = clientOf(ours.port)
      const askBare = clientOf(bare.port)
      for (const message of warmUp) {
        await askBare(message)
        await askOurs(message)
      }
      const spent = { bare: [] as number[], ours: [] as number[] }
      let added = 0
      // Alternates the two proxies, so that other load on the machine affects both.
      for (const message of messages) {
        spent.bare.push((await askBare(message)).ms)
        const answer = await askOurs(message)
        spent.ours.push(answer.ms)
        added += Number(answer.memory === 'added')
      }
      const figures: ProxyFigures = {
        beliefs: size,
        turns: size,
        bare: spreadOf(spent.bare),
        proxy: spreadOf(spent.ours),
        added,
        addedMs: spreadOf(spent.ours).p50 - spreadOf(spent.bare).p50,
      }
      log(
        `  bare p50 ${milliseconds(figures.bare.p50)} ms, proxy p50 ${milliseconds(figures.proxy.p50)} ms, added ${milliseconds(figures.addedMs)} ms; ${added} of ${messages.length} with memory`,
      )
      return figures
    } finally {
      await ended(ours.child)
      await ended(bare.child)
      upstream.close()
    }
  },
}

/** A model endpoint that answers every request at once with a minimal response. */
async function startUpstream(): Promise<{ readonly url: string; readonly close: () => void }> {
  const answer = JSON.stringify({ choices: [{ index: 0, finish_reason: 'stop', message: { content: 'Yes.' } }] })
  const server = createServer((incoming, outgoing) => {
    incoming.resume().once('end', () => {
      outgoing.writeHead(200, { 'content-type': 'application/json' })
      outgoing.end(answer)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() }
}

async function started(argv: readonly string[]): Promise<{ readonly child: ChildProcess; readonly port: number }> {
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  for await (const line of createInterface({ input: child.stdout })) {
    text += line
    if (line.endsWith('}')) break
  }
  return { child, port: JSON.parse(text).port }
}

/** Sends one question after the other over one persistent connection. */
function clientOf(port: number): (content: string) => Promise<{ readonly ms: number; readonly memory: string }> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return (content) =>
    new Promise((resolve, reject) => {
      const start = performance.now()
      const options = { host: '127.0.0.1', port, path: '/v1/chat/completions', method: 'POST', agent }
      const asked = request({ ...options, headers: { 'content-type': 'application/json' } }, (response) => {
        response.resume().once('end', () => {
          const memory = String(response.headers['x-credence-memory'] ?? '')
          if (response.statusCode === 200) resolve({ ms: performance.now() - start, memory })
          else reject(new Error(`the proxy answered ${response.statusCode}`))
        })
      })
      asked.on('error', reject)
      asked.end(JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }))
    })
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  await exit
}
