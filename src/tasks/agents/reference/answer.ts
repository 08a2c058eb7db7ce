import { termsIn } from '../../../search/turns/strength.ts'
import { isAskingTerm } from '../../../search/turns/terms.ts'
import { pointsOf } from '../../../search/turns/word-points.ts'
import type { Ask } from './asks.ts'
import { beginsWithPronoun, type Piece, withoutQuotations } from './pieces.ts'

/** A statement that a search brought up. */
export type Told = Piece & {
  readonly at: string
  /** It was said beside a question, and not to be kept. */
  readonly isAside: boolean
}

/** What answers a question, as it was told. */
export type Answer = { readonly text: string; readonly at: string }

/** An answer holds at least this share of the points of the question's words; words around it count for less. */
const leastShare = 0.35
const nearby = 0.7
/** A newer statement replaces an older one that holds more of the question, down to this share of it. */
const replaces = 0.65
const mostAnswers = 3

/** The statements that answer a question, newest first; none where nothing that was told does. */
export function answersTo(ask: Ask, told: readonly Told[]): readonly Answer[] {
  const wanted = wordsOf(ask)
  const asksPast = /\b(?:before|previous(?:ly)?|original(?:ly)?|used to|former(?:ly)?|earlier)\b/iu.test(ask.text)
  const fitting = told.map((one) => fitOf(one, wanted)).filter(({ isAnswer }) => isAnswer)
  const main = fitting.filter((one) => !one.told.isAside)
  const candidates = main.length > 0 ? main : fitting
  const best = Math.max(...candidates.map(({ share }) => share))
  return candidates
    .filter((one) => one.share >= replaces * best && !candidates.some((other) => beats(other, one, asksPast)))
    .sort((one, other) => other.share - one.share)
    .slice(0, mostAnswers)
    .sort((one, other) => other.told.at.localeCompare(one.told.at))
    .map((one) => {
      const replaced = asksPast ? [] : fitting.filter((other) => beats(one, other, false))
      return { text: `${textOf(one, replaced, wanted)}${continuation(one.told, told)}`, at: one.told.at }
    })
}

/** Whether a question has a word that something could be found by. */
export const hasTopic = ({ text, about, lead }: Ask): boolean =>
  [...termsIn(`${text} ${about} ${lead}`)].some((term) => !isAskingTerm(term))

type Wanted = {
  readonly points: ReadonlyMap<string, number>
  /** What a term counts that an answer lacks: less for explanations, and for the kind of thing asked for ("which car"). */
  readonly missing: (term: string) => number
  /** Terms that only tell better answers from worse. */
  readonly about: readonly string[]
  /** An answer must hold one term of each name. */
  readonly names: readonly (readonly string[])[]
}

