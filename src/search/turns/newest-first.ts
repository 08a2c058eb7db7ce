import { termsOf } from './terms.ts'
import { pointsOf } from './word-points.ts'

/** What is said about one thing: at least so much alike, as the cosine of the two texts' telling words. */
const alike = 0.2

type Said = { readonly text: string; readonly at: number; readonly session: string }

/**
 * Puts what speaks of the same thing as the first of `ranked` at the front, newest first, and marks what has a newer one
 * as earlier: people change their minds, and the last word counts. `mayJoin` says which others may belong to it.
 */
export function newestFirst<Item>(
  ranked: readonly Item[],
  said: (item: Item) => Said,
  mayJoin: (item: Item, place: number) => boolean,
): readonly { readonly item: Item; readonly isEarlier: boolean }[] {
  const [first] = ranked
  if (first === undefined) return []
  const topic = tellingWords(said(first).text)
  const isAligned = (item: Item, place: number): boolean =>
    place === 0 || (mayJoin(item, place) && cosine(topic, tellingWords(said(item).text)) >= alike)
  const group = ranked.filter(isAligned)
  const rest = ranked.filter((item, place) => !isAligned(item, place))
  const inOrder = [...group].sort((one, other) => said(other).at - said(one).at)
  const newest = said(inOrder[0] as Item)
  return [
    ...inOrder.map((item) => {
      const { session, at } = said(item)
      return { item, isEarlier: session !== newest.session && at < newest.at }
    }),
    ...rest.map((item) => ({ item, isEarlier: false })),
  ]
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
