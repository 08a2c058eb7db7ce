import { join } from 'node:path'
import { withShadow } from '../../eval/shadow/shadow.ts'
import { memoryFrom } from '../../memory/memory.ts'
import { syncMirror } from '../../memory/mirror/sync.ts'
import type { Ports } from '../../memory/ports.ts'
import { defaultUser } from '../../open-memory.ts'
import { defaultAuthor } from '../command/options.ts'
import { playTour, tourScopes } from '../commands/connect/tour.ts'

/** Fills an empty memory with the beliefs and recalls of the tour, and a proposal of an agent. */
export async function fillDemo(ports: Ports, dir: string): Promise<void> {
  const standpoint = { user: defaultUser, scopes: tourScopes, agent: null, author: defaultAuthor }
  const records = {
    root: join(dir, 'state', 'evals'),
    now: () => new Date(),
    clock: () => performance.now(),
    onProblem: () => {},
  }
  // `close` writes the shadow records, and must not close the store.
  const memory = withShadow({ ...memoryFrom(ports, standpoint), close: async () => {} }, records)
  for await (const _scene of playTour(memory));
  await memory.close()
  const agent = memoryFrom(ports, { ...standpoint, author: { actor: 'agent', origin: 'claude-code' } })
  await agent.remember({ name: 'Postgres', content: 'The ledger is kept in Postgres 18.', type: 'decision' })
  await syncMirror(ports, { dir, user: defaultUser })
}
