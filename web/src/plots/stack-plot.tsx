import { count } from '../format/numbers.ts'
import { endsOf, timeOf } from '../format/time.ts'
import { acrossPlot, endWords, PlotFrame, upPlot } from './plot-frame.tsx'
import { axis, fixed, reachOf, scale } from './scale.ts'

type Layer = { readonly name: string; readonly values: readonly { readonly day: string; readonly total: number }[] }

type StackPlotProps = { readonly title: string; readonly note: string; readonly layers: readonly Layer[] }

/** Sums over days, layer upon layer. */
export function StackPlot({ title, note, layers }: StackPlotProps) {
  const days = layers[0]?.values.map(({ day }) => day) ?? []
  const sums = days.map((_, at) => layers.reduce((sum, { values }) => sum + (values[at]?.total ?? 0), 0))
  const most = Math.max(1, ...sums)
  const marks = axis([0, most], { leastStep: 1 })
  const y = scale(reachOf(marks, [0, most]), upPlot)
  const [left, right] = acrossPlot
  const times = days.map(timeOf)
  const [from, to] = [times[0] ?? 0, times.at(-1) ?? 0]
  const across = scale([from, to > from ? to : from + 1], [left, right])
  // One day alone is a step over the whole width.
  const x = (at: number): number => (days.length === 1 ? (at === 0 ? left : right) : across(times[at] ?? to))
  const places = days.length === 1 ? [0, 1] : days.map((_, at) => at)
  const floor = new Map<number, number>()
  return (
    <PlotFrame
      title={title}
      value={count(sums.at(-1) ?? 0)}
      note={note}
      summary={`${title}: ${layers.map(({ name, values }) => `${name} ${count(values.at(-1)?.total ?? 0)}`).join(', ')}`}
      marks={marks.map((value) => ({ value, at: y(value), label: count(value) }))}
      ends={days.length === 0 ? [] : endWords(endsOf(days[0] ?? '', days.at(-1) ?? ''))}
      onPoint={() => undefined}
      legend={
        <ul class="plot-legend layers">
          {layers.map(({ name, values }, index) => (
            <li key={name}>
              <span class={`clause-dot clause-${index + 1}`} aria-hidden="true" />
              <span class="break">{name}</span> <span class="number soft">{count(values.at(-1)?.total ?? 0)}</span>
            </li>
          ))}
        </ul>
      }
    >
      {layers.map(({ name, values }, index) => {
        const lower = places.map((at) => `${fixed(x(at))},${fixed(y(floor.get(at) ?? 0))}`).reverse()
        const upper = places.map((at) => {
          const top = (floor.get(at) ?? 0) + (values[Math.min(at, values.length - 1)]?.total ?? 0)
          floor.set(at, top)
          return `${fixed(x(at))},${fixed(y(top))}`
        })
        return <polygon key={name} class={`layer clause-${index + 1}`} points={[...upper, ...lower].join(' ')} />
      })}
    </PlotFrame>
  )
}
