import type { Belief } from '../beliefs/belief.ts'
import { compareText } from '../beliefs/identity.ts'
import { analyse, type Token } from '../search/analyse.ts'
import { inverseDocFreq, saturation } from '../search/bm25.ts'
import type { TextHit } from '../search/form-index.ts'
import { searchableWords } from '../search/searchable-text.ts'

/** The searchable fields of a belief, in the order of the index's columns, with the weight of a word in each. */
export const textFields = ['name', 'aliases', 'content', 'why'] as const
export type TextField = (typeof textFields)[number]
const fieldWeights: Readonly<Record<TextField, number>> = { name: 8, aliases: 6, content: 2, why: 1 }

export type TextTerms = Readonly<Record<TextField, readonly string[]>>

/** Max length of a term; longer terms are cut. People do not search for words of this length. */
const maxTermLength = 100

/** ASCII that an index may treat as the end of a word. Rare in terms, as in `⑴`, which is normalised to "(1)". */
const unindexable = /[^\w+#.':,/\-\u0080-\u{10ffff}]/gu
const plain = /^\w{1,100}$/

/** A word as stored in the index. */
export function textTerm(word: string): string {
  if (plain.test(word)) return word
  const term = word.length <= maxTermLength ? word : word.slice(0, maxTermLength).toWellFormed()
  return term.replace(unindexable, '_')
}

/** All words of a belief by field. */
export function textTerms(
  belief: Pick<Belief, TextField>,
  tokensOf: (text: string) => readonly Token[] = analyse,
): TextTerms {
  const termsOf = (text: string): readonly string[] => searchableWords(text, tokensOf(text)).map(textTerm)
  return {
    name: termsOf(belief.name),
    aliases: belief.aliases.flatMap(termsOf),
    content: termsOf(belief.content),
    why: termsOf(belief.why),
  }
}

export const countTerms = (terms: TextTerms): number =>
  textFields.reduce((total, field) => total + terms[field].length, 0)

/** A visible belief that contains a term, with the number of occurrences in each field. */
export type TermMatch = {
  readonly beliefId: string
  readonly length: number
  readonly counts: Readonly<Partial<Record<TextField, number>>>
}

/** A queried term: the number of visible beliefs that contain it, and its matches among the beliefs that may be returned. */
export type TermHolders = { readonly docFreq: number; readonly holders: readonly TermMatch[] }

/** The number of beliefs in view and of all their words, from which idf and average length are computed. */
export type TextBase = { readonly beliefs: number; readonly words: number }

/**
 * BM25 over all fields together. Each occurrence counts as much as the weight of its field. Frequencies are counted only in the view, so
 * nothing outside it can change a score. Beliefs with fewer than `atLeast` of the terms are not returned.
 */
export function rankText(
  terms: readonly TermHolders[],
  base: TextBase,
  { limit, atLeast = 1 }: { readonly limit: number; readonly atLeast?: number | undefined },
): readonly TextHit[] {
  const averageLength = Math.max(1, base.words / Math.max(1, base.beliefs))
  const scores = new Map<string, { score: number; terms: number }>()
  for (const { docFreq, holders } of terms) {
    const idf = inverseDocFreq({ docFreq, docCount: base.beliefs })
    for (const { beliefId, length, counts } of holders) {
      const termFreq = textFields.reduce((total, field) => total + fieldWeights[field] * (counts[field] ?? 0), 0)
      const gain = idf * saturation({ termFreq, length, averageLength })
      const { score, terms } = scores.get(beliefId) ?? { score: 0, terms: 0 }
      scores.set(beliefId, { score: score + gain, terms: terms + 1 })
    }
  }
  return [...scores]
    .filter(([, { terms }]) => terms >= atLeast)
    .map(([beliefId, { score }]) => ({ beliefId, score }))
    .sort((a, b) => b.score - a.score || compareText(a.beliefId, b.beliefId))
    .slice(0, limit)
}
