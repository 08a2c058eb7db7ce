import { isPersonWord, kindsOf } from './meaning.ts'
import type { Question, Term } from './question.ts'
import { areOneFamily, shareSense } from './senses.ts'
import type { ParsedStatement } from './statement.ts'

/** "Favourite" of "favourite colour", "search" of "search team": without the noun it says nothing. */
export function setsApart(term: Term, { terms, text }: Question, missing: readonly Term[]): boolean {
  const next = terms[terms.indexOf(term) + 1]
  if (term.isOwner || next === undefined || !missing.includes(next) || term.neighbours[1] !== next.word) return false
  // "Does the choir rehearse": a verb.
  const isVerb = new RegExp(
    String.raw`\b(?:do|does|did|will|can|should)\s+(?:the\s|my\s|our\s)?${escaped(term.word)}\s+${escaped(next.word)}\b`,
    'iu',
  )
  return !isVerb.test(text)
}

/** "Freya is learning to drive" does not say who teaches Freya. */
export const namesOnlyTheAsked = ({ terms }: Question, { words }: ParsedStatement): boolean => {
  const asked = new Set(terms.map(({ meaning }) => meaning))
  const named = words.filter(({ isProper, meaning }) => isProper || isPersonWord(meaning))
  return named.length > 0 && named.every(({ isProper, meaning }) => isProper && asked.has(meaning))
}

/** "What do I drink?" is not answered by what Tom drinks, nor "my colour" by my brother's. */
export function isAboutSomebodyElse(question: Question, parsed: ParsedStatement): boolean {
  // "Who looks after my bees?" asks for somebody else.
  const asksForSubject = /^\W*who\s+(?!is|are|was|were|am|do|does|did|else|will|have|has|should)\p{L}/iu.test(
    question.text,
  )
  if (!question.isAboutSpeakerAlone || parsed.subjects.length === 0 || asksForSubject) return false
  const asked = new Set(question.terms.map(({ meaning }) => meaning))
  const isAsked = (meaning: string): boolean =>
    asked.has(meaning) ||
    kindsOf(meaning).some((kind) => asked.has(kind)) ||
    // "Who teaches me?" asks for the teacher.
    question.terms.some(({ word }) => areOneFamily(word, meaning) || shareSense(word, meaning))
  // Whom it speaks about may be asked for by another name, and then stands beside it: "my daughter Mia".
  const first = parsed.words.find(({ isFunction }) => !isFunction)
  if (first !== undefined && isAsked(first.meaning)) return false
  if (parsed.subjects.some(isAsked) || [...parsed.through.keys()].some(isAsked)) return false
  const { text } = parsed.statement
  const head = question.head?.word ?? ''
  const speaksOfOwn = head !== '' && new RegExp(String.raw`\bmy (?:[\p{L}-]+ ){0,3}${escaped(head)}`, 'iu').test(text)
  const namesPerson = question.terms.some(({ isPerson, meaning }) => isPerson && parsed.meanings.has(meaning))
  return !speaksOfOwn && !namesPerson && !/\b(?:i|i['’](?:m|ve|d|ll))\b/iu.test(text)
}

/** "The search team" is not "the payments team": a word that sets one thing apart from others of its kind differs. */
export function isAnotherOfItsKind(question: Question, missing: readonly Term[], { words }: ParsedStatement): boolean {
  const asked = new Set(question.terms.map(({ meaning }) => meaning))
  return missing.some((term) => {
    const noun = question.terms[question.terms.indexOf(term) + 1]
    if (noun === undefined || term.neighbours[1] !== noun.word) return false
    return words.some(({ meaning }, at) => {
      const before = words[at - 1]
      return meaning === noun.meaning && before !== undefined && !before.isFunction && !asked.has(before.meaning)
    })
  })
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/gu, String.raw`\$&`)
