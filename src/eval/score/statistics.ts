/** The arithmetic mean, ignoring nulls; null if there are no values. */
export function mean(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((total, value) => total + value, 0) / known.length
}

/** The smallest value that at least `percent` of the values do not exceed (nearest rank, rounded up). */
export function percentile(values: readonly number[], percent: number): number | null {
  const sorted = [...values].sort((a, b) => a - b)
  const rank = Math.max(1, Math.ceil((percent / 100) * sorted.length))
  return sorted[rank - 1] ?? null
}

export type Interval = { readonly low: number; readonly high: number }

/** The two-sided 95 % quantile of the normal distribution. */
export const z95 = 1.959963984540054

/** The 95 % interval of a pass rate (Wilson, "Probable Inference", 1927): within 0 and 1, even if all or none passed. */
export function wilsonInterval(passed: number, trials: number): Interval | null {
  if (trials === 0) return null
  const rate = passed / trials
  const weight = z95 ** 2 / trials
  const centre = (rate + weight / 2) / (1 + weight)
  const half = (z95 / (1 + weight)) * Math.sqrt((rate * (1 - rate)) / trials + weight / (4 * trials))
  // At 0 and 1 the bound is exact, without a rounding error.
  return {
    low: passed === 0 ? 0 : Math.max(0, centre - half),
    high: passed === trials ? 1 : Math.min(1, centre + half),
  }
}

/** Rounds to four decimals, as reports show means. */
export const round4 = (value: number | null): number | null => (value === null ? null : Math.round(value * 1e4) / 1e4)

/** Pseudo-random numbers from 0 to below 1, determined by the seed (mulberry32). For resampling, not for secrets. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The significance level: the accepted probability of a false positive. */
export const alpha = 0.05

/** The probability of a split at least this uneven if broken and fixed cases are equally likely (McNemar, exact, two-sided). */
export function mcNemarExact({ broken, fixed }: { readonly broken: number; readonly fixed: number }): number {
  const discordant = broken + fixed
  // In logarithms, because the coefficients for a few hundred cases overflow a double.
  let logTerm = -discordant * Math.LN2
  let tail = 0
  for (let count = 0; count <= Math.min(broken, fixed); count += 1) {
    tail += Math.exp(logTerm)
    logTerm += Math.log(discordant - count) - Math.log(count + 1)
  }
  return Math.min(1, 2 * tail)
}

const resamples = 10_000
/** Max differences for which all combinations of signs are tried. */
const maxEnumerated = 13

/**
 * The probability of a mean at least this far from zero if the sign of each difference is random (Fisher's randomisation test,
 * two-sided). Exact for few pairs, so that three cases are never evidence; sampled for many.
 */
export function signFlipTest(differences: readonly number[], seed: number): number {
  const moved = differences.filter((difference) => difference !== 0)
  const observed = Math.abs(sumOf(differences))
  // Sums of the same numbers in a different order differ by rounding errors.
  const isAsFar = (total: number): boolean => Math.abs(total) >= observed - observed * 1e-12
  if (moved.length === 0) return 1
  // Counts all pairs, not only changed ones, so that a case that gets worse never changes the method.
  if (differences.length <= maxEnumerated) {
    const ways = 2 ** moved.length
    let asFar = 0
    for (let way = 0; way < ways; way += 1) {
      if (isAsFar(moved.reduce((total, value, index) => total + ((way >> index) & 1 ? value : -value), 0))) asFar += 1
    }
    return asFar / ways
  }
  const random = randomFrom(seed)
  let asFar = 1
  for (let round = 0; round < resamples; round += 1) {
    // Zero differences consume a random number too: a case that gets worse must not change the signs of the others.
    if (isAsFar(differences.reduce((total, value) => total + (random() < 0.5 ? value : -value), 0))) asFar += 1
  }
  return asFar / (resamples + 1)
}

/** The 95 % confidence interval of the mean difference: percentiles of the means of resampled cases (Efron, 1979). */
export function pairedBootstrap(differences: readonly number[], seed: number): Interval | null {
  const count = differences.length
  if (count === 0) return null
  const random = randomFrom(seed)
  return percentileInterval(resamples, () => {
    let total = 0
    for (let draw = 0; draw < count; draw += 1) total += differences[Math.floor(random() * count)] ?? 0
    return total / count
  })
}

/** The interval that contains 95 % of the drawn values. */
function percentileInterval(count: number, draw: () => number): Interval {
  const drawn = Float64Array.from({ length: count }, draw).sort()
  const at = (share: number): number => drawn[Math.round(share * (count - 1))] ?? 0
  return { low: at(alpha / 2), high: at(1 - alpha / 2) }
}

/** Adjusts p-values for multiple comparisons (Holm, 1979). Returns them in the given order. */
export function holm(probabilities: readonly number[]): readonly number[] {
  const order = probabilities.map((_, index) => index).sort((a, b) => at(probabilities, a) - at(probabilities, b))
  const adjusted = probabilities.map(() => 1)
  let highest = 0
  for (const [rank, index] of order.entries()) {
    highest = Math.max(highest, Math.min(1, at(probabilities, index) * (probabilities.length - rank)))
    adjusted[index] = highest
  }
  return adjusted
}

const sumOf = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
const at = (values: readonly number[], index: number): number => values[index] ?? 1

/** The 95 % confidence interval of a mean of clustered values: percentiles of the means of resampled clusters. */
export function clusterBootstrap(clusters: readonly (readonly number[])[], seed: number): Interval {
  const random = randomFrom(seed)
  const sums = clusters.map((values) => ({ total: sumOf(values), count: values.length }))
  return percentileInterval(clusterResamples, () => {
    let total = 0
    let count = 0
    for (let draw = 0; draw < sums.length; draw += 1) {
      const drawn = sums[Math.floor(random() * sums.length)]
      total += drawn?.total ?? 0
      count += drawn?.count ?? 0
    }
    return total / count
  })
}

const clusterResamples = 2_000
