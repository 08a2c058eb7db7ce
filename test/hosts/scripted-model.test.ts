import { describe, expect, it } from 'vitest'
import { type ModelReply, scriptedModel } from './scripted-model.ts'

const call = { name: 'look', input: { query: 'port' } }
const bodies = {
  '/v1/messages': {
    system: 'Be brief.',
    messages: [{ role: 'user', content: 'Which port?' }],
    tools: [{ name: 'look' }, { name: 'later', defer_loading: true }],
  },
  '/v1/responses': {
    instructions: 'Be brief.',
    input: [{ role: 'user', content: 'Which port?' }],
    tools: [{ type: 'namespace', name: 'ns', tools: [{ name: 'look' }] }],
  },
  '/v1/chat/completions': {
    messages: [{ role: 'user', content: 'Which port?' }],
    tools: [{ type: 'function', function: { name: 'look' } }],
  },
  '/v1beta/models/m:streamGenerateContent': {
    contents: [{ role: 'user', parts: [{ text: 'Which port?' }] }],
    tools: [{ functionDeclarations: [{ name: 'look' }] }],
  },
} as const

const ask = async (url: string, path: string, body: object) => {
  const response = await fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(body) })
  return { status: response.status, text: await response.text() }
}

describe('the scripted model', () => {
  it.each(Object.entries(bodies))('reads a request to %s, and answers with text or a call', async (path, body) => {
    const replies: ModelReply[] = [{ call }, { text: 'It is 5433.' }]
    await using model = await scriptedModel(() => replies.shift() ?? { text: 'nothing' })

    const called = await ask(model.url, path, { ...body, stream: true })
    const said = await ask(model.url, path, { ...body, stream: false })

    expect([called.status, said.status]).toEqual([200, 200])
    expect(called.text).toContain('look')
    expect(called.text).toMatch(/^(?:event: [\w.]+\n)?data: \{/)
    expect(said.text).toContain('It is 5433.')
    expect(model.requests).toHaveLength(2)
    expect(model.requests[0]?.conversation).toContain('Which port?')
    expect(model.requests[0]?.tools).toEqual([path.endsWith('responses') ? 'ns.look' : 'look'])
    expect(model.requests[0]?.results).toBe('')
  })

  it.each([
    ['/v1/messages', { messages: [{ role: 'user', content: [{ type: 'tool_result', content: 'seen' }] }] }],
    ['/v1/responses', { input: [{ type: 'function_call_output', output: 'seen' }] }],
    ['/v1/chat/completions', { messages: [{ role: 'tool', content: 'seen' }] }],
    [
      '/v1beta/models/m:generateContent',
      { contents: [{ parts: [{ functionResponse: { response: { output: 'seen' } } }] }] },
    ],
  ])('finds the answers of tools in a request to %s', async (path, body) => {
    await using model = await scriptedModel(() => ({ text: 'done' }))

    await ask(model.url, path, body)

    expect(model.requests[0]?.results).toContain('seen')
  })

  it('answers 404 for a path that is not a model', async () => {
    await using model = await scriptedModel(() => ({ text: 'done' }))

    expect((await ask(model.url, '/elsewhere', {})).status).toBe(404)
    expect(model.requests).toEqual([])
  })
})
