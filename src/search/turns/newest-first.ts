import { termsOf, type WantedTerms, wantedTerms } from './terms.ts'
import { pointsOf } from './word-points.ts'

/** Two texts speak of the same thing when the cosine of their words is at least this. */
const alike = 0.2
/** The other text also holds at least this share of the asked words that the best one holds, by points. */
const sharedAsked = 0.8

/** Terms with what each is worth. */
type Words = ReadonlyMap<string, number>
type Said = { readonly text: string; readonly at: number; readonly session: string }

/**
 * Of what speaks of the same thing as the first of `ranked`, puts the best turn of the newest session at the front, and
 * marks the older ones as earlier: people change their minds, and the last word counts. The others keep their order.
 * `asked` are the terms of the question with their weights: a newer turn that lacks some of them is about something else,
 * or somebody else. `mayJoin` says which of them may belong together.
 */
export function newestFirst<Item>(
  ranked: readonly Item[],
  said: (item: Item) => Said,
  asked: Words,
  mayJoin: (item: Item, place: number) => boolean,
): readonly { readonly item: Item; readonly isEarlier: boolean }[] {
  const [first] = ranked
  if (first === undefined) return []
  const wanted = wantedTerms(asked)
  const topic = said(first).text
  const askedOfTopic = tellingWords(topic, wanted)
  let topicWords: Words | undefined
  const isSameThing = (text: string): boolean => {
    if (askedShare(asked, askedOfTopic, tellingWords(text, wanted)) < sharedAsked) return false
    topicWords ??= tellingWords(topic)
    return cosine(topicWords, tellingWords(text)) >= alike
  }
  const group = ranked.filter((item, place) => place === 0 || (mayJoin(item, place) && isSameThing(said(item).text)))
  const newest = group.reduce((one, other) => (said(other).at > said(one).at ? other : one))
  const lead = group.find((item) => said(item).session === said(newest).session) as Item
  const isEarlier = (item: Item): boolean =>
    said(item).session !== said(lead).session && said(item).at < said(lead).at && group.includes(item)
  return [lead, ...ranked.filter((item) => item !== lead)].map((item) => ({ item, isEarlier: isEarlier(item) }))
}

/** The terms of a text, each with its points. With `wanted`, others may be missing. */
const tellingWords = (text: string, wanted?: WantedTerms): Words =>
  new Map(termsOf(text, wanted).map(({ term }) => [term, pointsOf(term)]))

/** The share of the asked terms of one text that the other holds too, by points; 0 when it holds none. */
function askedShare(asked: Words, one: Words, other: Words): number {
  let total = 0
  let shared = 0
  for (const [term, weight] of asked) {
    const points = weight * (one.get(term) ?? 0)
    total += points
    if (other.has(term)) shared += points
  }
  return total === 0 ? 0 : shared / total
}

function cosine(one: Words, other: Words): number {
  let shared = 0
  for (const [term, points] of one) if (other.has(term)) shared += points * points
  return shared === 0 ? 0 : shared / (lengthOf(one) * lengthOf(other))
}

const lengthOf = (words: Words): number =>
  Math.sqrt([...words.values()].reduce((total, points) => total + points * points, 0))
