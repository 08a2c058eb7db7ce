export type Range = readonly [number, number]

/** Turns values of one range into places of another. */
export const scale =
  ([from, to]: Range, [start, end]: Range) =>
  (value: number): number =>
    start + ((value - from) / (to - from)) * (end - start)

/** From the least to the most value with some air, never empty, and never beyond what a value can be. */
export function spread(values: readonly number[], limits: Range | null = null): Range {
  const known = values.filter(Number.isFinite)
  if (known.length === 0) return limits ?? [0, 1]
  const [least, most] = [Math.min(...known), Math.max(...known)]
  const margin = most - least > 1e-9 ? (most - least) * 0.12 : Math.max(Math.abs(least) * 0.1, 0.05)
  const [lowest, highest] = limits ?? [least >= 0 ? 0 : Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
  return [Math.max(lowest, least - margin), Math.min(highest, most + margin)]
}

/** Round values inside a range, about as many as asked for. */
export function ticks([least, most]: Range, wanted: number): readonly number[] {
  const rough = (most - least) / Math.max(1, wanted)
  if (!(rough > 0) || !Number.isFinite(rough)) return [least]
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power
  const first = Math.ceil(least / step - 1e-9)
  const last = Math.floor(most / step + 1e-9)
  return Array.from({ length: Math.max(0, last - first) + 1 }, (_, index) =>
    Number(((first + index) * step).toPrecision(12)),
  )
}

export const fixed = (value: number): string => (Math.round(value * 100) / 100).toString()
