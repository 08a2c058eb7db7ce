import { PassThrough } from 'node:stream'
import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { answerHandshake, type RequestId } from '../../src/mcp/handshake.ts'
import { memoryMcp } from '../../src/mcp/memory-mcp.ts'

const version = '1.2.3'

/** Sends messages to a server, the last one a ping, and returns its output up to the answer to the ping. */
async function said(messages: readonly unknown[], answersEarly: boolean): Promise<readonly Record<string, unknown>[]> {
  const input = new PassThrough()
  const output = new PassThrough()
  const bugs: unknown[] = []
  const server = memoryMcp({
    version,
    view: { user: 'ada', scopes: [], homeScopes: [], agent: null, hasFixedScopes: false },
    memoryAs: () => Promise.reject(new Error('No memory is asked for.')),
    onBug: (error) => bugs.push(error),
  })
  const lines: string[] = []
  output.on('data', (chunk) => {
    lines.push(...String(chunk).trimEnd().split('\n'))
    if (lines.some((line) => JSON.parse(line).id === 'last')) input.end()
  })
  input.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(''))
  const answered: RequestId | null = answersEarly ? await answerHandshake({ input, output, version }) : null
  await server.serveStreams({ input, output, answered }).closed
  expect(bugs).toEqual([])
  return lines.map((line) => JSON.parse(line))
}

const initialize = (protocolVersion: unknown, more: object = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion, capabilities: { roots: { listChanged: true } }, clientInfo: { name: 'a', version: '1' } },
  ...more,
})
const afterwards = [
  { jsonrpc: '2.0', method: 'notifications/initialized' },
  { jsonrpc: '2.0', id: 'last', method: 'ping' },
]

it.each(SUPPORTED_PROTOCOL_VERSIONS)(
  'the early answer to a client with protocol %s equals that of the SDK',
  async (protocol) => {
    const messages = [initialize(protocol), ...afterwards]
    const input = new PassThrough()
    const output = new PassThrough()
    input.write(`${JSON.stringify(messages[0])}\n`)

    expect(await answerHandshake({ input, output, version })).toBe(1)
    const usual = await said(messages, false)
    const early = await said(messages, true)

    expect(JSON.parse(String(output.read()))).toEqual(usual.find(({ id }) => id === 1))
    expect(early).toEqual(usual)
    expect(early).toHaveLength(2)
  },
)

it('any first message gets the same response as without the early answer', async () => {
  const params = fc.oneof(
    fc.constant(initialize('2025-06-18').params),
    fc.record({
      protocolVersion: fc.oneof(fc.constant('2025-06-18'), fc.constant('2026-07-28'), fc.jsonValue()),
      capabilities: fc.oneof(fc.constant({}), fc.jsonValue()),
      clientInfo: fc.oneof(fc.constant({ name: 'a', version: '1' }), fc.jsonValue()),
    }),
    fc.jsonValue(),
  )
  const first = fc.record({
    jsonrpc: fc.constantFrom('2.0', '1.0'),
    id: fc.oneof(fc.string(), fc.integer(), fc.double(), fc.constant(null)),
    method: fc.constantFrom('initialize', 'initialize', 'initialize', 'ping', 'tools/list'),
    params,
  })
  await fc.assert(
    fc.asyncProperty(first, async (message) => {
      expect(await said([message, ...afterwards], true)).toEqual(await said([message, ...afterwards], false))
    }),
    { numRuns: 60 },
  )
})

it('a client that sends nothing, or half a line, is left to the SDK', async () => {
  const input = new PassThrough()
  const output = new PassThrough()

  expect(await answerHandshake({ input, output, version })).toBeNull()
  input.write('{"jsonrpc":')
  expect(await answerHandshake({ input, output, version })).toBeNull()

  expect(String(input.read())).toBe('{"jsonrpc":')
  expect(output.read()).toBeNull()
})
