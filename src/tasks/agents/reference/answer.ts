import { isOrdinaryWord } from '../../../search/ordinary-words.ts'
import { parseQuestion } from '../../../search/turns/question.ts'
import { termsIn } from '../../../search/turns/strength.ts'
import { isAskingTerm, termsOf } from '../../../search/turns/terms.ts'
import { pointsOf } from '../../../search/turns/word-points.ts'
import type { Ask } from './asks.ts'
import { type Piece, withoutQuotations } from './pieces.ts'

/** A statement that a search brought up. */
export type Told = Piece & {
  readonly at: string
  /** It was said beside a question, and not to be kept. */
  readonly isAside: boolean
}

/** What answers a question, as it was told. */
export type Answer = { readonly text: string; readonly at: string }

/** An answer holds at least this share of the points of the question's words; words around it count for less. */
const leastShare = 0.55
const nearby = 0.7
/** A newer statement replaces an older one that holds more of the question, down to this share of it. */
const replaces = 0.65
const mostAnswers = 3

/** The statements that answer a question, newest first; none where nothing that was told does. */
export function answersTo(ask: Ask, told: readonly Told[]): readonly Answer[] {
  const wanted = wordsOf(ask)
  const { asksPast } = parseQuestion(ask.text)
  const fitting = told.map((one) => fitOf(one, wanted)).filter(({ isAnswer }) => isAnswer)
  const main = fitting.filter(({ told: { isAside } }) => !isAside)
  const candidates = main.length > 0 ? main : fitting
  return candidates
    .filter((one) => !candidates.some((other) => beats(other, one, asksPast)))
    .sort((one, other) => other.share - one.share)
    .slice(0, mostAnswers)
    .sort((one, other) => other.told.at.localeCompare(one.told.at))
    .map((one) => answerFrom(one, asksPast ? [] : fitting.filter((other) => beats(one, other, false)), wanted))
}

/** Whether a question has a word that something could be found by. */
export const hasTopic = ({ text, about }: Ask): boolean =>
  termsOf(`${text} ${about}`).some(({ term }) => !isAskingTerm(term))

type Wanted = {
  /** Points of each term, and terms that only tell better answers from worse. */
  readonly points: ReadonlyMap<string, number>
  /** What kind of thing is asked for. "Which car do I drive?" is answered by "I drive a Volvo", so it may be missing. */
  readonly kind: string | null
  readonly about: ReadonlySet<string>
  /** An answer must hold one term of each name. */
  readonly names: readonly (readonly string[])[]
}

function wordsOf({ text, about }: Ask): Wanted {
  const points = new Map([...termsIn(text)].map((term) => [term, pointsOf(term)]))
  const [, kind = ''] = /\b(?:what|which|how many|how much)\s+(\p{L}+)/iu.exec(text) ?? []
  const [kindTerm = null] = termsIn(kind)
  return { points, kind: kindTerm, about: termsIn(about), names: namesIn(text) }
}

