import { type Belief, reinforcedAt } from '../beliefs/belief.ts'
import { compareText, nameKey } from '../beliefs/identity.ts'

/** The key under which a belief holds its name in a scope. Lone surrogates are replaced: SQLite cannot store them. */
export const heldName = (name: string): string => nameKey(name).toWellFormed()

export const byReinforcement = (one: Belief, other: Belief): number =>
  reinforcedAt(other) - reinforcedAt(one) || compareText(one.id, other.id)

/** Most recently updated first, then by name. */
export const byUpdate = (one: Belief, other: Belief): number =>
  compareText(other.updatedAt, one.updatedAt) ||
  compareText(heldName(one.name), heldName(other.name)) ||
  compareText(one.id, other.id)
