import type { Scores } from './suite.ts'

/** The share of `gold` among the first `k` of a ranking. */
export const recallAt = (ranked: readonly string[], gold: ReadonlySet<string>, k: number): number | null =>
  gold.size === 0 ? null : ranked.slice(0, k).filter((key) => gold.has(key)).length / gold.size

/** 1 when any of `gold` is among the first `k`. */
export const anyAt = (ranked: readonly string[], gold: ReadonlySet<string>, k: number): number | null =>
  gold.size === 0 ? null : Number(ranked.slice(0, k).some((key) => gold.has(key)))

/** 1 when all of `gold` are among the first `k`. */
export function allAt(ranked: readonly string[], gold: ReadonlySet<string>, k: number): number | null {
  const recall = recallAt(ranked, gold, k)
  return recall === null ? null : Number(recall === 1)
}

/** One divided by the rank of the first of `gold`; 0 when none was found. */
export function reciprocalRank(ranked: readonly string[], gold: ReadonlySet<string>): number | null {
  if (gold.size === 0) return null
  const place = ranked.findIndex((key) => gold.has(key))
  return place === -1 ? 0 : 1 / (place + 1)
}

/** Normalised discounted cumulative gain with binary relevance: rank r counts 1 / log2(r + 1). Jarvelin and Kekalainen 2002. */
export function ndcgAt(ranked: readonly string[], gold: ReadonlySet<string>, k: number): number | null {
  if (gold.size === 0) return null
  const gain = (place: number): number => 1 / Math.log2(place + 2)
  const reached = ranked.slice(0, k).reduce((sum, key, place) => sum + (gold.has(key) ? gain(place) : 0), 0)
  const best = Array.from({ length: Math.min(k, gold.size) }, (_, place) => gain(place)).reduce((sum, one) => sum + one)
  return reached / best
}

/** Prefixes the names of scores, such as `session`. */
export const named = (prefix: string, scores: Scores): Scores =>
  Object.fromEntries(Object.entries(scores).map(([name, value]) => [`${prefix}${name}`, value]))
