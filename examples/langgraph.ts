// Credence as the store of LangGraph: pass it to `compile({ store })` of a graph.
//   node --conditions=credence-source examples/langgraph.ts      (in a clone)
import { CredenceStore } from 'credence/langgraph'

const store = new CredenceStore({ dir: './memory', agent: 'example' })
await store.put(['users', 'ana'], 'tea', { text: 'Ana drinks green tea.' })
await store.put(['users', 'ana'], 'tea', { text: 'Ana drinks black tea.' })
for (const { key, value } of await store.search(['users'], { query: 'tea' })) console.log(key, value)
await store.stop()
