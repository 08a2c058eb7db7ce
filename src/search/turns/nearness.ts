import type { Candidates, Ranking, SearchedIndex, TurnCandidate } from './candidates.ts'
import { shareOf } from './candidates.ts'
import { compareSentences, textsToEmbed } from './change.ts'
import { cosineAt } from './cosines.ts'
import { termsOf } from './terms.ts'

/** How close the words of a message are in meaning to those of a sentence, each word in its context. */
export type Nearness = {
  /** The weighted mean, over the words of the message, of each word's largest cosine with a word of the sentence. */
  readonly value: number
  /** The words of the message, each with the nearest word of the sentence. */
  readonly pairs: readonly (readonly [asked: string, nearest: string])[]
}

/**
 * Compares the words of a message with the best-fitting sentence of each candidate. A detail of the message that the sentence
 * lacks has no near word there, so it lowers the value. Null if there are no word vectors.
 */
export async function nearnessOf(
  index: SearchedIndex,
  { view, meaning }: Pick<Ranking, 'view' | 'meaning'>,
  candidates: readonly TurnCandidate[],
  terms: Candidates['terms'],
): Promise<readonly Nearness[] | null> {
  if (meaning?.wordsOf === undefined || candidates.length === 0) return null
  const { text, dimensions } = meaning
  const cosines = await compareSentences(index, view.user, meaning, candidates)
  const fittest = candidates.map(({ turn }, at) => {
    const sentences = textsToEmbed(turn.text)
    const fitness = sentences.map((sentence, place) => {
      const own = new Set(termsOf(sentence).map(({ term }) => term))
      return shareOf(terms, own) + (cosines[at]?.[place] ?? 0)
    })
    return sentences[Math.max(0, fitness.indexOf(Math.max(...fitness)))] ?? ''
  })
  const [message, ...found] = (await meaning.wordsOf([text, ...fittest]).catch(() => null)) ?? []
  if (message === undefined) return null
  const asked = message.words.flatMap((word, place) => {
    const weight = terms.weights.get(termsOf(word)[0]?.term ?? '') ?? 0
    return weight > 0 ? [{ word, place, weight }] : []
  })
  const total = asked.reduce((sum, { weight }) => sum + weight, 0)
  return found.map(({ words, vectors }) => {
    let value = 0
    const pairs = asked.map(({ word, place, weight }) => {
      const near = words.map((_, other) => cosineAt(message.vectors, place, vectors, other, dimensions))
      const nearest = near.indexOf(Math.max(...near))
      value += (weight / total) * Math.max(0, near[nearest] ?? 0)
      return [word, words[nearest] ?? ''] as const
    })
    return { value, pairs }
  })
}
