/**
 * A small MCP server over standard input and output, written without a library. The first argument selects its behaviour. Received data
 * is stored in a file below the second argument.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

type Message = { readonly id?: number; readonly method?: string; readonly params?: Record<string, unknown> }
type Note = { readonly id: string; readonly text: string }

const [behaviour = 'works', stateDir = ''] = process.argv.slice(2)
const file = join(stateDir, 'notes.jsonl')

const isModern = behaviour === 'is of 2026'
const serverInfo = { name: 'scripted', version: '1.2.3' }
const serverInfoMeta = { 'io.modelcontextprotocol/serverInfo': serverInfo }

const notes = (): Note[] =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line))
    : []

const send = (message: object): void => {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
}
const reply = (id: number, result: object): void =>
  send({ id, result: isModern ? { resultType: 'complete', ...result } : result })
const text = (value: unknown): object => ({
  content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }],
})
const tool = (name: string): object => ({ name, inputSchema: { type: 'object' } })

function search(query: string): object {
  const found = notes().filter((note) => note.text.toLowerCase().includes(query.toLowerCase()))
  switch (behaviour) {
    case 'exits when asked':
      process.stderr.write('the disk is gone\n')
      process.exit(7)
      break
    case 'reports a failure':
      return { ...text('the index is broken'), isError: true }
    case 'answers in prose':
      return text(found.map(({ id, text: about }) => `- ${about} (${id})`).join('\n'))
    case 'answers with numbers':
      return text({ hits: [{ id: 7 }] })
    case 'answers with too few scores':
      return text({ hits: [{ id: 'm-1', score: 1 }, { id: 'm-2' }] })
    case 'finds its environment':
      return text({ hits: Object.entries(process.env).map(([name, value]) => ({ id: `${name}=${value}` })) })
    case 'finds a stranger':
      return text({ hits: [{ id: 'somebody' }] })
    case 'finds twice':
      return text({ hits: [...found, ...found] })
  }
  return text({ hits: found.map((note, rank) => ({ ...note, score: 1 - rank / 10 })) })
}

function call(name: string, given: Record<string, unknown>): object {
  switch (name) {
    case 'remember':
      appendFileSync(file, `${JSON.stringify({ id: given.id, text: given.text })}\n`)
      return text('ok')
    case 'forget':
      writeFileSync(
        file,
        notes()
          .flatMap((note) => (note.id === given.id ? [] : [`${JSON.stringify(note)}\n`]))
          .join(''),
      )
      return text('ok')
    case 'wipe':
      writeFileSync(file, '')
      return text('ok')
    default:
      return search(String(given.query))
  }
}

if (behaviour === 'exits at once') {
  process.stderr.write('no licence\n')
  process.exit(3)
}
if (behaviour === 'prints garbage') process.stdout.write('Welcome!\n{"hello": "world"}\n')

createInterface({ input: process.stdin }).on('line', (line) => {
  if (behaviour === 'says nothing') return
  if (behaviour === 'prints garbage') {
    process.stdout.write('I do not understand.\n')
    return
  }
  const { id, method, params = {} }: Message = JSON.parse(line)
  if (id === undefined) return
  switch (method) {
    case 'server/discover':
      if (!isModern) break
      reply(id, { supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, _meta: serverInfoMeta })
      return
    case 'initialize':
      if (isModern) break
      reply(id, { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo })
      return
    case 'tools/list':
      reply(id, { tools: ['remember', 'forget', 'wipe', 'find'].map(tool), ttlMs: 0, cacheScope: 'private' })
      return
    case 'tools/call':
      if (behaviour === 'never answers a call') return
      if (behaviour === 'talks beside the protocol') process.stdout.write('searching…\n')
      reply(id, call(String(params.name), (params.arguments ?? {}) as Record<string, unknown>))
      return
  }
  send({ id, error: { code: -32601, message: 'Method not found' } })
})
