import { isOrdinaryWord } from '../../../search/ordinary-words.ts'
import { isParticle } from './finite-verbs.ts'
import { asForm, auxiliaries, copulas, verbForms } from './verbs.ts'

/** The subject, the verb and the rest of a clause about somebody or something other than the speaker. */
export type Split = { readonly subject: string; readonly verb: string; readonly rest: string }

const clauseWords =
  /^(?:that|which|who|whom|whose|because|when|while|if|and|but|or|where|since|although|than|so|unless|until|i|we|he|she|they|it|you)$/iu

/** Finds the verb that the subject of a clause goes with; null where there is none. */
export function splitClause(text: string): Split | null {
  const words = [...text.matchAll(/[\p{L}\p{N}$][\p{L}\p{N}\p{M}'’.+#&/_-]*/gu)].map((match) => ({
    text: match[0].replace(/[.,;:!?]+$/u, ''),
    start: match.index,
  }))
  const at = verbPlace(words.map(({ text: word }) => word))
  if (at === null || at === 0) return null
  const word = words[at]
  if (word === undefined) return null
  const subject = text
    .slice(0, word.start)
    .trim()
    .replace(/[,;:]$/u, '')
    .replace(/,\s+/gu, ' ')
  return { subject, verb: word.text, rest: text.slice(word.start + word.text.length).trim() }
}

function verbPlace(words: readonly string[]): number | null {
  const isSpecial = /^(?:what|the|all|one)$/iu.test(words[0] ?? '')
  const stop = words.findIndex(
    (word, index) =>
      index > 0 &&
      clauseWords.test(word) &&
      !(isSpecial && /^(?:that|i|we|he|she|they|which|who)$/iu.test(word)) &&
      !(/^(?:and|or)$/iu.test(word) && index <= 3),
  )
  const reach = stop === -1 ? words.length : stop
  const copula = words.findIndex(
    (word, index) => index > 0 && index < Math.min(reach, 12) && isCopula(word) && !isParticle(words, index),
  )
  const lexical = words.findIndex(
    (word, index) => index > 0 && index < Math.min(reach, 8) && isLexical(word, words, index),
  )
  if (copula !== -1 && (lexical === -1 || lexical > copula || !beatsCopula(words, lexical, copula))) return copula
  return lexical === -1 ? null : lexical
}

const isCopula = (word: string): boolean => copulas.has(word.toLowerCase()) || auxiliaries.has(word.toLowerCase())

/** A verb before the copula is the verb of the clause when an object stands between: "Ana thinks the plan is good". */
const beatsCopula = (words: readonly string[], lexical: number, copula: number): boolean =>
  copula - lexical > 1 &&
  /^(?:the|a|an|my|our|his|her|their|this|that|to|on|in|at|for|with|me|us|you|him|them|it)$/iu.test(
    words[lexical + 1] ?? '',
  )

function isLexical(word: string, words: readonly string[], index: number): boolean {
  const before = (words[index - 1] ?? '').toLowerCase()
  if (
    /^(?:a|an|the|my|our|his|her|their|its|your|of|for|to|in|on|at|with|this|every|new|old|favou?rite|main|next|last)$/u.test(
      before,
    )
  )
    return false
  if (word !== word.toLowerCase() || isParticle(words, index)) return false
  const forms = verbForms(word)
  const isPlural = /s$/u.test(before) || words.slice(0, index).some((one) => /^(?:and|both)$/iu.test(one))
  if (forms.some(({ form }) => form === 'past' || (form === 'third' && !isPluralNoun(word, words, index)))) return true
  if (forms.some(({ form }) => form === 'base') && isPlural) return true
  if (
    /^\p{Ll}{4,}ed$/u.test(word) &&
    /^(?:it|the|a|an|my|our|on|to|in|by|at|us|me|him|her|them|his|their|that)$/iu.test(words[index + 1] ?? '')
  )
    return true
  // A verb that is not in the list, behind a name: "Priya shepherds billing".
  return (
    /^\p{Lu}/u.test(words[index - 1] ?? '') &&
    /^\p{Ll}{3,}(?:s|ed)$/u.test(word) &&
    isOrdinaryWord(word) &&
    words.length > index + 1
  )
}

/** "my test results are": the plural of a noun, with the verb right behind it. */
const isPluralNoun = (_word: string, words: readonly string[], index: number): boolean => {
  const next = (words[index + 1] ?? '').toLowerCase()
  return isCopula(next) || asForm(next, 'third') !== undefined
}
