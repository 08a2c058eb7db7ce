import type { Belief } from '../../beliefs/belief.ts'
import type { Ports } from '../ports.ts'

/** Runs `work` on the memory as it would be if the store contained these versions of the beliefs. Stores nothing. */
export function withChanged<Result>(
  ports: Ports,
  beliefs: readonly [Belief, ...(readonly Belief[])],
  work: (ports: Ports) => Promise<Result>,
): Promise<Result> {
  const event = {
    user: beliefs[0].user,
    kind: 'edit',
    actor: 'person',
    origin: 'dry run',
    at: ports.now().toISOString(),
    key: null,
    undoes: null,
  } as const
  const changes = beliefs.map((belief) => ({
    beliefId: belief.id,
    expectedVersion: belief.version,
    outcome: 'present' as const,
    after: { ...belief, version: belief.version + 1 },
  }))
  return ports.store.tryOut({ ...event, changes }, (store) => work({ ...ports, store }))
}
