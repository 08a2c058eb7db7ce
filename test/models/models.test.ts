import { describe, expect, it } from 'vitest'
import { MemoryError } from '../../src/errors.ts'
import type { ChatModel, ChatRequest } from '../../src/models/chat-model.ts'
import { modelFrom, openChatModel } from '../../src/models/open-chat-model.ts'
import {
  fails,
  type ScriptedEndpoint,
  type ScriptedReply,
  says,
  saysJson,
  scriptedEndpoint,
} from './scripted-endpoint.ts'

const key = 'test-key-4711-do-not-show'
const dialects = ['openai', 'anthropic'] as const
type Dialect = (typeof dialects)[number]

const modelAt = (endpoint: ScriptedEndpoint, dialect: Dialect): ChatModel =>
  modelFrom(`${dialect}:some-model@${dialect === 'openai' ? endpoint.openaiUrl : endpoint.anthropicUrl}`, key)

const request = (more: Partial<ChatRequest> = {}): ChatRequest => ({
  system: 'Be brief.',
  messages: [{ role: 'user', text: 'Hello' }],
  signal: AbortSignal.timeout(5_000),
  ...more,
})

const failure = async (reply: Promise<unknown>): Promise<MemoryError> => {
  const error = await reply.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(MemoryError)
  // Only reached if the assertion above passed.
  return error as MemoryError
}

describe.each(dialects)('a model with the API %s', (dialect) => {
  it('answers with text and reports its usage', async () => {
    await using endpoint = await scriptedEndpoint([
      { kind: 'answer', text: 'Hi!', usage: { input: 12, output: 3, cacheRead: 5 }, model: 'some-model-2026' },
    ])

    const reply = await modelAt(endpoint, dialect).reply(request({ temperature: 0, maxOutputTokens: 99 }))

    expect(reply).toEqual({
      text: 'Hi!',
      toolCalls: [],
      stopReason: 'end',
      usage: { input: 12, output: 3, cacheRead: 5, cacheWrite: 0 },
      model: 'some-model-2026',
    })
    const [sent] = endpoint.requests
    expect(sent?.body).toMatchObject({ model: 'some-model', temperature: 0, max_tokens: 99 })
    expect(dialect === 'openai' ? sent?.headers.authorization : sent?.headers['x-api-key']).toContain(key)
  })

  it('calls tools, and receives their results', async () => {
    await using endpoint = await scriptedEndpoint([
      { kind: 'answer', text: 'Looking.', toolCalls: [{ name: 'look', arguments: { at: 'sky' }, id: 'c1' }] },
      says('Blue.'),
    ])
    const model = modelAt(endpoint, dialect)
    const tools = [{ name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} } }]

    const first = await model.reply(request({ tools }))
    expect(first).toMatchObject({
      text: 'Looking.',
      stopReason: 'tools',
      toolCalls: [{ id: 'c1', name: 'look', arguments: { at: 'sky' } }],
    })
    const second = await model.reply(
      request({
        tools,
        messages: [
          { role: 'user', text: 'Hello' },
          { role: 'assistant', text: first.text, toolCalls: first.toolCalls },
          { role: 'tool', callId: 'c1', name: 'look', text: 'It is blue.', isError: false },
        ],
      }),
    )

    expect(second.text).toBe('Blue.')
    expect(JSON.stringify(endpoint.requests[1]?.body)).toContain('It is blue.')
    expect(JSON.stringify(endpoint.requests[1]?.body)).toContain('c1')
  })

  it('answers with a document that matches a schema', async () => {
    await using endpoint = await scriptedEndpoint([saysJson({ answer: 42 })])
    const schema = {
      name: 'verdict',
      schema: {
        type: 'object',
        additionalProperties: false,
        required: ['answer'],
        properties: { answer: { type: 'number' } },
      },
    }

    const reply = await modelAt(endpoint, dialect).reply(request({ schema }))

    expect(JSON.parse(reply.text)).toEqual({ answer: 42 })
    expect(reply).toMatchObject({ toolCalls: [], stopReason: 'end' })
    expect(endpoint.requests[0]?.body).toMatchObject(
      dialect === 'openai'
        ? { response_format: { type: 'json_schema', json_schema: { name: 'verdict', strict: true } } }
        : { tool_choice: { type: 'tool', name: 'verdict' } },
    )
  })

  it.each([
    ['length', 'length'],
    ['refusal', 'refusal'],
  ] as const)('reports that it stopped for %s', async (stopReason, expected) => {
    await using endpoint = await scriptedEndpoint([{ kind: 'answer', text: 'Once upon', stopReason }])

    expect((await modelAt(endpoint, dialect).reply(request())).stopReason).toBe(expected)
  })

  it.each([
    [401, /key/u],
    [403, /allow/u],
    [404, /404/u],
    [429, /too many requests/u],
    [500, /failed/u],
    [503, /failed/u],
    [400, /refused/u],
    [302, /redirects/u],
  ] as const)(
    'turns the status %i into an error with the next step, and never shows the key',
    async (status, message) => {
      await using endpoint = await scriptedEndpoint([
        {
          kind: 'raw',
          status,
          body: { error: { message: `no: ${key}` } },
          headers: { location: 'http://127.0.0.1:1/', 'retry-after': '7' },
        },
      ])

      const error = await failure(modelAt(endpoint, dialect).reply(request()))

      expect(error).toMatchObject({
        code: 'unavailable',
        message: expect.stringMatching(message),
        hint: expect.any(String),
      })
      expect(`${error.message} ${error.hint} ${String(error.cause)}`).not.toContain(key)
      expect(endpoint.requests).toHaveLength(1)
      if (status === 429) expect(error.hint).toContain('7 seconds')
    },
  )

  it.each([
    ['a cut connection', { kind: 'cut', when: 'before' }],
    ['a truncated answer', { kind: 'cut', when: 'middle' }],
    ['an answer that is not JSON', { kind: 'raw', status: 200, body: '<html>hello</html>' }],
    ['JSON of another shape', { kind: 'raw', status: 200, body: { hello: 'world' } }],
    ['an endless answer', { kind: 'raw', status: 200, body: 'x'.repeat(9 * 1024 * 1024) }],
  ] as const satisfies readonly (readonly [string, ScriptedReply])[])(
    'turns %s into an error',
    async (_what, reply) => {
      await using endpoint = await scriptedEndpoint([reply])

      expect(await failure(modelAt(endpoint, dialect).reply(request()))).toMatchObject({
        code: 'unavailable',
        hint: expect.any(String),
      })
    },
  )

  it('stops waiting when it is aborted', async () => {
    await using endpoint = await scriptedEndpoint([{ kind: 'silence' }])
    const controller = new AbortController()

    const reply = failure(modelAt(endpoint, dialect).reply(request({ signal: controller.signal })))
    controller.abort()

    expect(await reply).toMatchObject({ code: 'unavailable' })
  })

  it('reports that no server answers', async () => {
    const endpoint = await scriptedEndpoint([])
    await endpoint.close()

    expect((await failure(modelAt(endpoint, dialect).reply(request()))).message).toMatch(/nothing answers there/u)
  })
})

