import { join } from 'node:path'
import { withShadow } from '../../eval/shadow/shadow-memory.ts'
import type { Ports } from '../../memory/change/transaction.ts'
import { memoryFrom } from '../../memory/memory.ts'
import { syncMirror } from '../../memory/mirror/sync.ts'
import { defaultUser } from '../../open-memory.ts'
import { defaultAuthor } from '../common-options.ts'
import { playTour, tourScopes } from '../tour-scenes.ts'

/** Fills an empty memory with what the tour remembers, recalls and corrects, and with what an agent proposes. */
export async function fillDemo(ports: Ports, dir: string): Promise<void> {
  const standpoint = { user: defaultUser, scopes: tourScopes, agent: null, author: defaultAuthor }
  const records = {
    root: join(dir, 'state', 'evals'),
    now: () => new Date(),
    clock: () => performance.now(),
    onProblem: () => {},
  }
  // Closing would close the store; the records must be written before anybody looks at them.
  const memory = withShadow({ ...memoryFrom(ports, standpoint), close: async () => {} }, records)
  for await (const _scene of playTour(memory));
  await memory.close()
  const agent = memoryFrom(ports, { ...standpoint, author: { actor: 'agent', origin: 'claude-code' } })
  await agent.remember({ name: 'Postgres', content: 'The ledger is kept in Postgres 18.', type: 'decision' })
  await syncMirror(ports, { dir, user: defaultUser })
}
