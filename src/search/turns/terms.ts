import { stemmer } from 'stemmer'
import { analyse, isUnspaced } from '../analyse.ts'
import { askingWords, baseForm, stopWords } from './words.ts'

/** One word of a text that turns are found by: the stem, and where the word stands. */
export type Term = { readonly term: string; readonly start: number; readonly end: number }

/**
 * The terms of a text in order, stop words left out. Words beyond plain English letters are their own terms; of scripts
 * that write no spaces, every two neighbouring characters are one.
 */
export function termsOf(text: string): readonly Term[] {
  const terms: Term[] = []
  const atoms = analyse(text)
  for (const [at, { word, start, end, parts }] of atoms.entries()) {
    if (isUnspaced(word)) {
      const next = atoms[at + 1]
      const hasNext = next !== undefined && next.gap === 'tight' && isUnspaced(next.word)
      const isAlone = !hasNext && !(atoms[at]?.gap === 'tight' && isUnspaced(atoms[at - 1]?.word ?? ''))
      if (hasNext) terms.push({ term: word + next.word, start, end: next.end })
      else if (isAlone) terms.push({ term: word, start, end })
      continue
    }
    const whole = termOf(word)
    if (whole !== '') terms.push({ term: whole, start, end })
    // An identifier is found by the words inside it as well.
    for (const part of parts) {
      const term = termOf(part)
      if (term !== '' && term !== whole) terms.push({ term, start, end })
    }
  }
  return terms
}

/** How often each term occurs in a text, and how many there are in all. */
export function countTerms(text: string): { readonly counts: ReadonlyMap<string, number>; readonly length: number } {
  const counts = new Map<string, number>()
  const terms = termsOf(text)
  for (const { term } of terms) counts.set(term, (counts.get(term) ?? 0) + 1)
  return { counts, length: terms.length }
}

// The same few thousand words make up most of what people write.
const known = new Map<string, string>()
const mostKnown = 50_000
/** Longer words are not looked for. */
const longestTerm = 64

/** The term of one normalised word; empty for a stop word. */
export function termOf(word: string): string {
  const before = known.get(word)
  if (before !== undefined) return before
  const term = stemOf(word)
  if (known.size >= mostKnown) known.clear()
  known.set(word, term)
  return term
}

function stemOf(word: string): string {
  const plain = word.replaceAll("'", '').slice(0, longestTerm)
  if (stopWords.has(plain)) return ''
  const base = baseForm(plain)
  return /^[a-z]{3,}$/u.test(base) ? stemmer(base) : base
}

let asking: ReadonlySet<string> | undefined

/** Whether a term is a word of asking, which counts half. */
export function isAskingTerm(term: string): boolean {
  asking ??= new Set(askingWords.map(termOf))
  return asking.has(term)
}
