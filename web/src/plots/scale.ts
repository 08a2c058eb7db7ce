export type Range = readonly [number, number]

/** Maps values of one range to another. */
export const scale =
  ([from, to]: Range, [start, end]: Range) =>
  (value: number): number =>
    start + ((value - from) / (to - from)) * (end - start)

/**
 * The range of the values with a margin, within the limits. If all values are equal, the limits themselves: zooming in would
 * suggest a difference that does not exist.
 */
export function spread(values: readonly number[], limits: Range | null = null): Range {
  const known = values.filter(Number.isFinite)
  if (known.length === 0) return limits ?? [0, 1]
  const min = Math.min(...known)
  const max = Math.max(...known)
  const isOne = max - min <= 1e-9
  if (isOne && limits !== null) return limits
  const margin = isOne ? Math.max(Math.abs(min) * 0.1, 0.05) : (max - min) * 0.12
  const [lowest, highest] = limits ?? [min >= 0 ? 0 : Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
  return [Math.max(lowest, min - margin), Math.min(highest, max + margin)]
}

type AxisOptions = {
  /** The approximate number of steps. */
  readonly steps?: number
  /** The smallest useful step; 1 for counts. */
  readonly minStep?: number
  readonly limits?: Range | null
}

/** The marks of an axis: round numbers that cover the range, within the limits. */
export function axis(
  [min, max]: Range,
  { steps = 3, minStep = 0, limits = null }: AxisOptions = {},
): readonly number[] {
  const rough = Math.max((max - min) / Math.max(1, steps), minStep)
  if (!(rough > 0) || !Number.isFinite(rough)) return [min]
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough * (1 - 1e-9)) ?? 10) * power
  const first = Math.floor(min / step + 1e-9)
  const last = Math.ceil(max / step - 1e-9)
  const marks = Array.from({ length: Math.max(0, last - first) + 1 }, (_, index) =>
    Number(((first + index) * step).toPrecision(12)),
  )
  const [lowest, highest] = limits ?? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
  return marks.filter((mark) => mark >= lowest - 1e-9 && mark <= highest + 1e-9)
}

/** The range of an axis with these marks. */
export const axisRange = (marks: readonly number[], [min, max]: Range): Range => [
  Math.min(min, marks[0] ?? min),
  Math.max(max, marks.at(-1) ?? max),
]

export const roundCoordinate = (value: number): string => (Math.round(value * 100) / 100).toString()
