import { createBrotliCompress, createGzip } from 'node:zlib'
import OpenAI, { type APIError, RateLimitError } from 'openai'
import { describe, expect, it, vi } from 'vitest'
import { key, type Proxied, proxied } from './proxied-memory.ts'
import { documentOf, eventsOf, json, says, type UpstreamRequest } from './scripted-upstream.ts'

const port = { name: 'staging database', content: 'The staging database listens on port 5433.' }
const question = 'Which port has the staging database?'
const answer = 'It listens on port 5433.'

/** Asks one question in each protocol, streamed or not, and returns the text that the client assembled. */
const protocols: Readonly<Record<string, (place: Proxied, stream: boolean, text?: string) => Promise<string>>> = {
  'Chat Completions': async ({ openai }, stream, text = question) => {
    const request = { model: 'm', messages: [{ role: 'user' as const, content: text }] }
    if (!stream) return (await openai.chat.completions.create(request)).choices[0]?.message.content ?? ''
    let said = ''
    for await (const chunk of await openai.chat.completions.create({ ...request, stream: true }))
      said += chunk.choices[0]?.delta.content ?? ''
    return said
  },
  Responses: async ({ openai }, stream, text = question) => {
    if (!stream) return (await openai.responses.create({ model: 'm', input: text })).output_text
    let said = ''
    for await (const event of await openai.responses.create({ model: 'm', input: text, stream: true }))
      if (event.type === 'response.output_text.delta') said += event.delta
    return said
  },
  Messages: async ({ anthropic }, stream, text = question) => {
    const request = { model: 'm', max_tokens: 10, messages: [{ role: 'user' as const, content: text }] }
    if (!stream) {
      const { content } = await anthropic.messages.create(request)
      return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
    }
    return anthropic.messages.stream(request).finalText()
  },
}

const names = Object.keys(protocols)
const ask = (name: string, place: Proxied, stream: boolean, text?: string): Promise<string> =>
  (protocols[name] as NonNullable<(typeof protocols)[string]>)(place, stream, text)
const sent = ({ upstream }: Proxied): UpstreamRequest => upstream.requests.at(-1) as UpstreamRequest

