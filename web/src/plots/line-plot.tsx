import { useState } from 'preact/hooks'
import { fixed, type Range, scale, spread, ticks } from './scale.ts'

/** A value at one moment, with the interval it is uncertain by, where one is known. */
export type PlotPoint = {
  readonly key: string
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
  /** What the values are compared with. */
  readonly reference?: { readonly value: number; readonly label: string } | null
  readonly onChoose?: (key: string) => void
}

const size = { width: 360, height: 150, left: 54, right: 12, top: 10, bottom: 12 }

/** Values over time with their intervals. The caption tells the value under the pointer, or the latest. */
export function LinePlot({
  title,
  points,
  format,
  limits = null,
  startsAtZero = false,
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
  const y = scale(range, [size.height - size.bottom, size.top])
  const span = scale([0, Math.max(1, points.length - 1)], [size.left + 8, size.width - size.right - 6])
  const x = (index: number): number => (points.length === 1 ? (size.left + size.width - size.right) / 2 : span(index))
  const nearest = (event: MouseEvent & { currentTarget: SVGSVGElement }): number => {
    const box = event.currentTarget.getBoundingClientRect()
    const at = ((event.clientX - box.left) / box.width) * size.width
    return points.reduce((best, _, index) => (Math.abs(x(index) - at) < Math.abs(x(best) - at) ? index : best), 0)
  }
  return (
    <figure class="plot">
      <figcaption>
        <span class="plot-title">{title}</span>
        <span class="plot-value number">{shown === undefined ? '–' : format(shown.value)}</span>
        <span class="plot-note">{shown === undefined ? 'no value yet' : noteOf(shown, format)}</span>
      </figcaption>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: a shortcut for the pointer; the table of runs has the same links. */}
      <svg
        viewBox={`0 0 ${size.width} ${size.height}`}
        role="img"
        aria-label={summary(title, points, format)}
        class={onChoose === undefined ? undefined : 'choosable'}
        onMouseMove={(event) => setChosen(nearest(event))}
        onMouseLeave={() => setChosen(null)}
        onClick={(event) => {
          const point = points[nearest(event)]
          if (point !== undefined) onChoose?.(point.key)
        }}
      >
        {ticks(range, 3).map((tick) => (
          <g key={tick}>
            <line class="grid" x1={size.left} x2={size.width - size.right} y1={fixed(y(tick))} y2={fixed(y(tick))} />
            <text x={size.left - 8} y={fixed(y(tick) + 3.5)} text-anchor="end">
              {format(tick)}
            </text>
          </g>
        ))}
        {reference === null ? null : (
          <line
            class="reference"
            x1={size.left}
            x2={size.width - size.right}
            y1={fixed(y(reference.value))}
            y2={fixed(y(reference.value))}
          />
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
            <circle cx={fixed(x(index))} cy={fixed(y(value))} r={index === chosen ? 4.5 : points.length > 24 ? 2 : 3} />
          </g>
        ))}
      </svg>
      {reference === null ? null : (
        <p class="plot-legend">
          <span class="dash" aria-hidden="true" /> {reference.label} {format(reference.value)}
        </p>
      )}
    </figure>
  )
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
