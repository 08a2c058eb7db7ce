import type { Belief } from '../../beliefs/belief.ts'
import type { Store } from '../ports.ts'
import { conflictFiles } from './conflict-file.ts'
import { fieldsOfBelief, isSameField } from './item.ts'
import type { MirrorPlaces } from './places.ts'
import type { MirrorState } from './state.ts'
import { currentHeir } from './weigh.ts'

/** A change in both places that nobody has decided yet. */
export type OpenConflict = {
  readonly at: string
  /** Shows both versions, in the memory directory. Nobody but its reader removes it. */
  readonly file: string
  /** The file's versions, which wait to be accepted or rejected. */
  readonly proposals: readonly string[]
}

/**
 * A conflict is open while one of its proposals waits and says something else than the store, or, where it has none,
 * while its file is there.
 */
export async function openConflicts(
  store: Store,
  places: MirrorPlaces,
  { conflicts, user }: Pick<MirrorState, 'conflicts' | 'user'>,
): Promise<readonly OpenConflict[]> {
  if (conflicts.length === 0) return []
  const present = new Set(await conflictFiles(places))
  const kept = await store.getMany(
    user,
    conflicts.flatMap(({ beliefs }) => beliefs),
  )
  const waiting = new Set<string>()
  for (const proposal of kept) if (await isUndecided(store, proposal)) waiting.add(proposal.id)
  return conflicts
    .map(({ at, file, beliefs }) => ({ at, file, beliefs, proposals: beliefs.filter((id) => waiting.has(id)) }))
    .filter(({ file, beliefs, proposals }) => (beliefs.length > 0 ? proposals.length > 0 : present.has(file)))
    .map(({ at, file, proposals }) => ({ at, file, proposals }))
}

async function isUndecided(store: Store, proposal: Belief): Promise<boolean> {
  if (proposal.proposedFor === null) return false
  const target = await store.get(proposal.user, proposal.proposedFor)
  const now = target === null ? null : await currentHeir(store, target)
  if (now === null) return true
  const [said, stored] = [fieldsOfBelief(proposal), fieldsOfBelief(now)]
  return !(isSameField('content', said, stored) && isSameField('why', said, stored))
}
