/** Quantiles of a sample, in the unit of the sample. */
export type Spread = { readonly p50: number; readonly p95: number; readonly p99: number; readonly samples: number }

export function spreadOf(sample: readonly number[]): Spread {
  return {
    p50: quantile(sample, 0.5),
    p95: quantile(sample, 0.95),
    p99: quantile(sample, 0.99),
    samples: sample.length,
  }
}

function quantile(sample: readonly number[], share: number): number {
  const sorted = [...sample].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1))] ?? Number.NaN
}

/**
 * A ratio of durations, computed in each round: the median of all rounds, and their 10th (`low`) and 90th (`high`)
 * percentile.
 */
export type Ratio = { readonly median: number; readonly low: number; readonly high: number }

/** Compares the samples of the same round, because the same noise affected them. */
export function ratioOf(rounds: readonly (readonly number[])[], others: readonly (readonly number[])[]): Ratio {
  const ratios = rounds.map((round, index) => quantile(round, 0.5) / quantile(others[index] ?? [], 0.5))
  return { median: quantile(ratios, 0.5), low: quantile(ratios, 0.1), high: quantile(ratios, 0.9) }
}

/** Milliseconds per call. Warms up with other inputs, so that no measured input has been used before. */
export async function timeEach<Input>(
  { inputs, warmUp }: { readonly inputs: readonly Input[]; readonly warmUp: readonly Input[] },
  call: (input: Input) => unknown,
): Promise<Spread> {
  for (const input of warmUp) await call(input)
  const sample: number[] = []
  for (const input of inputs) {
    const start = process.hrtime.bigint()
    await call(input)
    sample.push(Number(process.hrtime.bigint() - start) / 1e6)
  }
  return spreadOf(sample)
}

export const milliseconds = (value: number): string => (value < 10 ? value.toFixed(3) : value.toFixed(1))
