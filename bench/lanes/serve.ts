import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { benchScope, generateMessages } from '../corpus.ts'
import { inTurns, type LoadRow, underLoad } from '../load.ts'
import { milliseconds, spreadOf } from '../measure.ts'
import type { Lane } from '../run.ts'

const credence = fileURLToPath(new URL('../../bin/credence.js', import.meta.url))
const program = (name: string): string => fileURLToPath(new URL(`../programs/${name}.ts`, import.meta.url))
const writers = 8

export type ServeRow = LoadRow

/** Recall through the servers, compared with a minimal server. */
export const serveLane: Lane = {
  name: 'serve',
  summary: 'recall over HTTP and MCP, compared with a bare route and a bare tool; the event loop while others write',
  async run({ quick, log, stores }) {
    const size = quick ? 1_000 : 100_000
    const { dir, sample } = await stores.copyOf(size)
    const messages = generateMessages(sample, { count: quick ? 50 : 500, words: 40, mentions: 2, seed: 11 })
    // An agent searches with a short question, not with the whole message.
    const questions = generateMessages(sample, { count: messages.length, words: 8, mentions: 1, seed: 12 })
    const rows: ServeRow[] = []
    const keep = (row: ServeRow): void => {
      rows.push(row)
      log(
        `  ${row.what.padEnd(18)} ${String(row.clients).padStart(2)} clients p50 ${milliseconds(row.spread.p50)} ms, ${Math.round(row.perSecond)} a second`,
      )
    }
    const warmUp = generateMessages(sample, { count: quick ? 50 : 2_400, words: 40, mentions: 2, seed: 13 })
    const loopFile = `${dir}/loop.json`
    const server = await startServer(dir, loopFile)
    const bare = await startBareRoute(await sizeOfAnswer(server, messages[0] ?? ''))
    try {
      // Warms up like the recall lane: the pages of a large store come from disk at first.
      for (const message of warmUp) {
        await bare.ask(message)
        await server.ask(message)
      }
      for (const clients of quick ? [1, 8] : [1, 8, 32])
        for (const row of await inTurns(
          { 'bare hono route': bare.ask, 'recall over HTTP': server.ask },
          clients,
          messages,
        ))
          keep(row)
      server.child.kill('SIGUSR2')
      const texts = messages.slice(0, quick ? 20 : 200)
      const adding = underLoad(writers, texts, server.add)
      const meanwhile = await askUntil(adding, messages, server.ask)
      const { tookMs, seconds } = await adding
      keep({ what: 'add over HTTP', clients: writers, perSecond: tookMs.length / seconds, spread: spreadOf(tookMs) })
      keep({ what: `recall while ${writers} add`, clients: 1, ...meanwhile })
    } finally {
      await ended(bare.child)
      await ended(server.child)
    }
    const tool = await startMcp([program('bare-tool')], 'echo')
    const search = await startMcp([credence, 'mcp', '--dir', dir, '--scope', benchScope], 'memory_search')
    try {
      // Warms up until the index is in memory, which takes a few seconds of searching.
      const before = generateMessages(sample, { count: quick ? 50 : 1_000, words: 8, mentions: 1, seed: 14 })
      for (const question of before) {
        await tool.ask(question)
        await search.ask(question)
      }
      for (const clients of quick ? [1, 8] : [1, 8, 32])
        for (const row of await inTurns(
          { 'bare MCP tool': tool.ask, 'MCP memory_search': search.ask },
          clients,
          questions,
        ))
          keep(row)
    } finally {
      await tool.close()
      await search.close()
    }
    const stalls = { writers, ...(JSON.parse(readFileSync(loopFile, 'utf8')) as { p99Ms: number; longestMs: number }) }
    log(`  event loop late by ${milliseconds(stalls.longestMs)} ms at most while ${writers} clients write`)
    return { beliefs: size, rows, stalls }
  },
}

