import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { count, pluralize } from '../format/numbers.ts'
import { dayOf, endsOf, timeOf } from '../format/time.ts'
import { axis, type Range, reachOf, roundCoordinate, scale, spread } from './scale.ts'

/** The layout of every plot, in SVG units. */
export const plotSize = { width: 360, height: 164, left: 52, right: 12, top: 10, bottom: 26 }

/** The horizontal range from left to right, and the vertical one from bottom to top. */
export const acrossPlot = [plotSize.left, plotSize.width - plotSize.right] as const
export const upPlot = [plotSize.height - plotSize.bottom, plotSize.top] as const

type PlotFrameProps = {
  readonly title: string
  /** The number in the caption, and its explanation. */
  readonly value: string
  readonly note: string
  /** For screen readers. */
  readonly summary: string
  readonly marks: readonly { readonly value: number; readonly at: number; readonly label: string }[]
  /** The labels below both ends, or one in the middle. */
  readonly ends: readonly string[]
  readonly onPoint: (at: number | null) => void
  readonly onChoose?: ((at: number) => void) | undefined
  readonly legend?: ComponentChildren
  readonly children: ComponentChildren
}

/** The common parts of all plots: the caption, the grid lines, the labels below, and the pointer. */
export function PlotFrame({
  title,
  value,
  note,
  summary,
  marks,
  ends,
  onPoint,
  onChoose,
  legend,
  children,
}: PlotFrameProps) {
  const place = (event: MouseEvent & { currentTarget: SVGSVGElement }): number => {
    const box = event.currentTarget.getBoundingClientRect()
    return ((event.clientX - box.left) / box.width) * plotSize.width
  }
  const [left, right] = acrossPlot
  return (
    <figure class="plot panel">
      <figcaption>
        <b class="small break">{title}</b>
        <span class="plot-value number">{value}</span>
        <span class="soft clip">{note}</span>
      </figcaption>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: a shortcut for the pointer; the table next to it has the same links. */}
      <svg
        viewBox={`0 0 ${plotSize.width} ${plotSize.height}`}
        role="img"
        aria-label={summary}
        class={onChoose === undefined ? undefined : 'choosable'}
        onMouseMove={(event) => onPoint(place(event))}
        onMouseLeave={() => onPoint(null)}
        onClick={(event) => onChoose?.(place(event))}
      >
        {marks.map((mark) => (
          <g key={mark.value}>
            <line class="grid" x1={left} x2={right} y1={roundCoordinate(mark.at)} y2={roundCoordinate(mark.at)} />
            <text x={left - 8} y={roundCoordinate(mark.at + 3.5)} text-anchor="end">
              {mark.label}
            </text>
          </g>
        ))}
        {children}
        {ends.map((end, index) => (
          <text
            key={index}
            x={ends.length === 1 ? (left + right) / 2 : index === 0 ? left : right}
            y={plotSize.height - 6}
            text-anchor={ends.length === 1 ? 'middle' : index === 0 ? 'start' : 'end'}
          >
            {end}
          </text>
        ))}
      </svg>
      {legend}
    </figure>
  )
}

/** The labels below a plot: both ends, or one if they are equal. */
export const endWords = ([first, last]: readonly [string, string]): readonly string[] =>
  first === last ? [first] : [first, last]

/** A value at a point in time, with its confidence interval if it is known. */
export type PlotPoint = {
  readonly key: string
  /** A time or a day. */
  readonly at: string
  readonly value: number
  readonly low?: number
  readonly high?: number
  /** A short description. */
  readonly label: string
}

type LinePlotProps = {
  readonly title: string
  /** Oldest first. */
  readonly points: readonly PlotPoint[]
  readonly format: (value: number) => string
  /** The range of possible values. */
  readonly limits?: Range | null
  /** For values whose ratio matters, such as times. */
  readonly startsAtZero?: boolean
  /** Whether points are placed by their time, or one step apart. */
  readonly isByTime?: boolean
  /** A horizontal line to compare with. */
  readonly reference?: { readonly value: number; readonly label: string } | null
  readonly onChoose?: (key: string) => void
}