it("keeps a model's text that is not valid arguments", async () => {
  const message = {
    role: 'assistant',
    tool_calls: [{ id: 'c', type: 'function', function: { name: 'look', arguments: '{"at": ' } }],
  }
  await using endpoint = await scriptedEndpoint([
    { kind: 'raw', status: 200, body: { model: 'm', choices: [{ finish_reason: 'tool_calls', message }] } },
  ])

  const { toolCalls, usage } = await modelAt(endpoint, 'openai').reply(request())

  expect(toolCalls).toEqual([{ id: 'c', name: 'look', arguments: {}, malformed: '{"at": ' }])
  expect(usage).toEqual({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0 })
})

it('leaves out the reasoning that it writes in separate blocks', async () => {
  const content = [
    { type: 'thinking', thinking: 'hm' },
    { type: 'text', text: 'So.' },
  ]
  await using endpoint = await scriptedEndpoint([
    { kind: 'raw', status: 200, body: { model: 'm', content, stop_reason: 'end_turn' } },
  ])

  expect((await modelAt(endpoint, 'anthropic').reply(request())).text).toBe('So.')
})

describe('the key of a model', () => {
  const keyUsed = async (endpoint: ScriptedEndpoint, env: Record<string, string>): Promise<unknown> => {
    await openChatModel({ provider: 'openai', model: 'm', url: endpoint.openaiUrl }, env).reply(request())
    return endpoint.requests.at(-1)?.headers.authorization
  }

  it('comes from the environment', async () => {
    await using endpoint = await scriptedEndpoint([says('a'), says('b'), says('c')])

    expect(await keyUsed(endpoint, { OPENAI_API_KEY: 'own' })).toBe('Bearer own')
    expect(await keyUsed(endpoint, { OPENAI_API_KEY: 'own', CREDENCE_MODEL_KEY: 'other' })).toBe('Bearer other')
    expect(await keyUsed(endpoint, {})).toBeUndefined()
  })

  it('of a provider is sent to that provider only', async () => {
    const sent: (string | null)[] = []
    const fetch: typeof globalThis.fetch = async (_url, init) => {
      sent.push(new Headers(init?.headers).get('authorization'))
      return Response.json({ choices: [{ message: { content: 'x' } }] })
    }
    const env = { OPENAI_API_KEY: 'own' }
    await openChatModel('openai:m@https://gateway.example/v1', env, fetch).reply(request())
    await openChatModel('openai:m', env, fetch).reply(request())

    expect(sent).toEqual([null, 'Bearer own'])
  })

  it('is required if the provider charges money', () => {
    expect(() => openChatModel('anthropic:m', {})).toThrow(/no key for anthropic/u)
  })
})

it('a request without a scripted answer is refused, so that a test cannot pass by accident', async () => {
  await using endpoint = await scriptedEndpoint([fails(500)])
  await failure(modelAt(endpoint, 'openai').reply(request()))

  expect((await failure(modelAt(endpoint, 'openai').reply(request()))).message).toContain(
    'nothing is scripted for request 2',
  )
})
