// The memory tool of Anthropic's API over Credence. Offline: the commands that a model would send are called here.
//   node --conditions=credence-source examples/anthropic.ts      (in a clone)
// With a key:
//   import Anthropic from '@anthropic-ai/sdk'
//   import { betaMemoryTool } from '@anthropic-ai/sdk/helpers/beta/memory'
//   await new Anthropic().beta.messages.toolRunner({ model, max_tokens, messages, tools: [betaMemoryTool(memory)] })
import { memoryHandlers } from 'credence/anthropic'

const memory = memoryHandlers({ dir: './memory', agent: 'example' })
const path = '/memories/staging_port.md'
console.log(await memory.create({ command: 'create', path, file_text: 'The staging port is 5433.' }))
console.log(await memory.str_replace({ command: 'str_replace', path, old_str: '5433', new_str: '5434' }))
console.log(await memory.view({ command: 'view', path }))
await memory.close()
