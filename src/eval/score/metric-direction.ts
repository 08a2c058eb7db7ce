import type { MetricDeclaration } from '../store/schemas/primitives.ts'

/** Which way is better for a metric, and where that is known from. */
export type MetricSense = {
  readonly direction: MetricDeclaration['direction']
  /** `assumed`: higher is taken to be better, and reports say that it was assumed. */
  readonly source: 'declared' | 'known' | 'assumed'
  readonly minEffect: number
  readonly range: readonly [number, number] | null
}

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(' '))

/** Less of these is better, wherever they stand in a name. */
const lowerWords = setOf(
  'latency duration ms millis seconds cost usd tokens errors violation violations leak leaks leakage drift noise',
)
const lowerPairs = setOf('error-rate error-cases error-count attack-success benign-loss token-count')
/** More of what is spared is better. */
const sparingWords = setOf('saved savings avoided recovery reduction resistance')
const knownHigher = setOf(
  'passRate recallPrecisionAtK actionOutcomeScore objectiveStateCoverage causalPathRecall creationRecoveryScore retrievalPrecision retrievalRecall pinnedCoverage questionPrecision questionRecall',
)

/** A declaration decides; then what is known of the name; else higher is taken to be better. */
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
