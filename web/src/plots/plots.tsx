import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { count } from '../format/numbers.ts'
import { dayOf, rangeLabels } from '../format/time.ts'
import { axis, axisRange, type Range, roundCoordinate, scale, spread } from './scale.ts'

/** The layout of every plot, in SVG units. */
const plotSize = { width: 360, height: 164, left: 52, right: 12, top: 10, bottom: 26 }

/** The drawing area: x from left to right, y from bottom to top. */
const acrossPlot = [plotSize.left, plotSize.width - plotSize.right] as const
const upPlot = [plotSize.height - plotSize.bottom, plotSize.top] as const

type PlotFrameProps = {
  readonly title: string
  /** The number in the caption, and a note on it. */
  readonly value: string
  readonly note: string
  /** The label for screen readers. */
  readonly summary: string
  readonly marks: readonly { readonly value: number; readonly at: number; readonly label: string }[]
  /** The labels below the two ends. Equal labels become one in the middle. */
  readonly ends: readonly string[]
  readonly onPoint: (at: number | null) => void
  readonly legend?: ComponentChildren
  readonly children: ComponentChildren
}

/** The common parts of all plots: caption, grid lines, labels below, and tracking of the pointer. */
function PlotFrame({ title, value, note, summary, marks, ends, onPoint, legend, children }: PlotFrameProps) {
  const labels = [...new Set(ends)]
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
      <svg
        viewBox={`0 0 ${plotSize.width} ${plotSize.height}`}
        role="img"
        aria-label={summary}
        onMouseMove={(event) => onPoint(place(event))}
        onMouseLeave={() => onPoint(null)}
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
        {labels.map((label, index) => (
          <text
            key={label}
            x={labels.length === 1 ? (left + right) / 2 : index === 0 ? left : right}
            y={plotSize.height - 6}
            text-anchor={labels.length === 1 ? 'middle' : index === 0 ? 'start' : 'end'}
          >
            {label}
          </text>
        ))}
      </svg>
      {legend}
    </figure>
  )
}

/** A value at a point in time, with its confidence interval if it is known. */
export type PlotPoint = {
  readonly key: string
  /** A time or a day. */
  readonly at: string
  readonly value: number
  readonly low?: number
  readonly high?: number
  readonly label: string
}

type LinePlotProps = {
  readonly title: string
  /** Oldest first. */
  readonly points: readonly PlotPoint[]
  readonly format: (value: number) => string
  /** The range of possible values. */
  readonly limits?: Range | null
  /** Set for values whose ratio matters, such as times. */
  readonly startsAtZero?: boolean
  /** A horizontal line for comparison. */
  readonly reference?: { readonly value: number; readonly label: string } | null
}

/** Values over time with their intervals. The caption shows the value under the pointer, or the latest. */
export function LinePlot({
  title,
  points,
  format,
  limits = null,
  startsAtZero = false,
  reference = null,
}: LinePlotProps) {
  const [chosen, setChosen] = useState<number | null>(null)
  const shown = points[chosen ?? points.length - 1]
  const bounds = points.flatMap(({ value, low, high }) => [value, low ?? value, high ?? value])
  const range = spread(
    [...bounds, ...(startsAtZero ? [0] : []), ...(reference === null ? [] : [reference.value])],
    limits,
  )
  const marks = axis(range, { limits })
  const y = scale(axisRange(marks, range), upPlot)
  const [left, right] = acrossPlot
  const across = scale([0, points.length - 1], [left + 8, right - 6])
  const x = (index: number): number => (points.length === 1 ? (left + right) / 2 : across(index))
  const nearest = (at: number): number =>
    points.reduce((best, _, index) => (Math.abs(x(index) - at) < Math.abs(x(best) - at) ? index : best), 0)
  const first = points[0]
  const last = points.at(-1)
  return (
    <PlotFrame
      title={title}
      value={shown === undefined ? '–' : format(shown.value)}
      note={shown === undefined ? 'no value yet' : intervalNote(shown, format)}
      summary={summary(title, points, format)}
      marks={marks.map((value) => ({ value, at: y(value), label: format(value) }))}
      ends={first === undefined || last === undefined ? [] : rangeLabels(first.at, last.at)}
      onPoint={(at) => setChosen(at === null || points.length === 0 ? null : nearest(at))}
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
      {points.map(({ key, value }, index) => (
        <g key={key} class={index === chosen ? 'point chosen' : 'point'}>
          {/* Circles of many points would hide the line. */}
          {points.length > 24 && index !== chosen ? null : (
            <circle cx={roundCoordinate(x(index))} cy={roundCoordinate(y(value))} r={index === chosen ? 4.5 : 3} />
          )}
        </g>
      ))}
    </PlotFrame>
  )
}

