import { termsIn } from '../../../search/turns/strength.ts'
import { isAskingTerm } from '../../../search/turns/terms.ts'
import { pointsOf } from '../../../search/turns/word-points.ts'
import { beginsWithPronoun, type Piece, type ReferenceAsk, withoutQuotations } from './pieces.ts'

/** A statement that a search found. An aside stood beside a question, without a request to keep it. */
export type ToldPiece = Piece & { readonly at: string; readonly isAside: boolean }

export type ReferenceAnswer = { readonly text: string; readonly at: string }

/** An answer holds at least this share of the points of the question's terms; terms of its context count less. */
const leastShare = 0.35
const nearby = 0.7
/** A newer statement replaces an older one when its share is at least this part of the older one's. */
const replaces = 0.65

/** The statements that answer a question, newest first. */
export function answersTo(ask: ReferenceAsk, told: readonly ToldPiece[]): readonly ReferenceAnswer[] {
  const wanted = askedWordsOf(ask)
  const asksPast = /\b(?:before|previous(?:ly)?|original(?:ly)?|used to|former(?:ly)?|earlier)\b/iu.test(ask.text)
  const fitting = told.map((one) => fitOf(one, wanted)).filter(({ isAnswer }) => isAnswer)
  const main = fitting.filter((one) => !one.told.isAside)
  const candidates = main.length > 0 ? main : fitting
  const best = Math.max(...candidates.map(({ share }) => share))
  const replacedBy = (one: Fit): readonly Fit[] => (asksPast ? [] : fitting.filter((other) => isNewer(one, other)))
  // Of two statements the newer counts, or else the one that holds all terms of the other and more.
  const beats = (one: Fit, other: Fit): boolean =>
    replacedBy(one).includes(other) || (holdsMore(one, other) && !replacedBy(other).includes(one))
  return candidates
    .filter((one) => one.share >= replaces * best && !candidates.some((other) => beats(other, one)))
    .sort((one, other) => other.share - one.share)
    .slice(0, 3)
    .sort((one, other) => other.told.at.localeCompare(one.told.at))
    .map((one) => ({
      text: answerTextOf(one, replacedBy(one), wanted) + continuation(one.told, told.slice(told.indexOf(one.told) + 1)),
      at: one.told.at,
    }))
}

/** Whether a question has a term to search for. */
export const hasTopic = ({ text, about, lead }: ReferenceAsk): boolean =>
  [...termsIn(`${text} ${about} ${lead}`)].some((term) => !isAskingTerm(term))

type Wanted = ReturnType<typeof askedWordsOf>

