import { z } from 'zod'

const texts = z.array(z.string().min(1)).readonly()
const count = z.int().min(0)
const Membership = z.strictObject({ mustInclude: texts.optional(), mustExclude: texts.optional() })

/** What a case asks of an answer. Everything given must hold. */
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
      orderedBefore: z
        .array(z.tuple([z.string().min(1), z.string().min(1)]).readonly())
        .readonly()
        .optional(),
      minCount: count.optional(),
      maxCount: count.optional(),
    })
    .optional(),
  openQuestions: Membership.optional(),
  noiseCheck: z.strictObject({ mustNotSurface: texts.optional() }).optional(),
})
export type Expectations = z.infer<typeof Expectations>
type PreludeExpectations = NonNullable<Expectations['personaPrelude']>
type RelevantExpectations = NonNullable<Expectations['relevantBeliefs']>
type Membership = z.infer<typeof Membership>

/** An answer reduced to what expectations speak of, under the ids of the case file. */
export type Outcome = {
  readonly prelude: string | null
  readonly pinned: readonly string[]
  readonly relevant: readonly string[]
  readonly questions: readonly string[]
}

/** Every expectation that does not hold, as one sentence each. Empty when the case passed. */
export function checkExpectations(expect: Expectations, outcome: Outcome): readonly string[] {
  const noise = noiseIn(expect, outcome)
  return [
    ...checkPrelude(expect.personaPrelude ?? {}, outcome.prelude),
    ...checkMembership('pinned facts', expect.pinnedFacts ?? {}, outcome.pinned),
    ...checkRelevant(expect.relevantBeliefs ?? {}, outcome),
    ...checkMembership('open questions', expect.openQuestions ?? {}, outcome.questions),
    ...(noise.length === 0 ? [] : [`noise: ${list(noise)} must not surface.`]),
  ]
}

/** The beliefs that a turn names as noise and that surfaced all the same, pinned or relevant. */
export function noiseIn(expect: Expectations, { relevant, pinned }: Outcome): readonly string[] {
  const surfaced = new Set([...relevant, ...pinned])
  return [...new Set(expect.noiseCheck?.mustNotSurface ?? [])].filter((id) => surfaced.has(id))
}

/**
 * Whether any answer at all could fail the case. A list of nothing that must be there demands nothing; a list of
 * everything that may be there does, even when it is empty.
 */
export function demandsSomething(expect: Expectations): boolean {
  const { personaPrelude = {}, pinnedFacts = {}, relevantBeliefs = {}, openQuestions = {}, noiseCheck = {} } = expect
  const lists = [
    personaPrelude.contains,
    personaPrelude.mustNotContain,
    ...[pinnedFacts, relevantBeliefs, openQuestions].flatMap(({ mustInclude, mustExclude }) => [
      mustInclude,
      mustExclude,
    ]),
    relevantBeliefs.shouldInclude,
    relevantBeliefs.orderedBefore,
    noiseCheck.mustNotSurface,
  ]
  const others = [
    personaPrelude.nonEmpty,
    personaPrelude.isNull,
    relevantBeliefs.shouldOnlyInclude,
    relevantBeliefs.maxCount,
  ]
  return (
    lists.some((items) => items !== undefined && items.length > 0) ||
    others.some((value) => value !== undefined) ||
    (relevantBeliefs.minCount ?? 0) > 0
  )
}

/** Whether something must come back, so that an empty context fails the case. */
export function expectsSomething(expect: Expectations): boolean {
  const { personaPrelude = {}, pinnedFacts = {}, relevantBeliefs = {}, openQuestions = {} } = expect
  const lists = [
    personaPrelude.contains,
    pinnedFacts.mustInclude,
    openQuestions.mustInclude,
    relevantBeliefs.mustInclude,
    relevantBeliefs.shouldInclude,
    relevantBeliefs.shouldOnlyInclude,
    relevantBeliefs.orderedBefore,
  ]
  return (
    lists.some((items) => items !== undefined && items.length > 0) ||
    personaPrelude.nonEmpty === true ||
    personaPrelude.isNull === false ||
    (relevantBeliefs.minCount ?? 0) > 0
  )
}

function checkPrelude(expect: PreludeExpectations, prelude: string | null): readonly string[] {
  const text = prelude ?? ''
  // Case does not matter: the same statement may open a sentence in one system and close it in another.
  const holds = (wanted: string): boolean => text.toLowerCase().includes(wanted.toLowerCase())
  const isEmpty = text.trim() === ''
  const failures: string[] = []
  if (expect.nonEmpty === true && isEmpty) failures.push('prelude: expected some text, got none.')
  if (expect.nonEmpty === false && !isEmpty) failures.push(`prelude: expected no text, got ${quote(text)}.`)
  if (expect.isNull === true && !isEmpty) failures.push(`prelude: expected none, got ${quote(text)}.`)
  if (expect.isNull === false && isEmpty) failures.push('prelude: expected one, got none.')
  for (const wanted of expect.contains ?? []) {
    if (!holds(wanted)) failures.push(`prelude: does not contain ${quote(wanted)}.`)
  }
  for (const unwanted of expect.mustNotContain ?? []) {
    if (holds(unwanted)) failures.push(`prelude: contains ${quote(unwanted)}.`)
  }
  return failures
}

