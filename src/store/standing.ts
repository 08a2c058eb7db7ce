import { type Belief, reinforcedAt } from '../beliefs/belief.ts'
import { nameKey } from '../beliefs/identity.ts'
import { compareText } from './text-order.ts'

/** The name a belief holds in its scopes. Half a surrogate pair has no place in a database key. */
export const heldName = (name: string): string => nameKey(name).toWellFormed()

export const byReinforcement = (one: Belief, other: Belief): number =>
  reinforcedAt(other) - reinforcedAt(one) || compareText(one.id, other.id)

/** Most recently updated first, then by name. */
export const byUpdate = (one: Belief, other: Belief): number =>
  compareText(other.updatedAt, one.updatedAt) ||
  compareText(heldName(one.name), heldName(other.name)) ||
  compareText(one.id, other.id)
