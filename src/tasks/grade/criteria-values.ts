import { subjectOf } from './labels.ts'
import { waysToSay } from './value-pieces.ts'

/** Values under the name a task gives them: each inner list are ways to say the same. */
export type Labelled = { readonly label: string; readonly pieces: readonly (readonly string[])[] }

/** Where a criterion says it is to be said: in a session, counted from 1, in the conversation that goes on, or nowhere. */
type Placed = Labelled & { readonly place: number | 'same' | null }

const recalling = /\b(?:recall|remember|state|answer|report|name|identif|give|mention|repeat|retriev|provid|say)/iu
/** A bracket may hold another: "((555) 013-7788)". */
const inBrackets = /\(((?:[^()]|\([^()]*\))+)\)/gu
const sessionNumber = /\bsession\s+(\d+)/iu
const sameSession = /\bsame[\s-]+(?:session|conversation|chat)\b/iu

/** What criteria name in brackets: "recalls the language (Rust)". */
export const criteriaValues = (criteria: readonly string[]): readonly Placed[] =>
  criteria.flatMap((criterion) => {
    const value = valueIn(criterion)
    if (value === undefined || !recalling.test(criterion)) return []
    return [{ label: labelOf(criterion), pieces: waysToSay(value), place: placeOf(criterion) }]
  })

/**
 * What criteria mean that name no value, but the labels of others: "recalls language and project (Session 2)". Only
 * labels that one criterion alone has.
 */
export const labelledIn = (criteria: readonly string[], named: readonly Labelled[]): readonly Placed[] =>
  criteria.flatMap((criterion) => {
    const place = placeOf(criterion)
    if (place === null || valueIn(criterion) !== undefined || !recalling.test(criterion)) return []
    const label = labelOf(criterion)
    const pieces = label.split(/,|\band\b/iu).flatMap((part) => {
      const [only, ...others] = named.filter((one) => isSameSubject(one.label, part))
      return only === undefined || others.length > 0 ? [] : only.pieces
    })
    return [{ label, pieces, place }]
  })

const valueIn = (criterion: string): string | undefined =>
  [...criterion.matchAll(inBrackets)]
    .map(([, inner = '']) => inner)
    .findLast((inner) => !sessionNumber.test(inner) && !sameSession.test(inner))

const labelOf = (criterion: string): string =>
  criterion
    .replaceAll(inBrackets, ' ')
    .replace(/^.*?\b(?:recalls?|remembers?|states?|names?|reports?|gives?|mentions?|repeats?|says?)\b/iu, '')
    .replace(/\b(?:in|within|during)\s+(?:the\s+|a\s+)?(?:same|new|fresh|later|second|third)\b.*$/iu, '')

function placeOf(criterion: string): Placed['place'] {
  const [, number] = sessionNumber.exec(criterion) ?? []
  if (number !== undefined) return Number(number)
  return sameSession.test(criterion) ? 'same' : null
}

function isSameSubject(one: string, other: string): boolean {
  const subject = subjectOf(other)
  return subject.length > 0 && subject.join(' ') === subjectOf(one).join(' ')
}
