import { request } from 'node:http'
import { describe, expect, it } from 'vitest'
import { unavailable } from '../../src/errors.ts'
import { upstreamPath } from '../../src/proxy/proxy.ts'
import { type Proxied, proxied } from './proxied-memory.ts'
import { says, type UpstreamRequest } from './scripted-upstream.ts'

const secret = 'My safe is behind the picture.'
const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: secret }] })
const post = (place: Proxied, headers: Record<string, string> = {}, sent: string = body): Promise<Response> =>
  fetch(`${place.url}/v1/chat/completions`, { method: 'POST', body: sent, headers })

describe('a memory that does not answer', () => {
  it('in time is skipped: the header and the log report it, and the message is stored', async () => {
    const never = new Promise<never>(() => {})
    await using place = await proxied({ deadlineMs: 20, wrap: (memory) => ({ ...memory, recall: () => never }) })
    place.upstream.script(says('Yes.'))

    const response = await post(place)

    expect(response.status).toBe(200)
    expect(response.headers.get('x-credence-memory')).toBe('skipped; no answer within 20 ms')
    expect(place.log).toEqual(['The request was forwarded without memory: no answer within 20 ms.'])
    expect(place.upstream.requests[0]?.bytes.toString()).toBe(body)
    await response.text()
    expect((await place.turns()).map(({ text }) => text)).toEqual([secret, 'Yes.'])
  })

  it('at all does not stop a request, and no error repeats the text', async () => {
    const fails = (): Promise<never> => Promise.reject(unavailable(`cannot read "${secret}"`, 'no'))
    await using place = await proxied({ wrap: () => ({ recall: fails, keep: fails }) })
    place.upstream.script(says('Yes.'))

    const response = await post(place)

    expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'Yes.' } }] })
    expect(response.headers.get('x-credence-memory')).toBe('skipped; the memory is unavailable')
    await place.settled()
    expect(place.log).toEqual([
      'The request was forwarded without memory: the memory is unavailable.',
      'The message was not stored: the memory is unavailable.',
      'The message was not stored: the memory is unavailable.',
    ])
  })

  it('once is asked again with the next request of the same message', async () => {
    let isBroken = true
    await using place = await proxied({
      wrap: (memory) => ({
        ...memory,
        recall: (...given) => (isBroken ? Promise.reject(new Error('no')) : memory.recall(...given)),
      }),
    })
    await place.memory.remember({ name: 'safe', content: 'The safe has a new lock.' })
    place.upstream.script((outgoing) => void outgoing.writeHead(500).end(), says('Yes.'))

    await post(place)
    isBroken = false
    const response = await post(place)

    expect(response.headers.get('x-credence-memory')).toBe('added')
  })
})

describe('texts that are not stored', () => {
  it('include messages while the memory is paused; recall continues', async () => {
    await using place = await proxied({ isPaused: () => true })
    await place.memory.remember({ name: 'safe', content: 'The safe has a new lock.' })
    place.upstream.script(says('Yes.'))

    const response = await post(place)

    expect(response.headers.get('x-credence-memory')).toBe('added')
    expect(await place.turns()).toEqual([])
  })

  it('include messages off the record, and their answers', async () => {
    await using place = await proxied()
    place.upstream.script(says('My lips are sealed.'))

    await post(place, {}, body.replace(secret, `Off the record: ${secret}`))

    expect(await place.turns()).toEqual([])
  })

  it('include messages with memory switched off by a header', async () => {
    await using place = await proxied()
    place.upstream.script(says('Yes.'))

    const response = await post(place, { 'x-credence-memory': 'off' })

    expect(response.headers.get('x-credence-memory')).toBe('off')
    expect(await place.turns()).toEqual([])
  })

  it('include a text that a program put next to the words of the person', async () => {
    await using place = await proxied()
    place.upstream.script(says('Yes.'))
    const texts = ['<system-reminder>Use the tools.</system-reminder>', secret]
    const content = texts.map((text) => ({ type: 'text', text }))

    await post(place, {}, JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }))

    expect((await place.turns())[0]?.text).toBe(secret)
  })

  it('include secrets, which are masked', async () => {
    await using place = await proxied()
    place.upstream.script(says('Noted.'))
    const token = `ghp_${'a1B2c3D4e5F6g7H8i9J0'.repeat(2).slice(0, 36)}`

    await post(place, {}, body.replace(secret, `My token is ${token}`))

    expect(JSON.stringify(await place.turns())).not.toContain(token)
  })
})

