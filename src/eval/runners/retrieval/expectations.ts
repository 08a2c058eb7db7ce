import { z } from 'zod'
import type { AnswerQuote, SystemAnswer } from '../../system/system.ts'

const texts = z.array(z.string().min(1)).readonly()
const count = z.int().min(0)
const Membership = z.strictObject({ mustInclude: texts.optional(), mustExclude: texts.optional() })
const pair = z.tuple([z.string().min(1), z.string().min(1)]).readonly()

/** A turn that must be quoted: with `text`, the quote must contain these words; with `level`, it must have this level. */
const ExpectedQuote = z.strictObject({
  turn: z.string().min(1),
  text: z.string().min(1).optional(),
  level: z.enum(['sure', 'perhaps']).optional(),
})
export type ExpectedQuote = z.infer<typeof ExpectedQuote>
const expectedQuotes = z.array(ExpectedQuote).readonly().optional()

/** The expectations of a case. All of them must be met. */
export const Expectations = z.strictObject({
  personaPrelude: z
    .strictObject({
      nonEmpty: z.boolean().optional(),
      isNull: z.boolean().optional(),
      contains: texts.optional(),
      mustNotContain: texts.optional(),
    })
    .optional(),
  pinnedFacts: Membership.optional(),
  relevantBeliefs: z
    .strictObject({
      ...Membership.shape,
      shouldInclude: texts.optional(),
      shouldOnlyInclude: texts.optional(),
      orderedBefore: z.array(pair).readonly().optional(),
      minCount: count.optional(),
      maxCount: count.optional(),
    })
    .optional(),
  openQuestions: Membership.optional(),
  quotes: z
    .strictObject({
      mustInclude: expectedQuotes,
      mustExclude: expectedQuotes,
      orderedBefore: z.array(pair).readonly().optional(),
    })
    .optional(),
  noiseCheck: z.strictObject({ mustNotSurface: texts.optional() }).optional(),
})
export type Expectations = z.infer<typeof Expectations>
type Membership = z.infer<typeof Membership>

/** An answer reduced to the ids and texts that expectations refer to. */
export type Outcome = Pick<SystemAnswer, 'prelude' | 'pinned' | 'questions' | 'quotes'> & {
  readonly relevant: readonly string[]
}

/** One sentence for every unmet expectation. Empty if the case passed. */
export function checkExpectations(expect: Expectations, outcome: Outcome): readonly string[] {
  const noise = noiseIn(expect, outcome)
  return [
    ...checkPrelude(expect.personaPrelude ?? {}, outcome.prelude),
    ...checkMembership('pinned facts', expect.pinnedFacts ?? {}, outcome.pinned),
    ...checkRelevant(expect.relevantBeliefs ?? {}, outcome),
    ...checkMembership('open questions', expect.openQuestions ?? {}, outcome.questions),
    ...checkQuotes(expect.quotes ?? {}, outcome.quotes ?? []),
    ...(noise.length === 0 ? [] : [`noise: ${noise.join(', ')} must not surface.`]),
  ]
}

/** Beliefs that a turn lists as noise but that were shown, as pinned or as relevant. */
export function noiseIn(
  expect: Expectations,
  { relevant, pinned }: Pick<Outcome, 'relevant' | 'pinned'>,
): readonly string[] {
  const surfaced = new Set([...relevant, ...pinned])
  return [...new Set(expect.noiseCheck?.mustNotSurface ?? [])].filter((id) => surfaced.has(id))
}

/** Whether any answer could fail the case. An empty `shouldOnlyInclude` demands an empty result; other empty lists demand nothing. */
export const demandsSomething = (expect: Expectations): boolean =>
  Object.values(expect)
    .flatMap((checks) => Object.entries<unknown>(checks ?? {}))
    .some(([name, value]) => {
      if (Array.isArray(value)) return value.length > 0 || name === 'shouldOnlyInclude'
      return value !== undefined && (name !== 'minCount' || value !== 0)
    })

/** Whether an empty context fails the case. */
export const expectsSomething = (expect: Expectations): boolean =>
  checkExpectations(expect, { prelude: null, pinned: [], relevant: [], questions: [] }).length > 0