/** An answer must hold one term of each name, which counts half. Terms of `about` only tell better answers from worse. */
function askedWordsOf({ text, about }: ReferenceAsk) {
  const [main = ''] = /^.*?(?:(?=[,(?;]|\s[-–—]|\b(?:so|because|if)\b)|$)/su.exec(text) ?? []
  const [, kind = ''] = /\b(?:what|which|how many|how much)\s+(\p{L}+)/iu.exec(text) ?? []
  const [core, kindTerms, names] = [heldBy(main), heldBy(kind), namesIn(main)]
  const weightOf = (term: string): number => (names.some((name) => name.includes(term)) ? 0.5 : 1)
  const points = new Map([...heldBy(text)].map((term) => [term, weightOf(term) * pointsOf(term)]))
  /** The weight of a term that an answer lacks: less for explanations, and for the kind of thing ("which car"). */
  const missing = (term: string): number => (core.size > 0 && !core.has(term) ? 0 : kindTerms.has(term) ? 0.5 : 1)
  return { points, missing, about: [...heldBy(about)], names }
}

/** The names in a question: words with a capital letter that do not begin it. */
const namesIn = (text: string): readonly (readonly string[])[] =>
  [...text.matchAll(/(?<=\S\s+["'“(]?)(?!I\b)\p{Lu}[\p{L}\p{N}'’-]*(?:\s+(?!I\b)\p{Lu}[\p{L}\p{N}'’-]*)*/gu)]
    .map(([name]) => [...termsIn(name)])
    .filter((terms) => terms.length > 0)

/** How well a statement answers, by its own terms and by those of its context. */
type Fit = ReturnType<typeof fitOf>

function fitOf(told: ToldPiece, { points, missing, about, names }: Wanted) {
  const terms = [...points.keys()]
  const own = heldBy(told.text)
  const around = told.context.map((text) => ({ text, held: heldBy(text) }))
  const placeOf = (term: string): number =>
    holds(own, term) ? 1 : around.some(({ held }) => holds(held, term)) ? nearby : 0
  const sum = (share: (place: number, term: string) => number): number =>
    terms.reduce((total, term) => total + (points.get(term) ?? 0) * share(placeOf(term), term), 0)
  const share = sum((place) => place) / sum((place, term) => (place === 0 ? missing(term) : 1))
  const isNamed = names.every((name) => name.some((term) => placeOf(term) > 0))
  const isAdded = (held: ReadonlySet<string>): boolean => terms.some((term) => !holds(own, term) && holds(held, term))
  return {
    told,
    share,
    found: new Set([...terms, ...about].filter((term) => placeOf(term) > 0)),
    context: around.filter(({ held }) => isAdded(held)).map(({ text }) => text),
    isAnswer: isNamed && share >= leastShare && terms.some((term) => holds(own, term)),
  }
}

/** The terms of a text, without quotations in which somebody else speaks of themselves. */
function heldBy(text: string): ReadonlySet<string> {
  const own = withoutQuotations(text, (quoted) => /\b(?:I|my|we|our)\b/iu.test(quoted))
  return termsIn(own.replace(/(?<=\d)(?:st|nd|rd|th)\b/giu, ''))
}

/** Whether a term is among others, or one is derived from the other: supervised, supervisor. */
const holds = (terms: ReadonlySet<string>, wanted: string): boolean =>
  terms.has(wanted) ||
  [...terms].some((term) => {
    const [short, long] = term.length < wanted.length ? [term, wanted] : [wanted, term]
    return short.length >= 5 && long.length - short.length <= 4 && long.startsWith(short)
  })

const isNewer = (one: Fit, other: Fit): boolean => one.told.at > other.told.at && one.share >= replaces * other.share
const holdsMore = (one: Fit, other: Fit): boolean =>
  one.found.size > other.found.size && [...other.found].every((term) => one.found.has(term))

/** The sentences right after a statement that begin with a pronoun. */
function continuation({ at, whole }: ToldPiece, [next, ...later]: readonly ToldPiece[]): string {
  const goesOn = whole === null && next?.at === at && next.kind !== 'item' && beginsWithPronoun(next.text)
  return goesOn ? ` ${next.text}${continuation(next, later)}` : ''
}

/** The statement with the context it needs, without clauses about other topics or about the value it replaced. */
function answerTextOf({ told, context }: Fit, replaced: readonly Fit[], { points }: Wanted): string {
  if (told.whole !== null) return told.whole
  if (told.kind === 'block' || told.text.includes('\n')) return [...context, told.text].join('\n')
  const marks = [...withoutQuotations(told.text).matchAll(/[;,]\s+(?:(?:and|but|or)\s+)?|\s\(|\s[–—-]\s/giu)]
  const clauses = [...marks, { index: told.text.length, 0: '' }].map(({ index, 0: mark }, place) => {
    const before = marks[place - 1]
    const start = before === undefined ? 0 : before.index + before[0].length
    const terms = termsIn(told.text.slice(start, index))
    const found = [...terms].filter((term) => points.has(term))
    return { text: told.text.slice(start, index), mark, terms, found }
  })
  const worthOf = (terms: readonly string[]): number => terms.reduce((sum, term) => sum + pointsOf(term), 0)
  const best = clauses.reduce((one, other) => (worthOf(other.found) > worthOf(one.found) ? other : one))
  const before = new Set(replaced.flatMap((one) => [...termsIn(one.told.text)]))
  const kept = clauses.filter(({ terms, found }) => {
    const own = [...terms].filter((term) => !points.has(term) && !best.terms.has(term))
    const outdated = own.filter((term) => before.has(term))
    if (found !== best.found && 2 * worthOf(outdated) > worthOf(own)) return false
    const isLess = found.length > 0 && found.length < best.found.length
    return !(isLess && found.every((term) => best.found.includes(term)))
  })
  const text = kept.map((clause) => `${clause.text}${clause === kept.at(-1) ? '' : clause.mark}`).join('')
  return [...context, kept.at(-1) === clauses.at(-1) ? text : `${text}.`].join(' ')
}
