import type { Belief } from './belief.ts'

const normaliseName = (text: string): string =>
  text
    .replace(/\p{Cf}/gu, '')
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFKC')
    .replace(/[\s_]+/gu, ' ')
    .trim()

/** Two names with the same key are the same name: case, underscores, spacing and invisible characters do not matter. */
export const nameKey = (name: string): string => (plainName.test(name) ? name : normaliseName(name))

/** Matches names that equal their key, as most names do, so that normalising them can be skipped. */
const plainName = /^[a-z\d]+(?: [a-z\d]+)*$/u

/** The name of the first, second, … statement under one name: "staging port", "staging port (2)". */
export const numberedName = (name: string, number: number): string => (number === 1 ? name : `${name} (${number})`)

/** The name without the number that distinguishes statements under one name. */
export const unnumberedName = (name: string): string => name.replace(/ \(\d+\)$/u, '')

/** Whether two texts are equal apart from case, spacing and closing punctuation. */
export const isSameStatement = (a: string, b: string): boolean => statementKey(a) === statementKey(b)

/** Statements with the same key are the same. Unlike in names, compatibility characters count: "10²" is not "102". */
export const statementKey = (text: string): string =>
  text
    .replace(/\p{Cf}/gu, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(/\s+/gu, ' ')
    .trim()
    .replace(/(?<![\s.!;,])[\s.!;,]+$/u, '')

/** Whether the belief has this name in any of the scopes. */
export const hasName = (belief: Belief, name: string, scopes: readonly string[]): boolean =>
  nameKey(belief.name) === nameKey(name) && belief.scopes.some((scope) => scopes.includes(scope))

/** Appends `additions` to the aliases. Drops every entry that has the same key as the name or an earlier entry. */
export function mergeAliases(
  name: string,
  aliases: readonly string[],
  additions: readonly string[],
): readonly string[] {
  const known = new Set([nameKey(name)])
  return [...aliases, ...additions].filter((alias) => {
    const key = nameKey(alias)
    if (key === '' || known.has(key)) return false
    known.add(key)
    return true
  })
}

/** Orders texts by UTF-16 code unit. */
export const compareStrings = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Orders texts by code point, as SQLite does; JavaScript's own order differs beyond the basic plane. */
export function compareText(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length)
  for (let at = 0; at < shorter; at += 1) {
    const unit = a.charCodeAt(at)
    const otherUnit = b.charCodeAt(at)
    if (unit !== otherUnit) return rankOf(unit) - rankOf(otherUnit)
  }
  return a.length - b.length
}

/** Surrogates sort last, because they encode the highest code points. */
const rankOf = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit)
