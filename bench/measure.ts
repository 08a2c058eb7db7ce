/** Quantiles of a sample, in the unit it was measured in. */
export type Spread = { readonly p50: number; readonly p95: number; readonly p99: number; readonly samples: number }

export function spreadOf(sample: readonly number[]): Spread {
  const sorted = [...sample].sort((one, other) => one - other)
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), samples: sorted.length }
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
