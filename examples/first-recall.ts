// Remembers two things, recalls for one message, and shows why. In a project with Credence installed:
//   node first-recall.ts
// In a clone, which has no build beside its sources:
//   node --conditions=credence-source examples/first-recall.ts
import { openMemory, renderContext } from 'credence'

const memory = openMemory({ dir: './memory', scopes: ['project:ledger'] })

await memory.remember({ name: 'payment terms', aliases: ['due date'], content: 'Invoices are due after 14 days.' })
await memory.remember({ name: 'Redis', content: 'Sessions are cached in Redis on port 6380.' })

const context = await memory.recall('Remind me of the due date, please.')
for (const { belief, score, matches } of context.relevant) {
  console.log(`${belief.name} scored ${score.toFixed(2)} for "${matches.map(({ form }) => form).join('", "')}"`)
}
console.log(renderContext(context))

await memory.close()
