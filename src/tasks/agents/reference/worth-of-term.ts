import { isOrdinaryWord } from '../../../search/ordinary-words.ts'
import { isOneEditApart } from '../../../search/typo.ts'
import { isPlaceholder, meaningOf } from './meaning.ts'
import type { Question, Term } from './question.ts'
import { areOneFamily, shareSense } from './senses.ts'
import { hasShape, shapeNamedBy } from './shapes.ts'
import type { ParsedStatement, Statement } from './statement.ts'

/** What an example of its kind is worth: "blue" where a colour is asked for. */
export const byKind = 0.85

type Value = { readonly value: number; readonly through: Statement | null }

/** How well a statement speaks of a word of the question, from 0 to 1, and through which other statement. */
export function worthOf(term: Term, question: Question, parsed: ParsedStatement): Value {
  const plain = (value: number): Value => ({ value, through: null })
  const { meaning, word } = term
  if (parsed.meanings.has(meaning)) {
    return term === question.head && isOnlyAPart(term, question, parsed)
      ? plain(0)
      : plain(parsed.said.has(meaning) ? 1 : 0.95)
  }
  if (parsed.written.has(word)) return plain(0.9)
  if (parsed.kinds.has(meaning)) return plain(byKind)
  const [before = '', after = ''] = term.neighbours
  if (parsed.compounds.has(word) || parsed.written.has(`${before}${word}`) || parsed.written.has(`${word}${after}`))
    return plain(0.9)
  if ([...parsed.written].some((other) => isMadeOf(other, word))) return plain(0.8)
  const through = parsed.through.get(meaning) ?? parsed.through.get(meaningOf(word.replace(/s$/u, '')))
  if (through !== undefined) return { value: 0.8, through }
  // Either of them may be mistyped, but not a word into another word.
  const isTypo = (other: string): boolean =>
    (!isOrdinaryWord(word) || (other.length >= 5 && !isOrdinaryWord(other))) && isOneEditApart(word, other)
  if (word.length >= 5 && [...parsed.written].some(isTypo)) return plain(0.8)
  const words = parsed.words.filter(({ isFunction }) => !isFunction)
  if (words.some((other) => other.word === word.replace(/s$/u, '') || areOneFamily(word, other.word))) return plain(0.8)
  if (!term.isName && [...parsed.meanings].some((other) => isDerived(meaning, other))) return plain(0.6)
  if (!term.isName && words.some((other) => shareSense(word, other.word))) return plain(0.6)
  return plain(term.shape !== null && hasShape(parsed.statement.text, term.shape) ? 0.5 : 0)
}

/** A bookshop is a shop. */
const isMadeOf = (whole: string, part: string): boolean =>
  part.length >= 4 &&
  whole.length >= part.length + 3 &&
  whole.endsWith(part) &&
  isOrdinaryWord(whole.slice(0, -part.length))

/** "photographer" and "photography": a long beginning in common. */
function isDerived(one: string, other: string): boolean {
  const longer = Math.max(one.length, other.length)
  let common = 0
  while (common < one.length && one[common] === other[common]) common += 1
  return common >= 5 && common >= longer * 0.7 && longer - common <= 4
}

/**
 * Whether the word stands only before the thing that the statement is about: "my mentor's dog", "the project deadline".
 * That says nothing about the mentor or the project.
 */
function isOnlyAPart(term: Term, question: Question, { words }: ParsedStatement): boolean {
  const places = words.flatMap(({ meaning }, at) => (meaning === term.meaning ? [at] : []))
  if (places.length === 0) return false
  const isAsked = (meaning: string): boolean => question.terms.some((other) => other.meaning === meaning)
  return places.every((at) => {
    const rest = words.slice(at + 1)
    const run = rest.slice(0, rest.findIndex(({ isFunction }) => isFunction) >>> 0)
    const own = words[at]
    if (own?.isOwner === true)
      return run.length > 0 && !run.some(({ meaning }) => isAsked(meaning) || isPlaceholder(meaning))
    const [next, afterNext] = rest
    return (
      next !== undefined &&
      !next.isFunction &&
      !next.isProper &&
      !isAsked(next.meaning) &&
      // "Who lives upstairs?" asks for "my upstairs neighbour".
      !question.terms.some((other) => other !== term && shareSense(other.word, next.word)) &&
      !isPlaceholder(next.meaning) &&
      shapeNamedBy(next.word) === null &&
      afterNext !== undefined &&
      /^(?:is|are|was|were|will|has)$/u.test(afterNext.word)
    )
  })
}
