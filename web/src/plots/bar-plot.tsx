import { useState } from 'preact/hooks'
import { fixed, scale, ticks } from './scale.ts'

export type Bar = { readonly key: string; readonly value: number; readonly label: string }

const size = { width: 360, height: 150, left: 54, right: 12, top: 10, bottom: 12 }

/** Counts over days, from nothing upwards. The caption tells the one under the pointer, or the sum. */
export function BarPlot({
  title,
  bars,
  format,
  total,
}: {
  readonly title: string
  readonly bars: readonly Bar[]
  readonly format: (value: number) => string
  readonly total: string
}) {
  const [chosen, setChosen] = useState<number | null>(null)
  const shown = chosen === null ? undefined : bars[chosen]
  const most = Math.max(1, ...bars.map(({ value }) => value))
  const y = scale([0, most], [size.height - size.bottom, size.top])
  const step = (size.width - size.left - size.right) / Math.max(bars.length, 1)
  const width = Math.min(step * 0.72, 28)
  return (
    <figure class="plot">
      <figcaption>
        <span class="plot-title">{title}</span>
        <span class="plot-value number">{shown === undefined ? total : format(shown.value)}</span>
        <span class="plot-note">
          {shown === undefined ? `${bars.length} ${bars.length === 1 ? 'day' : 'days'}` : shown.label}
        </span>
      </figcaption>
      <svg
        viewBox={`0 0 ${size.width} ${size.height}`}
        role="img"
        aria-label={`${title}: ${total} over ${bars.length} days`}
        onMouseMove={(event) => {
          const box = event.currentTarget.getBoundingClientRect()
          const at = Math.floor((((event.clientX - box.left) / box.width) * size.width - size.left) / step)
          setChosen(bars[at] === undefined ? null : at)
        }}
        onMouseLeave={() => setChosen(null)}
      >
        {ticks([0, most], 3).map((tick) => (
          <g key={tick}>
            <line class="grid" x1={size.left} x2={size.width - size.right} y1={fixed(y(tick))} y2={fixed(y(tick))} />
            <text x={size.left - 8} y={fixed(y(tick) + 3.5)} text-anchor="end">
              {format(tick)}
            </text>
          </g>
        ))}
        {bars.map(({ key, value }, index) => (
          <g key={key}>
            <rect
              class={index === chosen ? 'bar chosen' : 'bar'}
              x={fixed(size.left + index * step + (step - width) / 2)}
              y={fixed(y(value))}
              width={fixed(width)}
              height={fixed(size.height - size.bottom - y(value))}
              rx="2"
            />
          </g>
        ))}
      </svg>
    </figure>
  )
}
