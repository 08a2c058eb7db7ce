import type { Ports } from '../../src/memory/ports.ts'
import { recall } from '../../src/memory/recall/recall.ts'

export const scopes = ['project:ledger', 'domain:code/typescript', 'user:universal']

/** What a store recalls for a message from Ada. */
export function recalled(store: Ports['store'], message: string, agent: string | null, nearMisses = true) {
  const ports = { store, now: () => new Date(0), newId: () => 'unused' }
  return recall(ports, { user: 'ada', scopes, agent, message, nearMisses })
}