describe.each(names)('%s through the proxy', (name) => {
  it.each([false, true])(
    'adds beliefs to requests to the model, and stores both sides (stream: %s)',
    async (stream) => {
      await using place = await proxied()
      await place.memory.remember(port)
      place.upstream.script(says(answer))

      const said = await ask(name, place, stream)

      expect(said).toBe(answer)
      expect(sent(place).bytes.toString()).toContain('The staging database listens on port 5433.')
      const turns = await place.turns()
      expect(turns.map(({ role, text, host, scope, origin }) => ({ role, text, host, scope, origin }))).toEqual([
        { role: 'user', text: question, host: 'proxy', scope: 'project:ledger', origin: 'person' },
        { role: 'assistant', text: answer, host: 'proxy', scope: 'project:ledger', origin: 'agent' },
      ])
      expect(new Set(turns.map(({ session }) => session)).size).toBe(1)
    },
  )

  it('leaves a request unchanged, byte for byte, if nothing is recalled', async () => {
    await using place = await proxied()
    place.upstream.script(says(answer))

    await ask(name, place, false)

    const text = sent(place).bytes.toString()
    expect(text).not.toContain('<memory>')
    expect(text).toBe(JSON.stringify(JSON.parse(text)))
  })

  it('forwards the key and stores it nowhere', async () => {
    await using place = await proxied()
    place.upstream.script(says(answer))

    await ask(name, place, false)

    const { headers } = sent(place)
    expect(headers.authorization ?? headers['x-api-key']).toContain(key)
    expect(JSON.stringify([await place.turns(), place.log])).not.toContain(key)
  })

  it.each([429, 400, 401, 500, 529])('forwards the error %s unchanged', async (status) => {
    await using place = await proxied()
    const error = { type: 'error', error: { type: 'some_error', message: 'as it is', code: 'c' }, request_id: 'r' }
    place.upstream.script((outgoing) => json(outgoing, status, error, { 'retry-after': '7', 'x-request-id': 'abc' }))

    const failure = await ask(name, place, false).catch((thrown: unknown) => thrown)

    expect(failure).toMatchObject({ status })
    const { headers } = failure as APIError
    expect(headers?.get('retry-after')).toBe('7')
    expect(String((failure as APIError).message)).toContain('as it is')
    expect((await place.turns()).map(({ role }) => role)).toEqual(['user'])
  })

  it('stores a question once if the client asks again after an error', async () => {
    await using place = await proxied()
    place.upstream.script((outgoing) => json(outgoing, 529, { error: { message: 'busy' } }), says(answer))

    await ask(name, place, false).catch(() => {})
    await ask(name, place, true)

    expect((await place.turns()).map(({ role, text }) => [role, text])).toEqual([
      ['user', question],
      ['assistant', answer],
    ])
  })

  it('shows the client a stream that the service broke off, and stores the received part', async () => {
    await using place = await proxied()
    place.upstream.script((outgoing, { path }) => {
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
      outgoing.write(eventsOf(path, answer).slice(0, 4).join(''), () => outgoing.destroy())
    })

    await expect(ask(name, place, true)).rejects.toThrow()

    const [, partial] = await place.turns()
    expect(partial).toMatchObject({ role: 'assistant' })
    expect(answer.startsWith(partial?.text.trim() ?? '-')).toBe(true)
  })

  it.each(['gzip', 'br'])('forwards an answer that is compressed with %s, and reads it', async (encoding) => {
    await using place = await proxied()
    place.upstream.script((outgoing, { path, body }) => {
      const isStream = body.stream === true
      outgoing.writeHead(200, {
        'content-type': isStream ? 'text/event-stream' : 'application/json',
        'content-encoding': encoding,
      })
      const packing = encoding === 'gzip' ? createGzip() : createBrotliCompress()
      packing.pipe(outgoing)
      packing.end(isStream ? eventsOf(path, answer).join('') : JSON.stringify(documentOf(path, answer)))
    })

    expect(await ask(name, place, false)).toBe(answer)
    expect(await ask(name, place, true, 'Another question?')).toBe(answer)

    expect((await place.turns()).map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
  })

  it('ends the request to the service if the client disconnects', async () => {
    await using place = await proxied()
    const ended = Promise.withResolvers<void>()
    place.upstream.script((outgoing, { path }) => {
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
      outgoing.write(eventsOf(path, answer).slice(0, 3).join(''))
      outgoing.once('close', () => ended.resolve())
    })
    const response = await fetch(`${place.url}${routes[name]}`, {
      method: 'POST',
      body: JSON.stringify({ model: 'm', stream: true, ...bodies[name] }),
      headers: { 'content-type': 'application/json' },
    })
    const reader = response.body?.getReader()
    await reader?.read()

    await reader?.cancel()

    await ended.promise
    await vi.waitFor(async () => expect((await place.turns())[0]?.text).toBe(question))
  })
})

const routes: Readonly<Record<string, string>> = {
  'Chat Completions': '/v1/chat/completions',
  Responses: '/v1/responses',
  Messages: '/v1/messages',
}
const bodies: Readonly<Record<string, object>> = {
  'Chat Completions': { messages: [{ role: 'user', content: question }] },
  Responses: { input: question },
  Messages: { messages: [{ role: 'user', content: question }] },
}

describe('a client of the proxy', () => {
  it('gets the chunks of a stream while the service is still writing', async () => {
    await using place = await proxied()
    const goOn = Promise.withResolvers<void>()
    place.upstream.script(async (outgoing, { path }) => {
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
      const events = eventsOf(path, 'one two')
      outgoing.write(events.slice(0, 2).join(''))
      await goOn.promise
      outgoing.end(events.slice(2).join(''))
    })
    const stream = await place.openai.chat.completions.create({
      model: 'm',
      messages: [{ role: 'user', content: 'Count.' }],
      stream: true,
    })
    let said = ''

    for await (const chunk of stream) {
      said += chunk.choices[0]?.delta.content ?? ''
      // The service sends the rest only after the client has received the beginning.
      if (said !== '') goOn.resolve()
    }

    expect(said).toBe('one two')
  })

  it('uses tools as without the proxy, with the same block in every step', async () => {
    await using place = await proxied()
    await place.memory.remember(port)
    const call = { type: 'tool_use', id: 't1', name: 'look', input: { path: 'a' } }
    const step = { ...(documentOf('/messages', '') as object), content: [call], stop_reason: 'tool_use' }
    place.upstream.script((outgoing) => json(outgoing, 200, step), says(answer))
    const tools = [{ name: 'look', input_schema: { type: 'object' as const, properties: {} } }]
    const first = { role: 'user' as const, content: question }

    const { content } = await place.anthropic.messages.create({ model: 'm', max_tokens: 9, tools, messages: [first] })
    await place.anthropic.messages.create({
      model: 'm',
      max_tokens: 9,
      tools,
      messages: [
        first,
        { role: 'assistant', content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'nothing' }] },
      ],
    })

    const [one, two] = place.upstream.requests
    expect(two?.body.messages[0]).toEqual(one?.body.messages[0])
    expect(two?.body.messages.slice(1)).toEqual([
      { role: 'assistant', content: [call] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'nothing' }] },
    ])
    expect(two?.body.tools).toEqual(tools)
    expect((await place.turns()).map(({ role, text }) => [role, text])).toEqual([
      ['user', question],
      ['assistant', answer],
    ])
  })

  it('forwards images unchanged, next to a block of memory', async () => {
    await using place = await proxied()
    await place.memory.remember(port)
    place.upstream.script(says(answer))
    const data = Buffer.alloc(3_000_000, 7).toString('base64')
    const image = {
      type: 'image' as const,
      source: { type: 'base64' as const, media_type: 'image/png' as const, data },
    }
    const url = `data:image/png;base64,${data}`

    await place.anthropic.messages.create({
      model: 'm',
      max_tokens: 9,
      messages: [{ role: 'user', content: [image, { type: 'text', text: question }] }],
    })
    await place.openai.chat.completions.create({
      model: 'm',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: question },
            { type: 'image_url', image_url: { url } },
          ],
        },
      ],
    })

    const [one, two] = place.upstream.requests
    expect(one?.body.messages[0].content).toEqual([
      image,
      { type: 'text', text: question },
      { type: 'text', text: expect.stringContaining('5433') },
    ])
    expect(two?.body.messages[0].content.slice(0, 2)).toEqual([
      { type: 'text', text: question },
      { type: 'image_url', image_url: { url } },
    ])
  })

  it('lists models and counts tokens as without the proxy', async () => {
    await using place = await proxied()
    place.upstream.script((outgoing, { path }) =>
      json(
        outgoing,
        200,
        path.endsWith('count_tokens') ? { input_tokens: 3 } : { object: 'list', data: [{ id: 'm' }] },
      ),
    )

    expect((await place.openai.models.list()).data).toEqual([{ id: 'm' }])
    const counted = await place.anthropic.messages.countTokens({
      model: 'm',
      messages: [{ role: 'user', content: question }],
    })

    expect(counted).toEqual({ input_tokens: 3 })
    expect(await place.turns()).toEqual([])
  })

  it('retries by itself after a 429, and the service sees one conversation', async () => {
    await using place = await proxied()
    place.upstream.script((outgoing) => json(outgoing, 429, { error: {} }, { 'retry-after-ms': '1' }), says(answer))
    const openai = new OpenAI({ baseURL: `${place.url}/v1`, apiKey: key, maxRetries: 2 })

    await openai.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: question }] })

    expect(place.upstream.requests.length).toBe(2)
    expect((await place.turns()).length).toBe(2)
  })

  it('gets an error in its own format if the service cannot be reached', async () => {
    await using place = await proxied()
    await place.upstream[Symbol.asyncDispose]()

    const failure = await ask('Messages', place, false).catch((thrown: unknown) => thrown)

    expect(failure).toMatchObject({ status: 502 })
    expect(String(failure)).toContain('cannot be reached')
    expect(failure).not.toBeInstanceOf(RateLimitError)
  })
})
