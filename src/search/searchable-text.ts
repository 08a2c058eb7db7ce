import { analyse, type Token } from './analyse.ts'
import { singular } from './singular.ts'

/** The words of a text as the full-text search indexes and queries them. */
export const searchableWords = (text: string, tokens: readonly Token[] = analyse(text)): readonly string[] =>
  tokens.map(({ word }) => singular(word))

// Words that occur in questions about any topic.
const questionWords = new Set(
  `a about am an and any anything are as at be been but by can could did do does for from had has have how i if in into
  is it its just me my of on or our please remember should so some tell that the their them there these they this those
  to us was we were what when where which who why will with would you your`.split(/\s+/u),
)

/** Whether a word belongs to the topic of a question, and not to its phrasing. */
export const isInformative = (word: string): boolean => !questionWords.has(word)

/** The words of a statement without question words, and without "now" and "not", which only mark a changed value. */
export const informativeWords = (text: string): readonly string[] =>
  searchableWords(text).filter((word) => isInformative(word) && !['not', 'no', 'now'].includes(word))

/** Min length of a prefix. A shorter one would match too many words. */
const minBeginningLength = 3

/** The last word of a text that is still being typed, as a prefix; null if the word is complete. */
export function beginningIn(text: string): string | null {
  const last = analyse(text).at(-1)
  if (last === undefined || last.end < text.length) return null
  return last.word.length >= minBeginningLength ? last.word : null
}

/** The distinct words about the topic of a question; all of its words if there are none about a topic. */
export function questionWordsIn(question: string): readonly string[] {
  const words = [...new Set(searchableWords(question))]
  const informative = words.filter(isInformative)
  return informative.length > 0 ? informative : words
}