/** The names in a question: words with a capital letter that do not begin it. */
function namesIn(text: string): readonly (readonly string[])[] {
  const runs = [...text.matchAll(/(?<=\S\s+["'“(]?)\p{Lu}[\p{L}\p{N}'’-]*(?:\s+\p{Lu}[\p{L}\p{N}'’-]*)*/gu)]
  return runs.flatMap(([run]) => {
    const words = run.split(/\s+/u).filter((word) => !/^I(?:['’]\w+)?$/u.test(word))
    const rare = words.filter((word) => !isOrdinaryWord(word.toLowerCase().replace(/['’]s$/u, '')))
    const terms = (rare.length > 0 ? rare : words).flatMap((word) => [...termsIn(word)])
    return terms.length === 0 ? [] : [terms]
  })
}

type Fit = {
  readonly told: Told
  readonly share: number
  /** Terms of the question that it holds, itself or by its context. */
  readonly found: ReadonlySet<string>
  /** Context that holds terms which it does not hold itself. */
  readonly context: readonly string[]
  readonly isAnswer: boolean
}

function fitOf(told: Told, { points, kind, about, names }: Wanted): Fit {
  const own = heldBy(told.text)
  const around = told.context.map((text) => ({ text, held: heldBy(text) }))
  const isAround = (term: string): boolean => !own.has(term) && around.some(({ held }) => held.has(term))
  let [total, worth, ownWorth] = [0, 0, 0]
  for (const [term, value] of points) {
    const found = own.has(term) ? 1 : isAround(term) ? nearby : 0
    total += found === 0 && term === kind ? value / 2 : value
    worth += found * value
    if (own.has(term)) ownWorth += value
  }
  const found = new Set([...points.keys(), ...about].filter((term) => own.has(term) || isAround(term)))
  const isNamed = names.every((name) => name.some((term) => own.has(term) || isAround(term)))
  const share = total === 0 ? 0 : worth / total
  return {
    told,
    share,
    found,
    context: around
      .filter(({ held }) => [...points.keys()].some((term) => !own.has(term) && held.has(term)))
      .map(({ text }) => text),
    isAnswer: ownWorth > 0 && share >= leastShare && isNamed,
  }
}

/** The terms of a text. What somebody else says about themselves is quoted, and not said of the person. */
const heldBy = (text: string): ReadonlySet<string> =>
  termsIn(withoutQuotations(text, (quoted) => /\b(?:I|my|we|our)\b/iu.test(quoted)))

/** Whether one statement leaves another without anything to say: it is newer, or holds all that the other does and more. */
function beats(one: Fit, other: Fit, asksPast: boolean): boolean {
  if (one === other) return false
  const isNewer = (a: Fit, b: Fit): boolean => !asksPast && a.told.at > b.told.at && a.share >= replaces * b.share
  if (isNewer(one, other)) return true
  const holdsAll = [...other.found].every((term) => one.found.has(term)) && one.found.size > other.found.size
  return holdsAll && !isNewer(other, one)
}

/** The statement with the context it needs, without clauses about something else or about what it replaced. */
function answerFrom({ told, context }: Fit, replaced: readonly Fit[], { points }: Wanted): Answer {
  if (told.whole !== null) return { text: told.whole, at: told.at }
  const text = told.kind === 'block' ? told.text : clausesFor(told.text, replaced, points)
  return { text: [...context, text].join(told.kind === 'block' ? '\n' : ' '), at: told.at }
}

function clausesFor(text: string, replaced: readonly Fit[], points: Wanted['points']): string {
  const masked = withoutQuotations(text)
  const ends = [...masked.matchAll(/[;,]\s+(?:(?:and|but|or)\s+)?/giu)].map(({ index, 0: mark }) => [
    index,
    index + mark.length,
  ])
  const clauses = [...ends, [text.length, text.length]].map(([end = 0], index) => {
    const start = ends[index - 1]?.[1] ?? 0
    const terms = termsIn(text.slice(start, end))
    return { start, end, terms, found: [...terms].filter((term) => points.has(term)) }
  })
  const worth = (found: readonly string[]): number => found.reduce((sum, term) => sum + (points.get(term) ?? 0), 0)
  const best = clauses.reduce((one, other) => (worth(other.found) > worth(one.found) ? other : one))
  const outdated = new Set(
    replaced
      .flatMap(({ told }) => [...termsIn(told.text)])
      .filter((term) => !points.has(term) && !best.terms.has(term)),
  )
  const kept = clauses.filter((clause) => {
    if (clause === best) return true
    if ([...clause.terms].some((term) => outdated.has(term))) return false
    const isLess = clause.found.length > 0 && clause.found.length < best.found.length
    return !(isLess && clause.found.every((term) => best.found.includes(term)))
  })
  if (kept.length === clauses.length) return text
  return kept
    .map((clause, index) => {
      const next = kept[index + 1]
      const goesOn = next !== undefined && clauses.indexOf(next) === clauses.indexOf(clause) + 1
      const mark = goesOn || clause.end === text.length ? '' : next === undefined ? '.' : '; '
      return `${text.slice(clause.start, goesOn ? next.start : clause.end)}${mark}`
    })
    .join('')
}
