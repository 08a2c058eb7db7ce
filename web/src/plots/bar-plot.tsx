import { useState } from 'preact/hooks'
import { counted } from '../format/numbers.ts'
import { dayOf, endsOf } from '../format/time.ts'
import { acrossPlot, endWords, PlotFrame, plotSize, upPlot } from './plot-frame.tsx'
import { axis, fixed, reachOf, scale } from './scale.ts'

export type Bar = { readonly day: string; readonly value: number }

type BarPlotProps = {
  readonly title: string
  /** One for each day, oldest first, without a gap. */
  readonly bars: readonly Bar[]
  readonly format: (value: number) => string
  readonly total: string
}

/** Counts over days, from nothing upwards. The caption tells the one under the pointer, or the sum. */
export function BarPlot({ title, bars, format, total }: BarPlotProps) {
  const [chosen, setChosen] = useState<number | null>(null)
  const shown = chosen === null ? undefined : bars[chosen]
  const most = Math.max(1, ...bars.map(({ value }) => value))
  const marks = axis([0, most], { leastStep: 1 })
  const y = scale(reachOf(marks, [0, most]), upPlot)
  const [left, right] = acrossPlot
  const step = (right - left) / Math.max(bars.length, 1)
  const width = Math.min(step * 0.72, 28)
  const [first, last] = [bars[0], bars.at(-1)]
  return (
    <PlotFrame
      title={title}
      value={shown === undefined ? total : format(shown.value)}
      note={shown === undefined ? counted(bars.length, 'day') : dayOf(shown.day)}
      summary={`${title}: ${total} over ${counted(bars.length, 'day')}`}
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
          class={index === chosen ? 'bar chosen' : 'bar'}
          x={fixed(left + index * step + (step - width) / 2)}
          y={fixed(y(value))}
          width={fixed(width)}
          height={fixed(plotSize.height - plotSize.bottom - y(value))}
          rx="2"
        />
      ))}
    </PlotFrame>
  )
}
