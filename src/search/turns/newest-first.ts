import { termsOf } from './terms.ts'
import { pointsOf } from './word-points.ts'

/** What is said about one thing: at least so much alike, as the cosine of the two texts' telling words. */
const alike = 0.2

type Said = { readonly text: string; readonly at: number; readonly session: string }

/**
 * Of what speaks of the same thing as the first of `ranked`, puts the best turn of the newest session at the front, and
 * marks the older ones as earlier: people change their minds, and the last word counts. The others keep their order.
 * `mayJoin` says which of them may belong together.
 */
export function newestFirst<Item>(
  ranked: readonly Item[],
  said: (item: Item) => Said,
  mayJoin: (item: Item, place: number) => boolean,
): readonly { readonly item: Item; readonly isEarlier: boolean }[] {
  const [first] = ranked
  if (first === undefined) return []
  const topic = tellingWords(said(first).text)
  const group = ranked.filter(
    (item, place) => place === 0 || (mayJoin(item, place) && cosine(topic, tellingWords(said(item).text)) >= alike),
  )
  const newest = group.reduce((one, other) => (said(other).at > said(one).at ? other : one))
  const lead = group.find((item) => said(item).session === said(newest).session) as Item
  const isEarlier = (item: Item): boolean =>
    said(item).session !== said(lead).session && said(item).at < said(lead).at && group.includes(item)
  return [lead, ...ranked.filter((item) => item !== lead)].map((item) => ({ item, isEarlier: isEarlier(item) }))
}

/** The terms of a text, each with its points. */
const tellingWords = (text: string): ReadonlyMap<string, number> =>
  new Map(termsOf(text).map(({ term }) => [term, pointsOf(term)]))

function cosine(one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): number {
  let shared = 0
  for (const [term, points] of one) if (other.has(term)) shared += points * points
  return shared === 0 ? 0 : shared / (lengthOf(one) * lengthOf(other))
}

const lengthOf = (words: ReadonlyMap<string, number>): number =>
  Math.sqrt([...words.values()].reduce((total, points) => total + points * points, 0))
