import { type Belief, isCurrent } from '../beliefs/belief.ts'
import { nameKey } from '../beliefs/identity.ts'
import { universalScope } from '../beliefs/scope.ts'
import { compareText } from './text-order.ts'

/** The name a belief holds in its scopes. Half a surrogate pair has no place in a database key. */
export const heldName = (name: string): string => nameKey(name).toWellFormed()

/** Milliseconds since the epoch; a time that cannot be read counts as the oldest. */
export function reinforcedAt({ reinforcement }: Belief): number {
  const at = Date.parse(reinforcement.at)
  return Number.isNaN(at) ? 0 : at
}

/**
 * Where a belief stands in the persona: 0 expertise, 1 style, 2 the rest, null when it is no part of it.
 */
export function shelfOf(belief: Belief): number | null {
  if (!isCurrent(belief) || belief.type === 'open_question' || !belief.scopes.includes(universalScope)) return null
  if (belief.subtype === null) return 2
  return belief.subtype === 'expertise' ? 0 : 1
}

/** Shelf by shelf; on each, what a person edited, then what was reinforced last. */
export const byShelf = (one: Belief, other: Belief): number =>
  (shelfOf(one) ?? 0) - (shelfOf(other) ?? 0) ||
  Number(other.editedByPerson) - Number(one.editedByPerson) ||
  byReinforcement(one, other)

export const byReinforcement = (one: Belief, other: Belief): number =>
  reinforcedAt(other) - reinforcedAt(one) || compareText(one.id, other.id)

/** Most recently updated first, then by name. */
export const byUpdate = (one: Belief, other: Belief): number =>
  compareText(other.updatedAt, one.updatedAt) ||
  compareText(heldName(one.name), heldName(other.name)) ||
  compareText(one.id, other.id)
