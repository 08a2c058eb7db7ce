import { type Belief, reinforcedAt } from '../beliefs/belief.ts'
import { nameKey } from '../beliefs/identity.ts'

/** Orders texts by code point, as SQLite does; JavaScript's own order differs beyond the basic plane. */
export function compareText(one: string, other: string): number {
  const shorter = Math.min(one.length, other.length)
  for (let at = 0; at < shorter; at += 1) {
    const unit = one.charCodeAt(at)
    const otherUnit = other.charCodeAt(at)
    if (unit !== otherUnit) return rankOf(unit) - rankOf(otherUnit)
  }
  return one.length - other.length
}

/** Surrogates encode code points above every other unit. */
const rankOf = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit)

/** The key under which a belief holds its name in a scope. Lone surrogates are replaced: SQLite cannot store them. */
export const heldName = (name: string): string => nameKey(name).toWellFormed()

export const byReinforcement = (one: Belief, other: Belief): number =>
  reinforcedAt(other) - reinforcedAt(one) || compareText(one.id, other.id)

/** Most recently updated first, then by name. */
export const byUpdate = (one: Belief, other: Belief): number =>
  compareText(other.updatedAt, one.updatedAt) ||
  compareText(heldName(one.name), heldName(other.name)) ||
  compareText(one.id, other.id)
