import { isOrdinaryWord } from '../../../search/ordinary-words.ts'
import { isOneEditApart } from '../../../search/typo.ts'
import { isPlaceholder, kindsOf, meaningOf } from './meaning.ts'
import type { Question, Term } from './question.ts'
import { areOneFamily, shareSense } from './senses.ts'
import { hasShape, type Shape, shapeNamedBy } from './shapes.ts'
import type { ParsedStatement, Statement } from './statement.ts'

/** What the question before was about and what was answered, for a question that says "it". */
export type Thread = {
  readonly terms: readonly Term[]
  readonly head: Term | null
  readonly answers: readonly ParsedStatement[]
  /** What was spoken of earlier still. */
  readonly before: Thread | null
}

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
/** What an example of its kind is worth: "blue" where a colour is asked for. */
const byKind = 0.85

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
    (question.wants === 'name' && isBareAmount(parsed.statement.text)) ||
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
    (parsed.isNegative && !question.isNegative ? 0.05 : 0)
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

/** "Favourite" of "favourite colour", "search" of "search team": without the noun it says nothing. */
function setsApart(term: Term, { terms, text }: Question, missing: readonly Term[]): boolean {
  const next = terms[terms.indexOf(term) + 1]
  if (term.isOwner || next === undefined || !missing.includes(next) || term.neighbours[1] !== next.word) return false
  // "Does the choir rehearse": a verb.
  const isVerb = new RegExp(
    String.raw`\b(?:do|does|did|will|can|should)\s+(?:the\s|my\s|our\s)?${escaped(term.word)}\s+${escaped(next.word)}\b`,
    'iu',
  )
  return !isVerb.test(text)
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

type Value = { readonly value: number; readonly through: Statement | null }

function worthOf(term: Term, question: Question, parsed: ParsedStatement): Value {
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
  if (!isOrdinaryWord(word) && word.length >= 5 && [...parsed.written].some((other) => isOneEditApart(word, other)))
    return plain(0.8)
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
      !isPlaceholder(next.meaning) &&
      shapeNamedBy(next.word) === null &&
      afterNext !== undefined &&
      /^(?:is|are|was|were|will|has)$/u.test(afterNext.word)
    )
  })
}

/** "What do I drink?" is not answered by what Tom drinks, nor "my colour" by my brother's. */
function isAboutSomebodyElse(question: Question, parsed: ParsedStatement): boolean {
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
function isAnotherOfItsKind(question: Question, missing: readonly Term[], { words }: ParsedStatement): boolean {
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

/** Whether it speaks of what was just asked about, names what was just answered, or was told right after it. */
function takesUp(parsed: ParsedStatement, { terms, answers }: Thread): boolean {
  if (
    terms.some(
      ({ meaning, isOptional }) => !isOptional && (parsed.meanings.has(meaning) || parsed.through.has(meaning)),
    )
  )
    return true
  return answers.some((answer) => {
    const names = answer.words.filter(({ isProper }) => isProper).map(({ word }) => word)
    if (names.some((name) => parsed.written.has(name))) return true
    const isNext = Math.abs(parsed.statement.order - answer.statement.order) <= 1
    return isNext && /\b(?:it|its|it['’]s|he|his|him|she|her|they|their|them|there)\b/iu.test(parsed.statement.text)
  })
}

/** "What car do I drive?" and "I drive a Skoda": the same is said of the same person. */
const startsWithSpeaker = ({ text, isAboutSpeakerAlone }: Question, { statement }: ParsedStatement): boolean =>
  isAboutSpeakerAlone && /\bi\b/iu.test(text) && /^i(?:['’]\p{L}+)?\b/iu.test(statement.text)
