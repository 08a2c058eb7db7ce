import { generateText, type ModelMessage, stepCountIs, streamText, wrapLanguageModel } from 'ai'
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test'
import { describe, expect, it } from 'vitest'
import { aiMemory } from '../../src/adapters/ai-sdk.ts'
import { openMemory } from '../../src/library.ts'
import { temporaryDirectory } from '../temporary-directory.ts'

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}
const stop = { unified: 'stop', raw: 'stop' } as const
const toolCalls = { unified: 'tool-calls', raw: 'tool_use' } as const

/** A model that returns these answers in order and records its prompts. */
function scriptedModel(...answers: readonly (string | { readonly tool: string; readonly input: object })[]) {
  let place = 0
  const next = () => answers[place++] ?? 'Nothing more.'
  return new MockLanguageModelV4({
    doGenerate: async () => {
      const answer = next()
      if (typeof answer === 'string')
        return { content: [{ type: 'text', text: answer }], finishReason: stop, usage, warnings: [] }
      const call = { type: 'tool-call', toolCallId: `call-${place}`, toolName: answer.tool } as const
      return {
        content: [{ ...call, input: JSON.stringify(answer.input) }],
        finishReason: toolCalls,
        usage,
        warnings: [],
      }
    },
    doStream: async () => ({
      stream: convertArrayToReadableStream([
        { type: 'text-start', id: '1' },
        ...String(next())
          .split(/(?<= )/u)
          .map((delta) => ({ type: 'text-delta', id: '1', delta }) as const),
        { type: 'text-end', id: '1' },
        { type: 'finish', finishReason: stop, usage },
      ]),
    }),
  })
}

const promptsOf = (model: MockLanguageModelV4): readonly string[] =>
  model.doGenerateCalls.map(({ prompt }) => JSON.stringify(prompt))

describe('the AI SDK', () => {
  it("sends the person's statement in the request of the next process, and stores messages and answers", async () => {
    using directory = temporaryDirectory()
    const dir = directory.path
    const first = aiMemory({ dir, agent: 'helper' })
    const said = scriptedModel('Noted.')
    await generateText({
      model: wrapLanguageModel({ model: said, middleware: first.middleware }),
      prompt: 'Remember that the staging port is 5433.',
    })
    await first.close()

    const second = aiMemory({ dir, agent: 'helper' })
    const asked = scriptedModel('It is 5433.')
    await generateText({
      model: wrapLanguageModel({ model: asked, middleware: second.middleware }),
      prompt: 'Which staging port do we use?',
    })
    await second.close()

    expect(promptsOf(said).join()).not.toContain('<memory>')
    expect(promptsOf(asked).join()).toMatch(/<memory>.*staging port.*5433/u)
    const memory = openMemory({ dir })
    const { items } = await memory.turns({ limit: 10 })
    expect(items.map(({ role, text, host }) => [role, text, host]).sort()).toEqual([
      ['assistant', 'It is 5433.', 'helper'],
      ['assistant', 'Noted.', 'helper'],
      ['user', 'Remember that the staging port is 5433.', 'helper'],
      ['user', 'Which staging port do we use?', 'helper'],
    ])
    await memory.close()
  })

  it('stores a streamed answer, and the turns of one conversation in one session', async () => {
    using directory = temporaryDirectory()
    const ai = aiMemory({ dir: directory.path, agent: 'helper' })
    const model = wrapLanguageModel({
      model: scriptedModel('Oak is hard.', 'Pine is soft.'),
      middleware: ai.middleware,
    })
    const messages: ModelMessage[] = [{ role: 'user', content: 'Tell me about oak.' }]
    messages.push({ role: 'assistant', content: await streamText({ model, messages }).text })
    messages.push({ role: 'user', content: 'And pine?' })
    await streamText({ model, messages }).text
    await ai.close()

    const memory = openMemory({ dir: directory.path })
    const { items: conversations } = await memory.conversations()
    expect(conversations).toHaveLength(1)
    const { items } = await memory.turns({ session: conversations[0]?.session ?? '', limit: 10 })
    expect(items.map(({ text }) => text)).toEqual(['Tell me about oak.', 'Oak is hard.', 'And pine?', 'Pine is soft.'])
    await memory.close()
  })

  it('uses the session that the request names', async () => {
    using directory = temporaryDirectory()
    const ai = aiMemory({ dir: directory.path, agent: 'helper' })
    const model = wrapLanguageModel({ model: scriptedModel('Good.'), middleware: ai.middleware })
    await generateText({ model, prompt: 'Hello there.', providerOptions: { credence: { session: 'chat-7' } } })
    await ai.close()

    const memory = openMemory({ dir: directory.path })
    expect((await memory.turns({ session: 'chat-7' })).total).toBe(2)
    await memory.close()
  })

  it('lets the model write with the authority of an agent, never of the person', async () => {
    using directory = temporaryDirectory()
    const ai = aiMemory({ dir: directory.path, agent: 'helper' })
    const note = { statement: 'The staging port is 5433.', names: ['staging port'] }
    const { steps } = await generateText({
      model: wrapLanguageModel({
        model: scriptedModel({ tool: 'memory_remember', input: note }, 'Stored.'),
        middleware: ai.middleware,
      }),
      tools: ai.tools,
      stopWhen: stepCountIs(3),
      prompt: 'Please look after this.',
    })
    expect(steps[0]?.toolResults).toHaveLength(1)
    await ai.close()

    const memory = openMemory({ dir: directory.path, scopes: ['agent:helper'] })
    const { provenance } = await memory.get('staging port')
    expect(provenance).toMatchObject({ actor: 'agent', origin: 'helper' })
    expect((await memory.turns({ limit: 10 })).items.filter(({ role }) => role === 'user')).toHaveLength(1)
    await memory.close()
  })

  it('reports wrong arguments to the model', async () => {
    using directory = temporaryDirectory()
    const ai = aiMemory({ dir: directory.path, agent: 'helper' })
    const model = scriptedModel({ tool: 'memory_search', input: { qery: 'port' } }, 'Sorry.')
    await generateText({ model, tools: ai.tools, stopWhen: stepCountIs(2), prompt: 'Search.' })
    expect(promptsOf(model)[1]).toContain('Did you mean')
    await ai.close()
  })

  it('sends a request without memory if the memory cannot be read, and reports it', async () => {
    using directory = temporaryDirectory()
    const problems: string[] = []
    const ai = aiMemory({ dir: directory.path, agent: 'helper', onProblem: (problem) => problems.push(problem) })
    await ai.close()
    const model = scriptedModel('Fine.')
    const { text } = await generateText({
      model: wrapLanguageModel({ model, middleware: ai.middleware }),
      prompt: 'Which port?',
    })
    expect(text).toBe('Fine.')
    expect(problems.join()).toContain('without memory')
  })
})
