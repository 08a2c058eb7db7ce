import { isOrdinaryWord } from '../../../search/ordinary-words.ts'
import { isAboutSomebodyElse, isAnotherOfItsKind, namesOnlyTheAsked, setsApart } from './another-subject.ts'
import type { Question, Term } from './question.ts'
import { shareSense } from './senses.ts'
import { hasShape, type Shape } from './shapes.ts'
import type { ParsedStatement, Statement } from './statement.ts'
import { type Thread, takesUp } from './thread.ts'
import { byKind, worthOf } from './worth-of-term.ts'

/**
 * `answers`: what is asked for is in it. `related`: it is about the same, but does not hold what is asked for. `no`:
 * something else.
 */
export type Judgement = {
  readonly parsed: ParsedStatement
  readonly verdict: 'answers' | 'related' | 'no'
  readonly score: number
  /** Whether it takes up what "it" stands for. */
  readonly followsThread: boolean
  /** Statements that are needed to understand it. */
  readonly leans: readonly Statement[]
}

/** Without these in it, a statement cannot be the answer. Places and names take too many forms to insist on. */
const insistedOn: ReadonlySet<Shape> = new Set([
  'time',
  'number',
  'reason',
  'often',
  'age',
  'extent',
  'title',
  'email',
  'phone',
  'link',
])

const strong = 0.8

/** Whether a statement answers a question, by the words of both and by what kind of answer is wanted. */
export function judgeStatement(question: Question, parsed: ParsedStatement, thread: Thread | null): Judgement {
  const required = question.terms.filter(({ isOptional }) => !isOptional)
  const values = new Map(required.map((term) => [term, worthOf(term, question, parsed)]))
  const valueFor = (term: Term): number => values.get(term)?.value ?? 0
  const missing = required.filter((term) => valueFor(term) === 0)
  const total = required.reduce((sum, term) => sum + weightOf(term), 0)
  const coverage = total === 0 ? 0 : required.reduce((sum, term) => sum + weightOf(term) * valueFor(term), 0) / total
  const followsThread = thread !== null && takesUp(parsed, thread)
  const leans = [...new Set([...values.values()].flatMap(({ through }) => (through === null ? [] : [through])))]
  const judged = { parsed, followsThread, leans }

  const hasStrong = required.some((term) => valueFor(term) >= strong)
  const matched = required.filter((term) => valueFor(term) >= 0.5)
  if (
    (!hasStrong && matched.length === 0) ||
    isAboutSomebodyElse(question, parsed) ||
    (parsed.isOutdated && !mentionsOutdated(question))
  )
    return { ...judged, verdict: 'no', score: 0 }

  const isComplete = missing.length === 0
  const isClose =
    coverage >= 0.6 &&
    missing.every((term) => mayBeMissing(term, question)) &&
    !isAnotherOfItsKind(question, missing, parsed)
  // What was only taken over from the question before cannot make an answer of what says nothing of the kind.
  const insists = question.wants !== null && (insistedOn.has(question.wants) || question.terms === thread?.terms)
  const lacksShape =
    (insists && question.wants !== null && !hasShape(parsed.statement.text, question.wants)) ||
    (question.wants === 'name' && (isBareAmount(parsed.statement.text) || namesOnlyTheAsked(question, parsed))) ||
    missing.some(({ shape }) => shape !== null && insistedOn.has(shape))
  // What somebody is called says nothing of what is asked about them.
  const isNameAlone = required.some(isPlain) && !matched.some(isPlain)
  const contradicts = parsed.isNegative && !question.isNegative && question.wantsSeveral && question.head === null
  const score =
    coverage +
    0.15 * handlePrecision(question, parsed) +
    0.05 * optionalShare(question, parsed) +
    (question.wants !== null && hasShape(parsed.statement.text, question.wants) ? 0.1 : 0) +
    (asksPrice.test(question.text) && price.test(parsed.statement.text) ? 0.1 : 0) +
    (followsThread ? 0.3 : 0) -
    (parsed.isNegative && !question.isNegative ? 0.05 : 0) +
    // "What can't Maya have?"
    (parsed.isNegative && question.isNegative ? 0.15 : 0)
  // What only looks like an answer is none.
  const isTouched = required.some((term) => valueFor(term) >= 0.6)
  const isSure =
    hasStrong || (isComplete && matched.length > 1 && isTouched && coverage >= 0.6 && wordsTouched(matched, parsed) > 1)
  if ((isComplete || isClose) && isSure && !isNameAlone && !lacksShape && !contradicts)
    return { ...judged, verdict: 'answers', score }
  const keepsNames = missing.every(({ isName }) => !isName)
  // "How much metoprolol does my father take?" is about the one who told of it, perhaps.
  const isSpecific = matched.some(({ word }) => word.length > 4 && !isOrdinaryWord(word))
  const keepsKind = isSpecific || missing.every(({ isPerson, isSpecifying }) => !isPerson && !isSpecifying)
  const headValue = question.head === null ? 0 : valueFor(question.head)
  const hasHead = headValue >= 0.5 && headValue !== byKind
  const speaksOfSame = matched.some(
    (term) => isPlain(term) && valueFor(term) >= 0.95 && !setsApart(term, question, missing),
  )
  const isRelated =
    keepsNames &&
    !isAnotherOfItsKind(question, missing, parsed) &&
    ((isComplete && isTouched) ||
      (keepsKind && speaksOfSame) ||
      (keepsKind && hasHead && hasStrong) ||
      (matched.length > 1 && hasStrong) ||
      (coverage >= 0.5 && hasStrong && keepsKind && startsWithSpeaker(question, parsed)))
  return { ...judged, verdict: isRelated ? 'related' : 'no', score: lacksShape ? score - 0.5 : score }
}

