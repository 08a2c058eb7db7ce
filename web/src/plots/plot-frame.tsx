import type { ComponentChildren } from 'preact'
import { fixed } from './scale.ts'

/** Where things are in every plot, in its own units. */
export const plotSize = { width: 360, height: 164, left: 52, right: 12, top: 10, bottom: 26 }

/** From the left end of the plot to the right one, and from its foot to its top. */
export const acrossPlot = [plotSize.left, plotSize.width - plotSize.right] as const
export const upPlot = [plotSize.height - plotSize.bottom, plotSize.top] as const

type PlotFrameProps = {
  readonly title: string
  /** The figure that is told in the caption, and what it is a figure of. */
  readonly value: string
  readonly note: string
  /** What somebody hears who cannot see the picture. */
  readonly summary: string
  readonly marks: readonly { readonly value: number; readonly at: number; readonly label: string }[]
  /** What stands below the two ends, or once in the middle. */
  readonly ends: readonly string[]
  readonly onPoint: (at: number | null) => void
  readonly onChoose?: ((at: number) => void) | undefined
  readonly legend?: ComponentChildren
  readonly children: ComponentChildren
}

/** What all plots share: the caption, the lines of the scale, the days below, and telling where the pointer is. */
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
    <figure class="plot">
      <figcaption>
        <span class="plot-title">{title}</span>
        <span class="plot-value number">{value}</span>
        <span class="plot-note">{note}</span>
      </figcaption>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: a shortcut for the pointer; the table beside it has the same links. */}
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
            <line class="grid" x1={left} x2={right} y1={fixed(mark.at)} y2={fixed(mark.at)} />
            <text x={left - 8} y={fixed(mark.at + 3.5)} text-anchor="end">
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

/** What stands below a plot: both ends, or one word where they are the same. */
export const endWords = ([first, last]: readonly [string, string]): readonly string[] =>
  first === last ? [first] : [first, last]