function bandOf(points: readonly PlotPoint[], x: (index: number) => number, y: (value: number) => number): string {
  const at = (index: number, value: number) => `${roundCoordinate(x(index))},${roundCoordinate(y(value))}`
  const upper = points.map(({ value, high }, index) => at(index, high ?? value))
  const lower = points.map(({ value, low }, index) => at(index, low ?? value)).reverse()
  return [...upper, ...lower].join(' ')
}

const intervalNote = ({ low, high, label }: PlotPoint, format: (value: number) => string): string =>
  low === undefined || high === undefined ? label : `${label} · 95 %: ${format(low)} to ${format(high)}`

function summary(title: string, points: readonly PlotPoint[], format: (value: number) => string): string {
  const first = points[0]
  const last = points.at(-1)
  if (first === undefined || last === undefined) return `${title}: no values yet`
  if (points.length === 1) return `${title}: ${format(first.value)}, one value`
  return `${title}: ${points.length} values, from ${format(first.value)} to ${format(last.value)}`
}

type BarPlotProps = {
  readonly title: string
  /** Consecutive days. */
  readonly days: readonly string[]
  /** Parts of the bars from the bottom up, with a value for each day. */
  readonly layers: readonly { readonly name: string; readonly values: readonly number[] }[]
  /** Summarizes the values of all days, for example as their sum. */
  readonly overall: (values: readonly number[]) => number
  readonly note: string
}

const layerStyle = (index: number) => ({ '--layer': `var(--clause-${index + 1})` })

/** Counts by day as stacked bars. The caption and the legend show the day under the pointer, or all days. */
export function BarPlot({ title, days, layers, overall, note }: BarPlotProps) {
  const [chosen, setChosen] = useState<number | null>(null)
  const shownOf = (values: readonly number[]): number => (chosen === null ? overall(values) : (values[chosen] ?? 0))
  const sums = days.map((_, at) => layers.reduce((sum, { values }) => sum + (values[at] ?? 0), 0))
  const maxSum = Math.max(1, ...sums)
  const marks = axis([0, maxSum], { minStep: 1 })
  const y = scale(axisRange(marks, [0, maxSum]), upPlot)
  const [left, right] = acrossPlot
  const step = (right - left) / Math.max(days.length, 1)
  const width = Math.min(step * 0.72, 28)
  return (
    <PlotFrame
      title={title}
      value={count(shownOf(sums))}
      note={chosen === null ? note : dayOf(days[chosen] ?? '')}
      summary={`${title}: ${layers.map(({ name, values }) => `${name} ${count(overall(values))}`).join(', ')}`}
      marks={marks.map((value) => ({ value, at: y(value), label: count(value) }))}
      ends={rangeLabels(days[0] ?? '', days.at(-1) ?? '')}
      onPoint={(at) => {
        const index = at === null ? -1 : Math.floor((at - left) / step)
        setChosen(days[index] === undefined ? null : index)
      }}
      legend={
        <ul class="row soft small">
          {layers.map(({ name, values }, index) => (
            <li key={name} class="row">
              <span class="dot layer" style={layerStyle(index)} aria-hidden="true" />
              <span class="break">{name}</span> <span class="number">{count(shownOf(values))}</span>
            </li>
          ))}
        </ul>
      }
    >
      {days.map((day, at) => {
        let below = 0
        return layers.map(({ name, values }, index) => {
          const top = y(below + (values[at] ?? 0))
          const height = y(below) - top
          below += values[at] ?? 0
          return height <= 0 ? null : (
            <rect
              key={`${day}-${name}`}
              class="layer"
              style={layerStyle(index)}
              opacity={chosen === null || chosen === at ? 1 : 0.6}
              x={roundCoordinate(left + at * step + (step - width) / 2)}
              y={roundCoordinate(top)}
              width={roundCoordinate(width)}
              height={roundCoordinate(height)}
            />
          )
        })
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
