import type { ListedBaseline, ListedRun } from '../../../../../src/http/api/contract.ts'
import { figure, milliseconds, percent } from '../../../format/numbers.ts'
import { moment } from '../../../format/time.ts'
import { navigate } from '../../../navigation/router.ts'
import { LinePlot, type PlotPoint } from '../../../plots/line-plot.tsx'
import type { Range } from '../../../plots/scale.ts'
import { metricName, runAddress, whenOf } from '../run-words.ts'

/** The figures that were accepted for a pack, where some were. */
export type Accepted = ListedBaseline['benchmarks'][number] | null

/** Every figure of a pack over its completed runs, oldest first. */
export function RunPlots({
  history,
  accepted,
}: {
  readonly history: readonly ListedRun[]
  readonly accepted: Accepted
}) {
  const choose = (runId: string) => navigate(runAddress(runId))
  const names = [...new Set(history.flatMap(({ run }) => Object.keys(run.metrics ?? {})))].sort()
  const [only] = history
  if (history.length === 1 && only !== undefined) return <Figures listed={only} names={names} accepted={accepted} />
  return (
    <div class="plots">
      <LinePlot
        title="Pass rate"
        points={history.flatMap(passPoint)}
        format={percent}
        limits={[0, 1]}
        reference={accepted === null ? null : { value: accepted.passRate, label: 'baseline' }}
        onChoose={choose}
      />
      {names.map((name) => {
        const limits = limitsOf(name, history)
        const base = accepted?.metrics[name]
        return (
          <LinePlot
            key={name}
            title={metricName(name)}
            points={history.flatMap((listed) => metricPoint(listed, name, limits))}
            format={figure}
            limits={limits}
            reference={base === undefined ? null : { value: base, label: 'baseline' }}
            onChoose={choose}
          />
        )
      })}
      <LinePlot
        title="Time per case, median"
        points={history.flatMap(timePoint)}
        format={milliseconds}
        startsAtZero
        onChoose={choose}
      />
    </div>
  )
}

type FiguresProps = { readonly listed: ListedRun; readonly names: readonly string[]; readonly accepted: Accepted }

/** The figures of the only run: one point makes no line. */
function Figures({ listed, names, accepted }: FiguresProps) {
  const shown = (name: string, [point]: readonly PlotPoint[], format: (value: number) => string, base?: number) => {
    if (point === undefined) return null
    const { value, low, high } = point
    const notes = [
      ...(low === null || high === null ? [] : [`95 %: ${format(low)} to ${format(high)}`]),
      ...(base === undefined ? [] : [`baseline ${format(base)}`]),
    ]
    return (
      <div key={name}>
        <dt>{name}</dt>
        <dd class="number">{format(value)}</dd>
        <dd class="figure-note">{notes.join(', ')}</dd>
      </div>
    )
  }
  return (
    <dl class="figures">
      {shown('Pass rate', passPoint(listed), percent, accepted?.passRate)}
      {names.map((name) =>
        shown(metricName(name), metricPoint(listed, name, limitsOf(name, [listed])), figure, accepted?.metrics[name]),
      )}
      {shown('Time per case, median', timePoint(listed), milliseconds)}
    </dl>
  )
}

const pointOf = (listed: ListedRun): Pick<PlotPoint, 'key' | 'at' | 'label'> => ({
  key: listed.run.runId,
  at: whenOf(listed),
  label: moment(whenOf(listed)),
})

const timePoint = (listed: ListedRun): readonly PlotPoint[] => {
  const value = listed.run.latency?.p50Ms
  return value === undefined ? [] : [{ ...pointOf(listed), value, low: null, high: null }]
}

const passPoint = (listed: ListedRun): readonly PlotPoint[] =>
  listed.passRate === null
    ? []
    : [
        {
          ...pointOf(listed),
          value: listed.passRate,
          low: listed.passInterval?.low ?? null,
          high: listed.passInterval?.high ?? null,
        },
      ]

function metricPoint(listed: ListedRun, name: string, limits: Range | null): readonly PlotPoint[] {
  const value = listed.run.metrics?.[name]
  if (value === undefined) return []
  const interval = listed.run.intervals?.[name]
  // Cases that all have the same score do not make the next one certain: no interval is better than a false one.
  if (interval === undefined || interval.high - interval.low < 1e-9)
    return [{ ...pointOf(listed), value, low: null, high: null }]
  const [least, most] = limits ?? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
  return [{ ...pointOf(listed), value, low: Math.max(least, interval.low), high: Math.min(most, interval.high) }]
}

/** As declared; a figure that never left 0 to 1 is taken for a share, which can leave it nowhere. */
function limitsOf(name: string, history: readonly ListedRun[]): Range | null {
  const [least, most] = history.at(-1)?.run.metricDeclarations?.find((one) => one.name === name)?.range ?? []
  if (least !== undefined && most !== undefined) return [least, most]
  const values = history.flatMap(({ run }) => run.metrics?.[name] ?? [])
  return values.every((value) => value >= 0 && value <= 1) ? [0, 1] : null
}
