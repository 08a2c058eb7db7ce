import { useState } from 'preact/hooks'
import { endsOf, timeOf } from '../format/time.ts'
import { acrossPlot, endWords, PlotFrame, upPlot } from './plot-frame.tsx'
import { axis, fixed, type Range, reachOf, scale, spread } from './scale.ts'

/** A value at one moment, with the interval it is uncertain by, where one is known. */
export type PlotPoint = {
  readonly key: string
  /** When: a moment or a day. */
  readonly at: string
  readonly value: number
  readonly low: number | null
  readonly high: number | null
  /** What it is a value of, in a few words. */
  readonly label: string
}

type LinePlotProps = {
  readonly title: string
  /** Oldest first. */
  readonly points: readonly PlotPoint[]
  readonly format: (value: number) => string
  /** The lowest and highest value there can be. */
  readonly limits?: Range | null
  /** For what is compared by its size, such as time. */
  readonly startsAtZero?: boolean
  /** Whether points stand apart as their moments do, or one step each. */
  readonly isByTime?: boolean
  /** What the values are compared with. */
  readonly reference?: { readonly value: number; readonly label: string } | null
  readonly onChoose?: (key: string) => void
}

/** Values over time with their intervals. The caption tells the value under the pointer, or the latest. */
export function LinePlot({
  title,
  points,
  format,
  limits = null,
  startsAtZero = false,
  isByTime = false,
  reference = null,
  onChoose,
}: LinePlotProps) {
  const [chosen, setChosen] = useState<number | null>(null)
  const shown = points[chosen ?? points.length - 1]
  const bounds = points.flatMap(({ value, low, high }) => [value, low ?? value, high ?? value])
  const range = spread(
    [...bounds, ...(startsAtZero ? [0] : []), ...(reference === null ? [] : [reference.value])],
    limits,
  )
  const marks = axis(range, { limits })
  const y = scale(reachOf(marks, range), upPlot)
  const x = placesOf(points, isByTime)
  const nearest = (at: number): number =>
    points.reduce((best, _, index) => (Math.abs(x(index) - at) < Math.abs(x(best) - at) ? index : best), 0)
  const choose = (at: number) => {
    const point = points[nearest(at)]
    if (point !== undefined) onChoose?.(point.key)
  }
  const [first, last] = [points[0], points.at(-1)]
  const [left, right] = acrossPlot
  return (
    <PlotFrame
      title={title}
      value={shown === undefined ? '–' : format(shown.value)}
      note={shown === undefined ? 'no value yet' : noteOf(shown, format)}
      summary={summary(title, points, format)}
      marks={marks.map((value) => ({ value, at: y(value), label: format(value) }))}
      ends={first === undefined || last === undefined ? [] : endWords(endsOf(first.at, last.at))}
      onPoint={(at) => setChosen(at === null || points.length === 0 ? null : nearest(at))}
      onChoose={onChoose === undefined ? undefined : choose}
      legend={
        reference === null ? null : (
          <p class="plot-legend">
            <span class="dash" aria-hidden="true" /> {reference.label} {format(reference.value)}
          </p>
        )
      }
    >
      {reference === null ? null : (
        <line class="reference" x1={left} x2={right} y1={fixed(y(reference.value))} y2={fixed(y(reference.value))} />
      )}
      <polygon class="band" points={bandOf(points, x, y)} />
      <polyline
        class="line"
        points={points.map(({ value }, index) => `${fixed(x(index))},${fixed(y(value))}`).join(' ')}
      />
      {points.map(({ key, value, low, high }, index) => (
        <g key={key} class={index === chosen ? 'point chosen' : 'point'}>
          {low === null || high === null ? null : (
            <line class="whisker" x1={fixed(x(index))} x2={fixed(x(index))} y1={fixed(y(low))} y2={fixed(y(high))} />
          )}
          {/* Many points are a line. */}
          {points.length > 24 && index !== chosen ? null : (
            <circle cx={fixed(x(index))} cy={fixed(y(value))} r={index === chosen ? 4.5 : 3} />
          )}
        </g>
      ))}
    </PlotFrame>
  )
}

/** Where the points stand from left to right. One alone, or all at one moment, stand in the middle. */
function placesOf(points: readonly PlotPoint[], isByTime: boolean): (index: number) => number {
  const [left, right] = acrossPlot
  const places = points.map(({ at }, index) => (isByTime ? timeOf(at) : index))
  const [first, last] = [places[0] ?? 0, places.at(-1) ?? 0]
  if (!(last > first)) return () => (left + right) / 2
  const across = scale([first, last], [left + 8, right - 6])
  return (index) => across(places[index] ?? last)
}

function bandOf(points: readonly PlotPoint[], x: (index: number) => number, y: (value: number) => number): string {
  const at = (index: number, value: number) => `${fixed(x(index))},${fixed(y(value))}`
  const upper = points.map(({ value, high }, index) => at(index, high ?? value))
  const lower = points.map(({ value, low }, index) => at(index, low ?? value)).reverse()
  return [...upper, ...lower].join(' ')
}

const noteOf = ({ low, high, label }: PlotPoint, format: (value: number) => string): string =>
  low === null || high === null ? label : `${label} · 95 %: ${format(low)} to ${format(high)}`

function summary(title: string, points: readonly PlotPoint[], format: (value: number) => string): string {
  const [first, last] = [points[0], points.at(-1)]
  if (first === undefined || last === undefined) return `${title}: no values yet`
  if (points.length === 1) return `${title}: ${format(first.value)}, one value`
  return `${title}: ${points.length} values, from ${format(first.value)} to ${format(last.value)}`
}