function checkPrelude(
  { nonEmpty, isNull, contains = [], mustNotContain = [] }: NonNullable<Expectations['personaPrelude']>,
  prelude: string | null,
): readonly string[] {
  const text = prelude ?? ''
  // Ignores case: the same statement may begin a sentence in one system and end it in another.
  const holds = (wanted: string): boolean => text.toLowerCase().includes(wanted.toLowerCase())
  const isEmpty = text.trim() === ''
  const failures: string[] = []
  if (nonEmpty === true && isEmpty) failures.push('prelude: expected some text, got none.')
  if (nonEmpty === false && !isEmpty) failures.push(`prelude: expected no text, got ${quote(text)}.`)
  if (isNull === true && !isEmpty) failures.push(`prelude: expected none, got ${quote(text)}.`)
  if (isNull === false && isEmpty) failures.push('prelude: expected one, got none.')
  for (const wanted of contains) if (!holds(wanted)) failures.push(`prelude: does not contain ${quote(wanted)}.`)
  for (const unwanted of mustNotContain) if (holds(unwanted)) failures.push(`prelude: contains ${quote(unwanted)}.`)
  return failures
}

function checkMembership(tier: string, expect: Membership, ids: readonly string[]): readonly string[] {
  const missing = (expect.mustInclude ?? []).filter((id) => !ids.includes(id))
  const unwanted = (expect.mustExclude ?? []).filter((id) => ids.includes(id))
  return [
    ...failureOf(tier, missing, 'expected, but not recalled'),
    ...failureOf(tier, unwanted, 'recalled, but must not be'),
  ]
}

const failureOf = (tier: string, ids: readonly string[], what: string): readonly string[] =>
  ids.length === 0 ? [] : [`${tier}: ${ids.join(', ')} ${ids.length === 1 ? 'was' : 'were'} ${what}.`]

export const isQuoted = ({ turn, text = '', level }: ExpectedQuote, quotes: readonly AnswerQuote[]): boolean =>
  quotes.some(
    (quote) =>
      quote.turn === turn &&
      normaliseText(quote.text).includes(normaliseText(text)) &&
      (level === undefined || (quote.level ?? 'sure') === level),
  )

/** Failures name turns instead of quoting them, because runs store failures, and words must be forgotten with their turn. */
function checkQuotes(
  { mustInclude = [], mustExclude = [], orderedBefore = [] }: NonNullable<Expectations['quotes']>,
  quotes: readonly AnswerQuote[],
): readonly string[] {
  const shown = quotes.map(({ turn }) => turn)
  return [
    ...mustInclude
      .filter((expected) => !isQuoted(expected, quotes))
      .map(({ turn }) =>
        shown.includes(turn)
          ? `quotes: ${turn} was quoted, but without the expected words.`
          : `quotes: ${turn} was expected, but not quoted.`,
      ),
    ...mustExclude
      .filter((unwanted) => isQuoted(unwanted, quotes))
      .map(({ turn }) => `quotes: ${turn} was quoted, but must not be.`),
    ...orderFailures('quotes: order', orderedBefore, shown),
  ]
}

/** For each pair, the first must come before the second, and both must be present. */
const orderFailures = (place: string, pairs: readonly (readonly [string, string])[], ids: readonly string[]) =>
  pairs.flatMap(([first, second]) => {
    const gone = [first, second].filter((id) => !ids.includes(id))
    const reason = gone.length > 0 ? `${gone.join(', ')} is not there` : 'comes after it'
    const isInOrder = gone.length === 0 && ids.indexOf(first) < ids.indexOf(second)
    return isInOrder ? [] : [`${place}: ${first} must come before ${second}, but ${reason}.`]
  })

/** A text for comparison: case and white space are normalised. */
export const normaliseText = (text: string): string => text.toLowerCase().replace(/\s+/gu, ' ').trim()

