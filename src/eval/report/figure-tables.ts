import { summariseCases } from '../score/figures.ts'
import { mean } from '../score/statistics.ts'
import type { CaseRecord } from '../store/schemas/run.ts'

/** A metric as a table column, in percent if its maximum is 1. */
export type FigureColumn = {
  readonly name: string
  readonly title?: string
  readonly range?: readonly [number, number] | undefined
}

/** The metrics of lines shown unasked. `missed` and `falseFire` belong together, because it is easy to keep only one of them low. */
export const pushColumns: readonly FigureColumn[] = [
  { name: 'missed', range: [0, 1] },
  { name: 'falseFire', title: 'false fires', range: [0, 1] },
  { name: 'outdated', title: 'outdated without newest', range: [0, 1] },
  { name: 'lines', range: [0, Number.POSITIVE_INFINITY] },
  { name: 'characters', range: [0, Number.POSITIVE_INFINITY] },
]

/** The figures of the given cases: the mean, its 95 % interval and, for a share, its counts. Empty for a metric that no case has. */
export function figureCells(
  records: readonly CaseRecord[],
  columns: readonly FigureColumn[],
  { hasIntervals = true, hasCounts = true }: { readonly hasIntervals?: boolean; readonly hasCounts?: boolean } = {},
): readonly string[] {
  const { results, metrics, intervals } = summariseCases(records)
  return columns.map(({ name, range }) => {
    const value = metrics[name]
    if (value === undefined) return ''
    const scores = results.flatMap(({ scores = {} }) => scores[name] ?? [])
    const isAllOrNothing = scores.every((score) => score === 0 || score === 1)
    const [low, high] = range ?? (isAllOrNothing ? [0, 1] : [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY])
    const figure = (value: number): string => (high === 1 ? (100 * value).toFixed(1) : value.toFixed(2))
    const counts =
      isAllOrNothing && high === 1 && hasCounts
        ? `${scores.filter((score) => score > 0).length}/${scores.length} = `
        : ''
    const interval = hasIntervals ? intervals[name] : undefined
    if (interval === undefined) return `${counts}${figure(value)}`
    const ends = [interval.low, interval.high].map((end) => figure(Math.min(high, Math.max(low, end))))
    return `${counts}${figure(value)} [${ends.join(', ')}]`
  })
}

const maxFalseFires = [0, 0.05, 0.1, 0.2, 0.5, 1]

/** A row per max rate of false fires, a column per system: the lowest share of missed messages (threshold). Null without curves. */
export function curveRows(
  runs: readonly { readonly system: string; readonly records: readonly CaseRecord[] }[],
): readonly (readonly string[])[] | null {
  const curves = runs
    .map(({ system, records }) => ({ system, curve: pushCurve(records) }))
    .filter(({ curve }) => curve.length > 0)
  if (curves.length === 0) return null
  const title = ['missed, % (threshold), if false fires are at most', ...curves.map(({ system }) => system)]
  const rows = maxFalseFires.map((maxFalseFire) => [
    `${100 * maxFalseFire} %`,
    ...curves.map(({ curve }) => {
      const point = bestPointWithin(curve, maxFalseFire)
      if (point === undefined) return ''
      const { threshold, missed } = point
      return `${(100 * missed).toFixed(1)} (${Number.isFinite(threshold) ? threshold.toFixed(2) : 'never'})`
    }),
  ])
  return [title, ...rows]
}

/** A point of the curve: the rates if only answers with at least this confidence are shown. */
type CurvePoint = { readonly threshold: number; readonly missed: number; readonly falseFire: number }

/**
 * The rates at each confidence threshold, from the highest down: at each further point the system misses less and fires more often.
 * Empty for a system without confidences, or if memory is needed for all cases or for none.
 */
export function pushCurve(records: readonly Pick<CaseRecord, 'scores' | 'explanation'>[]): readonly CurvePoint[] {
  const answers = records.flatMap(({ scores, explanation }) => {
    const { confidence } = (explanation ?? {}) as { readonly confidence?: unknown }
    return typeof confidence === 'number' ? [{ scores, confidence }] : []
  })
  const thresholds = [...new Set(answers.map(({ confidence }) => confidence))].sort((a, b) => b - a)
  return [Number.POSITIVE_INFINITY, ...thresholds].flatMap((threshold) => {
    // A hidden answer is a miss if memory was needed, and never a false fire.
    const rate = (name: string, unshown: number): number | null =>
      mean(
        answers.map(({ scores, confidence }) => {
          const score = scores[name] ?? null
          return score === null || confidence >= threshold ? score : unshown
        }),
      )
    const missed = rate('missed', 1)
    const falseFire = rate('falseFire', 0)
    return missed === null || falseFire === null ? [] : [{ threshold, missed, falseFire }]
  })
}

/** The point with the fewest misses at this max rate of false fires. */
export const bestPointWithin = (curve: readonly CurvePoint[], maxFalseFire: number): CurvePoint | undefined =>
  curve.findLast(({ falseFire }) => falseFire <= maxFalseFire)