function wordsOf({ text, about }: Ask): Wanted {
  const [main = ''] = /^.*?(?:(?=[,(?;]|\s[-–—]|\b(?:so|because|if)\b)|$)/su.exec(text) ?? []
  const [, kind = ''] = /\b(?:what|which|how many|how much)\s+(\p{L}+)/iu.exec(text) ?? []
  const [core, kindTerms, names] = [heldBy(main), heldBy(kind), namesIn(main)]
  // A name says whose it is, not what is asked for.
  const weightOf = (term: string): number => (names.some((name) => name.includes(term)) ? 0.5 : 1)
  const points = new Map([...heldBy(text)].map((term) => [term, weightOf(term) * pointsOf(term)]))
  const missing = (term: string): number => (core.size > 0 && !core.has(term) ? 0 : kindTerms.has(term) ? 0.5 : 1)
  return { points, missing, about: [...heldBy(about)], names }
}

/** The names in a question: words with a capital letter that do not begin it. */
const namesIn = (text: string): readonly (readonly string[])[] =>
  [...text.matchAll(/(?<=\S\s+["'“(]?)(?!I\b)\p{Lu}[\p{L}\p{N}'’-]*(?:\s+(?!I\b)\p{Lu}[\p{L}\p{N}'’-]*)*/gu)]
    .map(([name]) => [...termsIn(name)])
    .filter((terms) => terms.length > 0)

type Fit = {
  readonly told: Told
  readonly share: number
  /** Terms of the question that it holds, itself or by its context. */
  readonly found: ReadonlySet<string>
  /** Context that holds terms which it does not hold itself. */
  readonly context: readonly string[]
  readonly isAnswer: boolean
}

function fitOf(told: Told, { points, missing, about, names }: Wanted): Fit {
  const own = heldBy(told.text)
  const around = told.context.map((text) => ({ text, held: heldBy(text) }))
  const placeOf = (term: string): number =>
    holds(own, term) ? 1 : around.some(({ held }) => holds(held, term)) ? nearby : 0
  let [total, worth] = [0, 0]
  for (const [term, value] of points) {
    const place = placeOf(term)
    total += place === 0 ? missing(term) * value : value
    worth += place * value
  }
  const terms = [...points.keys()]
  const isOwn = terms.some((term) => holds(own, term))
  const share = total === 0 ? 0 : worth / total
  return {
    told,
    share,
    found: new Set([...terms, ...about].filter((term) => placeOf(term) > 0)),
    context: around
      .filter(({ held }) => terms.some((term) => !holds(own, term) && holds(held, term)))
      .map(({ text }) => text),
    isAnswer: isOwn && share >= leastShare && names.every((name) => name.some((term) => placeOf(term) > 0)),
  }
}

/** The terms of a text. What somebody else says about themselves is quoted, and not said of the person. */
const heldBy = (text: string): ReadonlySet<string> =>
  termsIn(
    withoutQuotations(text, (quoted) => /\b(?:I|my|we|our)\b/iu.test(quoted)).replace(
      /(?<=\d)(?:st|nd|rd|th)\b/giu,
      '',
    ),
  )

/** Whether a term is among others, or one is derived from the other: supervised, supervisor. */
const holds = (terms: ReadonlySet<string>, wanted: string): boolean =>
  terms.has(wanted) ||
  [...terms].some((term) => {
    const [short, long] = term.length < wanted.length ? [term, wanted] : [wanted, term]
    return short.length >= 5 && long.length - short.length <= 4 && long.startsWith(short)
  })

/** Whether one statement leaves another nothing to say: it is newer, or holds all that the other does and more. */
function beats(one: Fit, other: Fit, asksPast: boolean): boolean {
  const isNewer = (a: Fit, b: Fit): boolean => !asksPast && a.told.at > b.told.at && a.share >= replaces * b.share
  if (isNewer(one, other)) return true
  const holdsAll = [...other.found].every((term) => one.found.has(term)) && one.found.size > other.found.size
  return holdsAll && !isNewer(other, one)
}

/** What goes on with "it" or "she" right after a statement. */
function continuation(one: Told, told: readonly Told[]): string {
  const next = told[told.indexOf(one) + 1]
  return one.whole === null && next?.at === one.at && next.kind !== 'item' && beginsWithPronoun(next.text)
    ? ` ${next.text}${continuation(next, told)}`
    : ''
}

/** The statement with the context it needs, without clauses about something else or about what it replaced. */
function textOf({ told, context }: Fit, replaced: readonly Fit[], { points }: Wanted): string {
  if (told.whole !== null) return told.whole
  if (told.kind === 'block' || told.text.includes('\n')) return [...context, told.text].join('\n')
  const masked = withoutQuotations(told.text)
  const marks = [...masked.matchAll(/[;,]\s+(?:(?:and|but|or)\s+)?|\s\(|\s[–—-]\s/giu)]
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
  const kept = clauses.filter((clause) => {
    const { found } = clause
    const own = [...clause.terms].filter((term) => !points.has(term) && !best.terms.has(term))
    const outdated = own.filter((term) => before.has(term))
    if (clause !== best && 2 * worthOf(outdated) > worthOf(own)) return false
    const isLess = found.length > 0 && found.length < best.found.length
    return !(isLess && found.every((term) => best.found.includes(term)))
  })
  const text = kept.map((clause) => `${clause.text}${clause === kept.at(-1) ? '' : clause.mark}`).join('')
  return [...context, kept.at(-1) === clauses.at(-1) ? text : `${text}.`].join(' ')
}
