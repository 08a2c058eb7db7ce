// A chat with the AI SDK that remembers. Offline: the model is scripted and answers with what it was sent.
//   node --conditions=credence-source examples/ai-sdk.ts      (in a clone)
// In your project replace `echo` by a model of a provider, such as anthropic('claude-sonnet-4-5').
import { generateText, wrapLanguageModel } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { aiMemory } from 'credence/ai-sdk'

const echo = new MockLanguageModelV4({
  doGenerate: async ({ prompt }) => ({
    content: [{ type: 'text', text: `I was sent: ${JSON.stringify(prompt.at(-1)?.content)}` }],
    finishReason: { unified: 'stop', raw: 'stop' },
    usage: {
      inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 0, text: 0, reasoning: 0 },
    },
    warnings: [],
  }),
})

const memory = aiMemory({ dir: './memory', agent: 'example' })
const model = wrapLanguageModel({ model: echo, middleware: memory.middleware })

await generateText({ model, tools: memory.tools, prompt: 'Remember that the staging port is 5433.' })
const { text } = await generateText({ model, tools: memory.tools, prompt: 'Which staging port do we use?' })
console.log(text)
await memory.close()