/** Values over time with their intervals. The caption shows the value under the pointer, or the latest. */
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
  const first = points[0]
  const last = points.at(-1)
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
          <p class="row soft small">
            <span class="dash" aria-hidden="true" /> {reference.label} {format(reference.value)}
          </p>
        )
      }
    >
      {reference === null ? null : (
        <line
          class="reference"
          x1={left}
          x2={right}
          y1={roundCoordinate(y(reference.value))}
          y2={roundCoordinate(y(reference.value))}
        />
      )}
      <polygon class="band" points={bandOf(points, x, y)} />
      <polyline
        class="line"
        points={points.map(({ value }, index) => `${roundCoordinate(x(index))},${roundCoordinate(y(value))}`).join(' ')}
      />
      {points.map(({ key, value, low, high }, index) => (
        <g key={key} class={index === chosen ? 'point chosen' : 'point'}>
          {low === undefined || high === undefined ? null : (
            <line
              class="whisker"
              x1={roundCoordinate(x(index))}
              x2={roundCoordinate(x(index))}
              y1={roundCoordinate(y(low))}
              y2={roundCoordinate(y(high))}
            />
          )}
          {/* Many points are a line. */}
          {points.length > 24 && index !== chosen ? null : (
            <circle cx={roundCoordinate(x(index))} cy={roundCoordinate(y(value))} r={index === chosen ? 4.5 : 3} />
          )}
        </g>
      ))}
    </PlotFrame>
  )
}

/** The horizontal positions of the points. A single point, or points of one time, are in the middle. */
function placesOf(points: readonly PlotPoint[], isByTime: boolean): (index: number) => number {
  const [left, right] = acrossPlot
  const places = points.map(({ at }, index) => (isByTime ? timeOf(at) : index))
  const first = places[0] ?? 0
  const last = places.at(-1) ?? 0
  if (!(last > first)) return () => (left + right) / 2
  const across = scale([first, last], [left + 8, right - 6])
  return (index) => across(places[index] ?? last)
}

function bandOf(points: readonly PlotPoint[], x: (index: number) => number, y: (value: number) => number): string {
  const at = (index: number, value: number) => `${roundCoordinate(x(index))},${roundCoordinate(y(value))}`
  const upper = points.map(({ value, high }, index) => at(index, high ?? value))
  const lower = points.map(({ value, low }, index) => at(index, low ?? value)).reverse()
  return [...upper, ...lower].join(' ')
}

const noteOf = ({ low, high, label }: PlotPoint, format: (value: number) => string): string =>
  low === undefined || high === undefined ? label : `${label} · 95 %: ${format(low)} to ${format(high)}`

function summary(title: string, points: readonly PlotPoint[], format: (value: number) => string): string {
  const first = points[0]
  const last = points.at(-1)
  if (first === undefined || last === undefined) return `${title}: no values yet`
  if (points.length === 1) return `${title}: ${format(first.value)}, one value`
  return `${title}: ${points.length} values, from ${format(first.value)} to ${format(last.value)}`
}

export type Bar = { readonly day: string; readonly value: number }

type BarPlotProps = {
  readonly title: string
  /** One for each day, oldest first, without gaps. */
  readonly bars: readonly Bar[]
  readonly format: (value: number) => string
  readonly total: string
}

