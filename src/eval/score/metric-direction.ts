import type { MetricDeclaration } from '../store/schemas/primitives.ts'

/** Which direction is better for a metric, and how this is known. */
export type MetricSense = {
  readonly direction: MetricDeclaration['direction']
  /** `assumed`: higher is assumed to be better, and reports note this. */
  readonly source: 'declared' | 'known' | 'assumed'
  readonly minEffect: number
  readonly range: readonly [number, number] | null
}

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(' '))

/** Lower is better for metrics with any of these words in their name. */
const lowerWords = setOf(
  'latency duration ms millis seconds cost usd tokens errors violation violations leak leaks leakage drift noise',
)
const lowerPairs = setOf('error-rate error-cases error-count attack-success benign-loss token-count')
/** Higher is better for metrics of savings and recovery, even if their name has one of the words above. */
const sparingWords = setOf('saved savings avoided recovery reduction resistance')
const knownHigher = setOf(
  'passRate recallPrecisionAtK actionOutcomeScore objectiveStateCoverage causalPathRecall creationRecoveryScore retrievalPrecision retrievalRecall pinnedCoverage questionPrecision questionRecall',
)

/** Uses the declaration, else the known names, else assumes that higher is better. */
export function metricSense(name: string, declarations: readonly MetricDeclaration[]): MetricSense {
  const declared = declarations.find((declaration) => declaration.name === name)
  if (declared !== undefined) {
    const { direction, minEffect = 0, range = null } = declared
    return { direction, source: 'declared', minEffect, range }
  }
  if (knownHigher.has(name)) return { direction: 'higher', source: 'known', minEffect: 0, range: [0, 1] }
  const known = isLowerByName(name)
  return { direction: known ? 'lower' : 'higher', source: known ? 'known' : 'assumed', minEffect: 0, range: null }
}

function isLowerByName(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/gu, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/u)
  if (words.some((word) => sparingWords.has(word))) return false
  return words.some((word, index) => lowerWords.has(word) || lowerPairs.has(`${word}-${words[index + 1]}`))
}
