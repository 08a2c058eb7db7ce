import { pointWithin, pushCurve } from '../score/push-curve.ts'
import type { CaseRecord, RunSummary } from '../store/schemas/run.ts'

type SystemRun = { readonly summary: RunSummary; readonly records: readonly CaseRecord[] }

const percent = (share: number | undefined): string => (share === undefined ? '' : (100 * share).toFixed(1))

/** For each system the share of messages whose evidence is within so many characters of its ranking. Null for other packs. */
export function budgetRows(runs: readonly SystemRun[]): readonly (readonly string[])[] | null {
  const names = Object.keys(runs[0]?.summary.metrics ?? {})
    .filter((name) => name.startsWith('within@'))
    .sort((a, b) => Number(a.slice(7)) - Number(b.slice(7)))
  if (names.length === 0) return null
  const title = ['evidence within characters, %', ...names.map((name) => name.slice(7)), 'characters shown unasked']
  const rows = runs.map(({ summary: { system, metrics = {} } }) => [
    system?.name ?? '',
    ...names.map((name) => percent(metrics[name])),
    metrics.characters?.toFixed(0) ?? 'only searches',
  ])
  return [title, ...rows]
}

const maxFalseFires = [0, 0.05, 0.1, 0.2, 0.5, 1]

/**
 * The least share of missed messages within each rate of false fires, at the best threshold for each system. Null if no
 * system has a curve.
 */
export function curveRows(runs: readonly SystemRun[]): readonly (readonly string[])[] | null {
  const curves = runs
    .map((run) => ({ name: run.summary.system?.name ?? '', curve: pushCurve(run.records) }))
    .filter(({ curve }) => curve.length > 0)
  if (curves.length === 0) return null
  const title = ['missed, % (threshold), if false fires are at most', ...curves.map(({ name }) => name)]
  const rows = maxFalseFires.map((most) => [
    `${100 * most} %`,
    ...curves.map(({ curve }) => {
      const point = pointWithin(curve, most)
      if (point === undefined) return ''
      const { threshold, missed } = point
      return `${percent(missed)} (${Number.isFinite(threshold) ? threshold.toFixed(2) : 'never'})`
    }),
  ])
  return [title, ...rows]
}