type Ask = (message: string) => Promise<number>

/** One client that sends requests until other work is done. */
async function askUntil(other: Promise<unknown>, messages: readonly string[], ask: Ask) {
  let isOver = false
  const end = other.finally(() => {
    isOver = true
  })
  const tookMs: number[] = []
  const start = performance.now()
  for (let turn = 0; !isOver || turn === 0; turn += 1) {
    const begin = performance.now()
    await ask(messages[turn % messages.length] ?? '')
    tookMs.push(performance.now() - begin)
  }
  const perSecond = tookMs.length / ((performance.now() - start) / 1_000)
  await end
  return { perSecond, spread: spreadOf(tookMs) }
}

async function startServer(dir: string, loopFile: string): Promise<{ child: ChildProcess; ask: Ask; add: Ask }> {
  const argv = ['--import', program('watch-loop'), credence, 'serve', '--dir', dir, '--port', '0', '--json']
  const { child, stdout } = started([...argv, '--scope', benchScope], { BENCH_LOOP_FILE: loopFile })
  const { port, link } = JSON.parse(await firstDocument(stdout)) as { port: number; link: string }
  const token = new URL(link).hash.replace('#token=', '')
  const poster = posterTo(port, { authorization: `Bearer ${token}` })
  let added = 0
  return {
    child,
    ask: (message) => poster('/api/v1/recall', { message, scopes: [benchScope], leftOut: false }),
    add: (message) => {
      added += 1
      return poster('/api/v1/beliefs', { name: `added while serving ${added}`, content: message, type: 'entity' })
    },
  }
}

async function startBareRoute(answerBytes: number): Promise<{ child: ChildProcess; ask: Ask }> {
  const { child, stdout } = started([program('bare-route'), String(answerBytes)])
  const { port } = JSON.parse(await firstDocument(stdout)) as { port: number }
  const poster = posterTo(port, {})
  return { child, ask: (message) => poster('/', { message, scopes: [benchScope] }) }
}

/** The size of the server's response. The bare route, with which it is compared, sends a response of this size. */
const sizeOfAnswer = (server: { readonly ask: Ask }, message: string): Promise<number> => server.ask(message)

function started(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...env } })
  return { child, stdout: child.stdout }
}

/** Reads a program's output until it is a complete JSON document. */
async function firstDocument(stdout: Readable): Promise<string> {
  let text = ''
  for await (const line of createInterface({ input: stdout })) {
    text += line
    try {
      JSON.parse(text)
      return text
    } catch {
      // Not complete yet.
    }
  }
  throw new Error(`the program ended after "${text}"`)
}

/** Posts JSON over persistent connections, and returns the size of the response. */
function posterTo(port: number, headers: Readonly<Record<string, string>>) {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  return (path: string, body: object): Promise<number> =>
    new Promise((resolve, reject) => {
      const sent = JSON.stringify(body)
      const options = { host: '127.0.0.1', port, path, method: 'POST', agent }
      const asked = request({ ...options, headers: { ...headers, 'content-type': 'application/json' } }, (response) => {
        let bytes = 0
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length
        })
        response.on('error', reject)
        response.on('end', () => {
          if ((response.statusCode ?? 500) < 300) resolve(bytes)
          else reject(new Error(`${path} answered ${response.statusCode}`))
        })
      })
      asked.on('error', reject)
      asked.end(sent)
    })
}

/** One MCP server, started as a host starts it. */
async function startMcp(argv: readonly string[], tool: string) {
  const client = new Client({ name: 'bench', version: '1' })
  const transport = new StdioClientTransport({ command: process.execPath, args: [...argv], stderr: 'ignore' })
  await client.connect(transport)
  const ask = async (query: string): Promise<void> => {
    const { isError } = await client.callTool({ name: tool, arguments: { query } })
    if (isError === true) throw new Error(`${tool} refused`)
  }
  return { ask, close: () => client.close() }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  await exit
}
