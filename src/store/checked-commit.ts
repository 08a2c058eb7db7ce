import type { Belief } from '../beliefs/belief.ts'
import type { CommitResult } from '../beliefs/belief-store.ts'
import type { BeliefChange, Commit, IdempotencyKey, JournalEvent } from '../beliefs/journal.ts'
import { invalid, type MemoryError, notFound } from '../errors.ts'

/** A consistent change: `after` is set if, and only if, the outcome is `present`. */
export type CheckedChange =
  | (Omit<BeliefChange, 'outcome' | 'after'> & { readonly outcome: 'present'; readonly after: Belief })
  | (Omit<BeliefChange, 'outcome' | 'after'> & { readonly outcome: 'absent' | 'erased'; readonly after: null })

/** Rejects changes that are invalid whatever the store contains. */
export function checkChanges({ user, changes, stamp }: Commit): readonly CheckedChange[] {
  const seen = new Set<string>()
  return changes.map((change) => {
    const { beliefId, expectedVersion } = change
    if (seen.has(beliefId)) throw contradictory(`The belief ${beliefId} is changed twice in one commit.`)
    seen.add(beliefId)
    if (!Number.isSafeInteger(expectedVersion) || expectedVersion < 0) {
      throw contradictory(`The expected version of ${beliefId} is ${expectedVersion}, not a whole number from 0.`)
    }
    // Another device may forget a belief that this store never received.
    const mayBeUnknown = stamp !== undefined && change.outcome === 'erased'
    return checkChange(user, change, mayBeUnknown)
  })
}

function checkChange(
  user: string,
  { beliefId, expectedVersion, outcome, after }: BeliefChange,
  mayBeUnknown: boolean,
): CheckedChange {
  if (outcome !== 'present') {
    if (after !== null) throw contradictory(`The belief ${beliefId} has the outcome ${outcome}, but also a text.`)
    if (expectedVersion === 0 && !mayBeUnknown)
      throw contradictory(`The belief ${beliefId} cannot become ${outcome}: it never was.`)
    return { beliefId, expectedVersion, outcome, after }
  }
  if (after === null) throw contradictory(`The belief ${beliefId} has the outcome present, but no text.`)
  if (after.id !== beliefId || after.user !== user) {
    throw contradictory(`The change of ${beliefId} of "${user}" contains the belief ${after.id} of "${after.user}".`)
  }
  if (!Number.isSafeInteger(after.version) || after.version <= expectedVersion) {
    throw contradictory(`The belief ${beliefId} would go from version ${expectedVersion} to ${after.version}.`)
  }
  if (after.scopes.length === 0) throw contradictory(`The belief ${beliefId} has no scope.`)
  return { beliefId, expectedVersion, outcome, after }
}

const contradictory = (message: string): MemoryError =>
  invalid(message, 'A commit changes each belief once, from the version it was read at.')

/** The result of a commit that must not be written because it is a retry or an outdated undo. Null for any other commit. */
export function resultWithoutWrite(
  { user, key, undoes }: Commit,
  journal: { eventByKey(key: IdempotencyKey): JournalEvent | null; event(number: number): JournalEvent | null },
): CommitResult | null {
  const earlier = key === null ? null : journal.eventByKey(key)
  if (earlier !== null) return { outcome: 'replayed', event: earlier }
  if (undoes === null) return null
  const undone = journal.event(undoes)
  if (undone === null) {
    throw notFound(`"${user}" has no event ${undoes} to undo.`, 'List events to find its number.')
  }
  return undone.undoneBy === null ? null : { outcome: 'stale' }
}
