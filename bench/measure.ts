/** Quantiles of a sample, in the unit it was measured in. */
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

/** How many times as long, round by round: the median, and the range that holds eight of ten rounds. */
export type Ratio = { readonly median: number; readonly low: number; readonly high: number }

/** The samples of each round are compared with those of the same round, which the same noise fell on. */
export function ratioOf(rounds: readonly (readonly number[])[], others: readonly (readonly number[])[]): Ratio {
  const ratios = rounds.map((round, index) => quantile(round, 0.5) / quantile(others[index] ?? [], 0.5))
  return { median: quantile(ratios, 0.5), low: quantile(ratios, 0.1), high: quantile(ratios, 0.9) }
}

/** Milliseconds each call took, after warming up on other inputs: nothing measured has been asked before. */
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