/** "Our rent is 915 pounds" does not say who: a number, and no name in it although capitals are used. */
const isBareAmount = (text: string): boolean =>
  hasShape(text, 'number') &&
  !hasShape(text, 'name') &&
  (/\p{Lu}/u.test(text) || /\b(?:is|are|costs?)\s+[€$£]?\d/u.test(text))

/** How many words of a statement the words of a question may stand for: one word alone is no proof of two. */
const wordsTouched = (matched: readonly Term[], { words }: ParsedStatement): number =>
  words.filter(({ word, isFunction }) => !isFunction && matched.some((term) => shareSense(term.word, word))).length

const asksPrice = /\bhow much\b|\b(?:price|cost|charge|pay|paid|spend|fee|earn|owe)/iu

const price = /[€$£¥]\s?\d|\d\s?(?:euros?|dollars?|pounds?|quid|cents?|[A-Z]{3}\b)/u

const isPlain = ({ isName, isPerson }: Term): boolean => !isName && !isPerson

const weightOf = ({ isName, shape }: Term): number => (isName ? 1.5 : shape === null ? 1 : 0.5)

const mayBeMissing = (term: Term, question: Question): boolean =>
  question.isYesOrNo ? !term.isPerson : !term.isName && !term.isPerson && !term.isSpecifying && term !== question.head

const mentionsOutdated = ({ text }: Question): boolean =>
  /\b(?:previous|former|used to|ex|old|before|did|was|were)\b/iu.test(text)

/** How much of what a statement is called by is asked for, at best. */
function handlePrecision(question: Question, { handleMeanings }: ParsedStatement): number {
  const asked = new Set(question.terms.map(({ meaning }) => meaning))
  const shares = handleMeanings.map((handle) =>
    handle.length === 0 ? 0 : handle.filter((meaning) => asked.has(meaning)).length / handle.length,
  )
  return Math.max(0, ...shares)
}

function optionalShare(question: Question, { meanings }: ParsedStatement): number {
  const optional = question.terms.filter(({ isOptional }) => isOptional)
  return optional.length === 0 ? 0 : optional.filter(({ meaning }) => meanings.has(meaning)).length / optional.length
}

/** "What car do I drive?" and "I drive a Skoda": the same is said of the same person. */
const startsWithSpeaker = ({ text, isAboutSpeakerAlone }: Question, { statement }: ParsedStatement): boolean =>
  isAboutSpeakerAlone && /\bi\b/iu.test(text) && /^i(?:['’]\p{L}+)?\b/iu.test(statement.text)
