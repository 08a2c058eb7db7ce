import { type Sentence, sentencesOf } from '../sentences.ts'
import { termsOf, type WantedTerms } from './terms.ts'

/** A sentence with the wanted terms that it contains. */
export type HoldingSentence = Sentence & { readonly held: ReadonlySet<string> }

/** The sentences of a text, each with the wanted terms that it contains. */
export function findSentencesHolding(text: string, wanted: WantedTerms): readonly HoldingSentence[] {
  const sentences = sentencesOf(text).map((sentence) => ({ ...sentence, held: new Set<string>() }))
  let at = 0
  for (const { term, start } of termsOf(text, wanted)) {
    while (at + 1 < sentences.length && start >= (sentences[at]?.end ?? 0)) at += 1
    if (wanted.has(term)) sentences[at]?.held.add(term)
  }
  return sentences
}
