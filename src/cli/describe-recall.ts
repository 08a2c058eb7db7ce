import type {
  Budget,
  MatchedForm,
  MatchedWords,
  NearMiss,
  NearMissReason,
  RelevantBelief,
} from '../memory/recall/context.ts'
import type { Explanation } from '../search/explanation.ts'
import { kebab } from './command.ts'
import { called, dayOf } from './describe-belief.ts'
import { harmless, type Style } from './output.ts'
import { indented } from './text-layout.ts'

/** Three decimals at most. */
export const rounded = (value: number): string => String(Number(value.toFixed(3)))

/** Which words of the message were taken for which form. */
export function matchText({ field, form, words }: MatchedForm): string {
  const said = [...new Set(words.map(wordsText))].join(' and ')
  const isLiteral = words.every(({ text, typo }) => typo === null && text === form)
  return isLiteral ? `${said} is its ${field}` : `${said} means its ${field} "${harmless(form)}"`
}

function wordsText({ text, typo }: MatchedWords): string {
  if (typo === null) return `"${harmless(text)}"`
  const meant = `read as "${harmless(typo.meant)}"`
  return text.toLowerCase() === typo.written
    ? `"${harmless(text)}" (${meant})`
    : `"${harmless(text)}" ("${harmless(typo.written)}" ${meant})`
}

/** The arithmetic of one step: `1.386 (idf of 1 in 4) × 2 (name boost) = 2.773`. */
export function arithmetic({ op, parts, value, label }: Explanation): string {
  if (op === 'leaf') return `${rounded(value)} (${harmless(label)})`
  const sign = op === 'sum' ? ' + ' : ' × '
  const terms = parts.map((part) => (part.op === 'leaf' ? arithmetic(part) : rounded(part.value)))
  return `${terms.join(sign)} = ${rounded(value)}`
}

/** Every step of an explanation, one line each, parts below what they add up to. */
export const explanationTree = (explanation: Explanation, depth = 0): readonly string[] => [
  `${'  '.repeat(depth)}${arithmetic(explanation)}${explanation.op === 'leaf' ? '' : ` (${harmless(explanation.label)})`}`,
  ...explanation.parts.filter(({ op }) => op !== 'leaf').flatMap((part) => explanationTree(part, depth + 1)),
]

/** How a relevant belief was found and how its score came about, line by line. */
export function explanationLines({ matches, explanation }: RelevantBelief): readonly string[] {
  if (matches.length === 0)
    return [`${harmless(explanation.label)}, which is why it comes after everything that was named`]
  const clauses = matches.flatMap((match) => [`${matchText(match)}:`, `  ${arithmetic(match.explanation)}`])
  return matches.length === 1 ? clauses : [...clauses, `together: ${arithmetic(explanation)}`]
}

/** Why a belief that was mentioned is not among the relevant ones, as the end of a sentence. */
export function reasonText(reason: NearMissReason): string {
  switch (reason.kind) {
    case 'other-scope':
      return `it lives in ${harmless(reason.scopes.join(' and '))}, which is not in view here`
    case 'superseded':
      return reason.by === null ? 'it was superseded' : `it was superseded by ${harmless(reason.by)}`
    case 'resolved':
      return `it was settled on ${dayOf(reason.at)}`
    case 'pinned-already':
      return 'it is pinned, so it is there whatever the message says'
    case 'open-question':
      return 'it is an open question; those are shown only while they are pinned'
    case 'expertise':
      return 'it says what the person knows, which belongs to the prelude'
    case 'over-budget':
      return `there was no room: ${budgetText[reason.limit]} (--${kebab(reason.limit)})`
    case 'other-agent':
      return `it belongs to the agent ${harmless(reason.agent)} alone`
    case 'proposed':
      return `it is only proposed, to replace ${harmless(reason.for)}`
    case 'candidate':
      return 'it is a candidate, which a person has not confirmed yet'
  }
}

const budgetText: Readonly<Record<Exclude<keyof Budget, 'maxPrelude' | 'maxQuotes'>, string>> = {
  maxBeliefs: 'as many beliefs as allowed were taken already',
  maxPinned: 'as many pinned beliefs as allowed were taken already',
  maxQuestions: 'as many questions as allowed were taken already',
  maxCharacters: 'it would have been too many characters',
}

/** What was mentioned and left out. */
export const nearMissLines = (misses: readonly NearMiss[], style: Style): readonly string[] =>
  misses.map(({ belief, reason }) => indented(`${called(belief)}: ${reasonText(reason)}`, 2, style.width))