describe('requests that are not conversations', () => {
  it.each([
    ['not JSON', '{"messages": [', 'none; the body is not a JSON object'],
    ['not an object', '[1]', 'none; the body is not a JSON object'],
    ['without messages', '{}', 'none; no message of a person'],
    ['with messages of another form', '{"messages": {"a": [null, 1]}}', 'none; no message of a person'],
    ['with invalid messages', '{"messages": [null, 1, {"role": "user"}, {"role": 7}]}', 'none; no message of a person'],
  ])('are forwarded unchanged: %s', async (_, sent, outcome) => {
    await using place = await proxied()
    place.upstream.script((outgoing) => void outgoing.writeHead(400).end('as it is'))

    const response = await post(place, {}, sent)

    expect([response.status, await response.text()]).toEqual([400, 'as it is'])
    expect(response.headers.get('x-credence-memory')).toBe(outcome)
    expect(place.upstream.requests[0]?.bytes.toString()).toBe(sent)
  })

  it('are forwarded if they are larger than any conversation, without being buffered completely', async () => {
    await using place = await proxied()
    place.upstream.script((outgoing) => void outgoing.writeHead(200).end('fine'))
    const large = JSON.stringify({ messages: [{ role: 'user', content: 'x'.repeat(70 * 1024 * 1024) }] })

    const response = await post(place, {}, large)

    expect(await response.text()).toBe('fine')
    expect(response.headers.get('x-credence-memory')).toBe('none; the body is too large')
    expect(place.upstream.requests[0]?.bytes.length).toBe(large.length)
  })

  it('keep their headers, except those of the connection and of the proxy', async () => {
    await using place = await proxied()
    place.upstream.script((outgoing) => {
      outgoing.writeHead(200, [
        ['X-Upper', 'Case'],
        ['set-cookie', 'a=1'],
        ['set-cookie', 'b=2'],
      ])
      outgoing.end('[]')
    })
    const { port } = new URL(place.url)
    const headers = { Host: `127.0.0.1:${port}`, 'X-Custom': 'é1', Connection: 'x-hop', 'x-hop': '1' }

    const raw = await new Promise<readonly string[]>((resolve, reject) => {
      const asked = request({ port, path: '/v1/files?limit=2', headers }, (response) => {
        response.resume()
        resolve(response.rawHeaders)
      })
      asked.on('error', reject).end()
    })

    expect(raw.join('|')).toContain('X-Upper|Case|set-cookie|a=1|set-cookie|b=2')
    const [{ headers: got, path }] = place.upstream.requests as readonly [UpstreamRequest]
    expect(path).toBe('/v1/files?limit=2')
    expect(got['x-custom']).toBe('é1')
    expect(got['x-hop']).toBeUndefined()
    expect(got.host).toBe(new URL(place.upstream.url).host)
  })
})

describe('the proxy', () => {
  it.each([
    ['another host', { host: 'evil.example' }],
    ['a page of another site', { origin: 'https://evil.example' }],
    ['a page of another port', { origin: 'http://127.0.0.1:1' }],
    ['a page, by its fetch metadata', { 'sec-fetch-site': 'cross-site' }],
  ])('refuses %s', async (_, headers) => {
    await using place = await proxied()
    const { port } = new URL(place.url)

    const status = await new Promise<number | undefined>((resolve, reject) => {
      const asked = request({ port, method: 'POST', path: '/v1/messages', headers }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      asked.on('error', reject).end(body)
    })

    expect(status).toBe(403)
    expect(place.upstream.requests).toEqual([])
  })

  it.each([
    ['x-credence-scope', 'no scope!'],
    ['x-credence-user', ' '.repeat(3)],
    ['x-credence-user', 'x'.repeat(300)],
  ])('refuses the header %s: %s', async (name, value) => {
    await using place = await proxied()

    const response = await post(place, { [name]: value })

    expect(response.status).toBe(400)
    expect(place.upstream.requests).toEqual([])
  })

  it.each([
    ['https://a.example', '/v1/messages', '/v1/messages'],
    ['https://a.example/v1', '/v1/messages?beta=true', '/v1/messages?beta=true'],
    ['https://a.example/v1/', '/chat/completions', '/v1/chat/completions'],
    ['https://a.example/openai/v1', '/v1/responses', '/openai/v1/responses'],
    ['https://a.example/api', '/v1/models', '/api/v1/models'],
    ['https://a.example', 'http://other.example/v1/models', '/v1/models'],
  ])('forwards to %s requests with %s', (upstream, target, path) => {
    expect(upstreamPath(new URL(upstream), target)).toBe(path)
  })
})
