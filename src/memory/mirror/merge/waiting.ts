import type { Belief } from '../../../beliefs/belief.ts'
import type { Proposal } from '../../change/proposals.ts'
import type { Store } from '../../ports.ts'

/** An edit to the file that waits for a person's decision. The file does not show it until it is accepted. */
export type UndecidedEdit = Pick<Proposal, 'proposal' | 'target'>

const everyOne = { limit: 1_000, offset: 0 }

/** The waiting edits, oldest first. `target` is the belief that the edit would change; null for a new line. */
export async function listUndecidedEdits(store: Store, user: string): Promise<readonly UndecidedEdit[]> {
  const waiting: Belief[] = []
  for (const kind of ['candidates', 'proposals'])
    waiting.push(...(await store.list({ user, [kind]: true }, everyOne)).items)
  const edits = waiting.filter(({ provenance }) => provenance.origin === 'file').reverse()
  const ids = edits.flatMap(({ proposedFor }) => proposedFor ?? [])
  const targets = new Map((await store.getMany(user, ids)).map((belief) => [belief.id, belief]))
  return edits.map((proposal) => ({ proposal, target: targets.get(proposal.proposedFor ?? '') ?? null }))
}