function checkMembership(tier: string, expect: Membership, ids: readonly string[]): readonly string[] {
  const missing = (expect.mustInclude ?? []).filter((id) => !ids.includes(id))
  const unwanted = (expect.mustExclude ?? []).filter((id) => ids.includes(id))
  return [
    ...(missing.length === 0 ? [] : [`${tier}: ${list(missing)} must be there.`]),
    ...(unwanted.length === 0 ? [] : [`${tier}: ${list(unwanted)} must not be there.`]),
  ]
}

function checkRelevant(expect: RelevantExpectations, { relevant, pinned }: Outcome): readonly string[] {
  // A belief that is pinned is in the context as surely as one that was found.
  const shown = [...pinned, ...relevant]
  const failures = [...checkMembership('relevant beliefs', expect, shown)]
  const absent = (expect.shouldInclude ?? []).filter((id) => !shown.includes(id))
  if (absent.length > 0) failures.push(`relevant beliefs: ${list(absent)} should be there.`)

  const only = expect.shouldOnlyInclude
  if (only !== undefined) {
    const missing = only.filter((id) => !relevant.includes(id))
    const extra = relevant.filter((id) => !only.includes(id))
    if (missing.length > 0) failures.push(`relevant beliefs: ${list(missing)} is missing.`)
    if (extra.length > 0) failures.push(`relevant beliefs: ${list(extra)} was not expected.`)
  }
  for (const [first, second] of expect.orderedBefore ?? []) {
    const before = relevant.indexOf(first)
    const after = relevant.indexOf(second)
    if (before < 0 || after < 0) {
      const gone = [first, second].filter((id) => !relevant.includes(id))
      failures.push(`order: ${first} must come before ${second}, but ${list(gone)} is not there.`)
    } else if (before > after) failures.push(`order: ${first} must come before ${second}, but comes after it.`)
  }
  const { minCount = 0, maxCount = Number.POSITIVE_INFINITY } = expect
  if (relevant.length < minCount) failures.push(`relevant beliefs: ${relevant.length}, at least ${minCount} expected.`)
  if (relevant.length > maxCount) failures.push(`relevant beliefs: ${relevant.length}, at most ${maxCount} expected.`)
  return failures
}

const list = (ids: readonly string[]): string => ids.join(', ')

const quote = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 79)}…` : text)

/** How good one answer was. Null where the case says nothing that could be measured. */
export type Metrics = {
  readonly retrievalPrecision: number | null
  readonly retrievalRecall: number | null
  readonly pinnedCoverage: number | null
  readonly questionPrecision: number | null
  readonly questionRecall: number | null
}

/**
 * Measures an answer against the sets a case names. `pinnedInCorpus` are left out of what the relevant tier must hold:
 * a pinned belief is shown by its pin and never found again.
 */
export function measure(expect: Expectations, outcome: Outcome, pinnedInCorpus: ReadonlySet<string>): Metrics {
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

/** What the relevant tier should hold, or null when the case does not say. */
export function expectedRelevant(expect: Expectations, pinnedInCorpus: ReadonlySet<string>): readonly string[] | null {
  const { shouldOnlyInclude, mustInclude } = expect.relevantBeliefs ?? {}
  return shouldOnlyInclude ?? mustInclude?.filter((id) => !pinnedInCorpus.has(id)) ?? null
}

/** Which part of what was returned was expected. Silence is perfect where silence was expected, and so not measured. */
function precision(expected: readonly string[], returned: readonly string[]): number | null {
  if (returned.length > 0) return share(returned, expected)
  return expected.length === 0 ? null : 0
}

/** Which part of `ids` is among `others`; null of nothing. */
const share = (ids: readonly string[], others: readonly string[]): number | null =>
  ids.length === 0 ? null : ids.filter((id) => others.includes(id)).length / ids.length

/** Named noise as a part of all that was shown. Nothing shown is no drift. */
export function driftScore(expect: Expectations, outcome: Outcome): number {
  const shown = new Set(outcome.relevant).size + new Set(outcome.pinned).size
  return shown === 0 ? 0 : noiseIn(expect, outcome).length / shown
}

/**
 * What a pass is worth. `activeRetrieval`: the right belief was found. `structural`: nothing had to be found, but a
 * boundary had to hold. `triviallyEmpty`: silence was enough.
 */
export const passTypes = ['activeRetrieval', 'structural', 'triviallyEmpty'] as const
export type PassType = (typeof passTypes)[number]

const structuralCategories = [
  'scope disambiguation',
  'supersession',
  'type routing',
  'budget',
  'cross-user',
  'ranking',
  'persona',
]

export function passTypeOf(category: string | null, { retrievalPrecision }: Metrics): PassType {
  if (retrievalPrecision !== null && retrievalPrecision > 0) return 'activeRetrieval'
  const name = (category ?? '').toLowerCase()
  return structuralCategories.some((structural) => name.startsWith(structural)) ? 'structural' : 'triviallyEmpty'
}
