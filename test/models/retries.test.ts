import { describe, expect, it } from 'vitest'
import { MemoryError } from '../../src/errors.ts'
import type { ChatRequest } from '../../src/models/chat-model.ts'
import { modelFrom, withRetries } from '../../src/models/open-chat-model.ts'
import { fails, type ScriptedEndpoint, type ScriptedReply, says, scriptedEndpoint } from './scripted-endpoint.ts'

const request = (signal = AbortSignal.timeout(30_000)): ChatRequest => ({
  messages: [{ role: 'user', text: 'Hello' }],
  signal,
})

/** Records the delay instead of waiting. */
function retryingAt(endpoint: ScriptedEndpoint) {
  const waits: number[] = []
  const model = withRetries(modelFrom(`openai:some-model@${endpoint.openaiUrl}`, null), async (ms) => {
    waits.push(ms)
  })
  return { model, waits }
}

const busy = (after: string): ScriptedReply => ({ kind: 'raw', status: 429, headers: { 'retry-after': after } })

describe('a model with retries', () => {
  it.each([
    ['an error of the endpoint', fails(500)],
    ['an endpoint that is overloaded', fails(529)],
    ['too many requests', fails(429)],
    ['a cut connection', { kind: 'cut', when: 'before' }],
  ] as const satisfies readonly (readonly [string, ScriptedReply])[])('asks again after %s', async (_what, trouble) => {
    await using endpoint = await scriptedEndpoint([trouble, trouble, says('Hi!')])
    const { model, waits } = retryingAt(endpoint)

    expect((await model.reply(request())).text).toBe('Hi!')
    expect(waits).toEqual([500, 1_000])
  })

  it('waits as long as the endpoint requests', async () => {
    await using endpoint = await scriptedEndpoint([busy('7'), says('Hi!')])
    const { model, waits } = retryingAt(endpoint)

    await model.reply(request())

    expect(waits).toEqual([7_000])
  })

  it('does not wait for minutes, but reports how long it would be', async () => {
    await using endpoint = await scriptedEndpoint([busy('120')])
    const { model, waits } = retryingAt(endpoint)

    await expect(model.reply(request())).rejects.toMatchObject({ hint: 'Try again in 120 seconds.' })
    expect(waits).toEqual([])
  })

  it('gives up if the failures continue', async () => {
    await using endpoint = await scriptedEndpoint(() => fails(503))
    const { model, waits } = retryingAt(endpoint)

    await expect(model.reply(request())).rejects.toBeInstanceOf(MemoryError)
    expect(endpoint.requests).toHaveLength(4)
    expect(waits).toEqual([500, 1_000, 2_000])
  })

  it.each([400, 401, 403, 404])('does not ask again after the status %i', async (status) => {
    await using endpoint = await scriptedEndpoint([fails(status)])
    const { model, waits } = retryingAt(endpoint)

    await expect(model.reply(request())).rejects.toBeInstanceOf(MemoryError)
    expect(endpoint.requests).toHaveLength(1)
    expect(waits).toEqual([])
  })

  it('stops when the caller no longer waits for the answer', async () => {
    await using endpoint = await scriptedEndpoint(() => fails(503))
    const asker = new AbortController()
    const model = withRetries(modelFrom(`openai:some-model@${endpoint.openaiUrl}`, null), async () => asker.abort())

    await expect(model.reply(request(asker.signal))).rejects.toMatchObject({ code: 'unavailable' })
    expect(endpoint.requests).toHaveLength(1)
  })
})