function checkRelevant(
  expect: NonNullable<Expectations['relevantBeliefs']>,
  { relevant, pinned }: Outcome,
): readonly string[] {
  // A pinned belief is in the context too, so it counts as shown.
  const shown = [...pinned, ...relevant]
  const { shouldInclude = [], shouldOnlyInclude: only, orderedBefore = [] } = expect
  const { minCount = 0, maxCount = Number.POSITIVE_INFINITY } = expect
  const wrong: readonly (readonly [ids: readonly string[], why: string])[] = [
    [shouldInclude.filter((id) => !shown.includes(id)), 'should be recalled.'],
    [(only ?? []).filter((id) => !relevant.includes(id)), 'is missing.'],
    [only === undefined ? [] : relevant.filter((id) => !only.includes(id)), 'was not expected.'],
  ]
  const failures = [
    ...checkMembership('relevant beliefs', expect, shown),
    ...wrong.flatMap(([ids, why]) => (ids.length === 0 ? [] : [`relevant beliefs: ${ids.join(', ')} ${why}`])),
  ]
  failures.push(...orderFailures('order', orderedBefore, relevant))
  if (relevant.length < minCount) failures.push(`relevant beliefs: ${relevant.length}, at least ${minCount} expected.`)
  if (relevant.length > maxCount) failures.push(`relevant beliefs: ${relevant.length}, at most ${maxCount} expected.`)
  return failures
}

const quote = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 79)}…` : text)

/** Scores an answer against the expectations of a case. Beliefs in `pinnedInCorpus` are shown anyway, so they need not be found. */
export function measureAnswer(expect: Expectations, outcome: Outcome, pinnedInCorpus: ReadonlySet<string>) {
  const expected = expectedRelevant(expect, pinnedInCorpus)
  const { relevant, pinned, questions } = outcome
  const wantedQuestions = expect.openQuestions?.mustInclude ?? []
  return {
    retrievalPrecision: expected === null ? null : precision(expected, relevant),
    retrievalRecall: expected === null ? null : share(expected, relevant),
    pinnedCoverage: share(expect.pinnedFacts?.mustInclude ?? [], pinned),
    questionPrecision: wantedQuestions.length === 0 ? null : share(questions, wantedQuestions),
    questionRecall: share(wantedQuestions, questions),
  }
}

/** The expected ids of the relevant tier; null if the case does not declare them. */
export function expectedRelevant(expect: Expectations, pinnedInCorpus: ReadonlySet<string>): readonly string[] | null {
  const { shouldOnlyInclude, mustInclude } = expect.relevantBeliefs ?? {}
  return shouldOnlyInclude ?? mustInclude?.filter((id) => !pinnedInCorpus.has(id)) ?? null
}

/** The share of returned beliefs that were expected. Null if an empty result was expected and returned. */
function precision(expected: readonly string[], returned: readonly string[]): number | null {
  if (returned.length > 0) return share(returned, expected)
  return expected.length === 0 ? null : 0
}

/** The share of `ids` that `others` contains; null if `ids` is empty. */
const share = (ids: readonly string[], others: readonly string[]): number | null =>
  ids.length === 0 ? null : ids.filter((id) => others.includes(id)).length / ids.length

/** The share of listed noise in all shown beliefs; 0 if nothing was shown. */
export function driftScore(expect: Expectations, outcome: Outcome): number {
  const shown = new Set(outcome.relevant).size + new Set(outcome.pinned).size
  return shown === 0 ? 0 : noiseIn(expect, outcome).length / shown
}

/** `activeRetrieval`: found the right belief. `structural`: respected a boundary. `triviallyEmpty`: an empty result was enough. */
export const passTypes = ['activeRetrieval', 'structural', 'triviallyEmpty'] as const
export type PassType = (typeof passTypes)[number]

const structuralCategories = /^(?:scope disambiguation|supersession|type routing|budget|cross-user|ranking|persona)/iu

export function passTypeOf(
  category: string | null,
  { retrievalPrecision }: Pick<ReturnType<typeof measureAnswer>, 'retrievalPrecision'>,
  { quotes }: Expectations = {},
): PassType {
  const isQuoteFound = (quotes?.mustInclude ?? []).length > 0
  if (isQuoteFound || (retrievalPrecision !== null && retrievalPrecision > 0)) return 'activeRetrieval'
  return structuralCategories.test(category ?? '') ? 'structural' : 'triviallyEmpty'
}
