import type { MetricDeclaration } from '../store/schemas/primitives.ts'

export type Direction = MetricDeclaration['direction']

/** Which way is better for a metric, and who says so. */
export type MetricSense = {
  readonly direction: Direction
  /** `assumed`: nobody says, so higher counts as better, and reports say that it was assumed. */
  readonly source: 'declared' | 'known' | 'assumed'
  readonly minEffect: number
  readonly range: readonly [number, number] | null
}

/** Less of these is better, wherever they stand in a name. */
const lowerWords: ReadonlySet<string> = new Set([
  'latency',
  'duration',
  'ms',
  'millis',
  'seconds',
  'cost',
  'usd',
  'tokens',
  'errors',
  'violation',
  'violations',
  'leak',
  'leaks',
  'leakage',
  'drift',
  'noise',
])
const lowerPairs: readonly (readonly [string, string])[] = [
  ['error', 'rate'],
  ['error', 'cases'],
  ['error', 'count'],
  ['attack', 'success'],
  ['token', 'count'],
]
/** More of what is spared is better. */
const sparingWords: ReadonlySet<string> = new Set([
  'saved',
  'savings',
  'avoided',
  'recovery',
  'reduction',
  'resistance',
])

const knownHigher: ReadonlySet<string> = new Set([
  'passRate',
  'recallPrecisionAtK',
  'actionOutcomeScore',
  'objectiveStateCoverage',
  'causalPathRecall',
  'creationRecoveryScore',
  'retrievalPrecision',
  'retrievalRecall',
  'pinnedCoverage',
  'questionPrecision',
  'questionRecall',
])

/** What is declared counts; then what the name is known for; else higher is taken to be better. */
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
  return (
    words.some((word) => lowerWords.has(word)) ||
    lowerPairs.some(([first, second]) => words.some((word, index) => word === first && words[index + 1] === second))
  )
}
