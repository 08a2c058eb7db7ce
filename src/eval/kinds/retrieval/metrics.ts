import { type Expectations, noiseIn, type Outcome } from './expectations.ts'

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