/** Counts by day. The caption shows the one under the pointer, or the sum. */
export function BarPlot({ title, bars, format, total }: BarPlotProps) {
  const [chosen, setChosen] = useState<number | null>(null)
  const shown = chosen === null ? undefined : bars[chosen]
  const most = Math.max(1, ...bars.map(({ value }) => value))
  const marks = axis([0, most], { minStep: 1 })
  const y = scale(reachOf(marks, [0, most]), upPlot)
  const [left, right] = acrossPlot
  const step = (right - left) / Math.max(bars.length, 1)
  const width = Math.min(step * 0.72, 28)
  const first = bars[0]
  const last = bars.at(-1)
  return (
    <PlotFrame
      title={title}
      value={shown === undefined ? total : format(shown.value)}
      note={shown === undefined ? pluralize(bars.length, 'day') : dayOf(shown.day)}
      summary={`${title}: ${total} over ${pluralize(bars.length, 'day')}`}
      marks={marks.map((value) => ({ value, at: y(value), label: format(value) }))}
      ends={first === undefined || last === undefined ? [] : endWords(endsOf(first.day, last.day))}
      onPoint={(at) => {
        const index = at === null ? -1 : Math.floor((at - left) / step)
        setChosen(bars[index] === undefined ? null : index)
      }}
    >
      {bars.map(({ day, value }, index) => (
        <rect
          key={day}
          class={index === chosen ? 'plotted chosen' : 'plotted'}
          x={roundCoordinate(left + index * step + (step - width) / 2)}
          y={roundCoordinate(y(value))}
          width={roundCoordinate(width)}
          height={roundCoordinate(plotSize.height - plotSize.bottom - y(value))}
          rx="2"
        />
      ))}
    </PlotFrame>
  )
}

type Layer = { readonly name: string; readonly values: readonly { readonly day: string; readonly total: number }[] }

type StackPlotProps = { readonly title: string; readonly note: string; readonly layers: readonly Layer[] }

const layerStyle = (index: number) => ({ '--layer': `var(--clause-${index + 1})` })

/** Totals by day as stacked layers. */
export function StackPlot({ title, note, layers }: StackPlotProps) {
  const days = layers[0]?.values.map(({ day }) => day) ?? []
  const sums = days.map((_, at) => layers.reduce((sum, { values }) => sum + (values[at]?.total ?? 0), 0))
  const most = Math.max(1, ...sums)
  const marks = axis([0, most], { minStep: 1 })
  const y = scale(reachOf(marks, [0, most]), upPlot)
  const [left, right] = acrossPlot
  const times = days.map(timeOf)
  const from = times[0] ?? 0
  const to = times.at(-1) ?? 0
  const across = scale([from, to > from ? to : from + 1], [left, right])
  // A single day spans the whole width.
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
        <ul class="row soft small">
          {layers.map(({ name, values }, index) => (
            <li key={name} class="row">
              <span class="dot layer" style={layerStyle(index)} aria-hidden="true" />
              <span class="break">{name}</span> <span class="number">{count(values.at(-1)?.total ?? 0)}</span>
            </li>
          ))}
        </ul>
      }
    >
      {layers.map(({ name, values }, index) => {
        const lower = places
          .map((at) => `${roundCoordinate(x(at))},${roundCoordinate(y(floor.get(at) ?? 0))}`)
          .reverse()
        const upper = places.map((at) => {
          const top = (floor.get(at) ?? 0) + (values[Math.min(at, values.length - 1)]?.total ?? 0)
          floor.set(at, top)
          return `${roundCoordinate(x(at))},${roundCoordinate(y(top))}`
        })
        return <polygon key={name} class="layer" style={layerStyle(index)} points={[...upper, ...lower].join(' ')} />
      })}
    </PlotFrame>
  )
}

const size = { width: 96, height: 24, pad: 3 }

/** A small line of values from 0 to 1; the last one is marked. */
export function Sparkline({ values, label }: { readonly values: readonly number[]; readonly label: string }) {
  if (values.length < 2) return null
  const x = scale([0, values.length - 1], [size.pad, size.width - size.pad])
  const y = scale([0, 1], [size.height - size.pad, size.pad])
  const points = values.map((value, index) => `${roundCoordinate(x(index))},${roundCoordinate(y(value))}`)
  const last = values.length - 1
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${size.width} ${size.height}`}
      width={size.width}
      role="img"
      aria-label={label}
    >
      <polyline class="line" points={points.join(' ')} />
      <circle cx={roundCoordinate(x(last))} cy={roundCoordinate(y(values[last] ?? 0))} r="2.5" />
    </svg>
  )
}
