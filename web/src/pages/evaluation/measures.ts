import type { ListedBaseline, ListedRun } from '../../../../src/http/api/contract.ts'
import { figure, milliseconds, percent } from '../../format/numbers.ts'
import { dateTimeText } from '../../format/time.ts'
import type { PlotPoint } from '../../plots/plots.tsx'
import type { Range } from '../../plots/scale.ts'
import { metricName, runTime } from './words.ts'

/** The accepted figures of a pack. */
export type Accepted = ListedBaseline['benchmarks'][number]

type Measure = {
  readonly title: string
  readonly points: readonly PlotPoint[]
  readonly format: (value: number) => string
  readonly limits?: Range | null
  readonly startsAtZero?: boolean
  /** The accepted value. */
  readonly base?: number | undefined
  readonly note?: string
}

/** The figures of a pack over several runs, oldest first. */
export function measuresOf(history: readonly ListedRun[], accepted: Accepted | null): readonly Measure[] {
  const names = [...new Set(history.flatMap(({ run }) => Object.keys(run.metrics ?? {})))].sort()
  const { p95Ms } = history.at(-1)?.run.latency ?? {}
  return [
    {
      title: 'Pass rate',
      points: history.flatMap((listed) =>
        listed.passRate === null ? [] : [{ ...pointOf(listed), value: listed.passRate, ...listed.passInterval }],
      ),
      format: percent,
      limits: [0, 1],
      base: accepted?.passRate,
    },
    ...names.map((name) => {
      const limits = limitsOf(name, history)
      const points = history.flatMap((listed) => metricPoint(listed, name, limits))
      return { title: metricName(name), points, format: figure, limits, base: accepted?.metrics[name] }
    }),
    {
      title: 'Time per case, median',
      points: history.flatMap((listed) => {
        const value = listed.run.latency?.p50Ms
        return value === undefined ? [] : [{ ...pointOf(listed), value }]
      }),
      format: milliseconds,
      startsAtZero: true,
      ...(p95Ms === undefined ? {} : { note: `95 % take at most ${milliseconds(p95Ms)}` }),
    },
  ]
}

/** A measure of a single run, shown as a number; empty if the run does not have it. */
export function figureOf({ title, points: [point], format, base, note }: Measure) {
  if (point === undefined) return []
  const { value, low, high } = point
  const notes = [
    ...(low === undefined || high === undefined ? [] : [`95 %: ${format(low)} to ${format(high)}`]),
    ...(base === undefined ? [] : [`baseline ${format(base)}`]),
    ...(note === undefined ? [] : [note]),
  ]
  return [{ name: title, value: format(value), note: notes.join(', ') }]
}

const pointOf = (listed: ListedRun): Pick<PlotPoint, 'key' | 'at' | 'label'> => ({
  key: listed.run.runId,
  at: runTime(listed),
  label: dateTimeText(runTime(listed)),
})

function metricPoint(listed: ListedRun, name: string, limits: Range | null): readonly PlotPoint[] {
  const value = listed.run.metrics?.[name]
  if (value === undefined) return []
  const interval = listed.run.intervals?.[name]
  // If all cases have the same score, the interval is empty, which would look like certainty; so none is shown.
  if (interval === undefined || interval.high - interval.low < 1e-9) return [{ ...pointOf(listed), value }]
  const [min, max] = limits ?? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
  return [{ ...pointOf(listed), value, low: Math.max(min, interval.low), high: Math.min(max, interval.high) }]
}

/** The declared range of a metric. Without one: 0 to 1 if all its values are in that range, else null. */
function limitsOf(name: string, history: readonly ListedRun[]): Range | null {
  const [min, max] = history.at(-1)?.run.metricDeclarations?.find((one) => one.name === name)?.range ?? []
  if (min !== undefined && max !== undefined) return [min, max]
  const values = history.flatMap(({ run }) => run.metrics?.[name] ?? [])
  return values.every((value) => value >= 0 && value <= 1) ? [0, 1] : null
}
