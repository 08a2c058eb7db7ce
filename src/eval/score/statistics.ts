/** The arithmetic mean of what is there; nulls are left out, and nothing has no mean. */
export function mean(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((total, value) => total + value, 0) / known.length
}

/** The smallest value that at least `percent` of the values do not exceed (nearest rank, rounded up). */
export function percentile(values: readonly number[], percent: number): number | null {
  const sorted = [...values].sort((one, other) => one - other)
  const rank = Math.max(1, Math.ceil((percent / 100) * sorted.length))
  return sorted[rank - 1] ?? null
}

export type Interval = { readonly low: number; readonly high: number }

/** The two-sided 95 % quantile of the normal distribution. */
export const z95 = 1.959963984540054

/**
 * Where the true pass rate lies with 95 % confidence (Wilson, "Probable Inference", 1927). Stays within 0 and 1 and
 * says something even when all or none passed. Null without trials.
 */
export function wilsonInterval(passed: number, trials: number): Interval | null {
  if (trials === 0) return null
  const rate = passed / trials
  const weight = z95 ** 2 / trials
  const centre = (rate + weight / 2) / (1 + weight)
  const half = (z95 / (1 + weight)) * Math.sqrt((rate * (1 - rate)) / trials + weight / (4 * trials))
  // At 0 and 1 the bound is exact, and must not miss it by the last bit.
  return {
    low: passed === 0 ? 0 : Math.max(0, centre - half),
    high: passed === trials ? 1 : Math.min(1, centre + half),
  }
}

/** Four decimals, as reports show means. */
export const round4 = (value: number | null): number | null => (value === null ? null : Math.round(value * 1e4) / 1e4)
