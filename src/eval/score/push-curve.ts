import type { CaseRecord } from '../store/schemas/run.ts'
import { mean } from './statistics.ts'

/** A point of the curve: the rates if only answers with at least this confidence are shown. */
export type CurvePoint = { readonly threshold: number; readonly missed: number; readonly falseFire: number }

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
