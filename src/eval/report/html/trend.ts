import { metricSense } from '../../score/metric-direction.ts'
import { wilsonInterval } from '../../score/statistics.ts'
import type { RunSummary } from '../../store/schemas/run-summary.ts'
import { html, type Markup } from './markup.ts'
import { linePlot, type PlotPoint, type Range } from './plot.ts'
import type { ReportedRun } from './report-data.ts'

/** How each figure went over the runs of the same benchmark and system. */
export function trendPanel(runs: readonly ReportedRun[]): Markup {
  return html`<h2 id="trend">Trend</h2>${runs.map(trends)}`
}

function trends({ run, history, comparison }: ReportedRun): Markup {
  const names = [...new Set(history.flatMap(({ metrics = {} }) => Object.keys(metrics)))].sort()
  const baseOf = (figure: string): number | null =>
    comparison?.figures.find((one) => one.figure === figure)?.base ?? null
  const plots = [
    plot('pass rate', history.map(passPoint), baseOf('passRate'), [0, 1]),
    ...names.map((name) => {
      const { range } = metricSense(name, run.metricDeclarations ?? [])
      const points = history.flatMap((one) => metricPoint(one, name, range))
      return plot(name, points, baseOf(name), range)
    }),
  ]
  return html`<h3>${run.benchmarkId}, ${run.system?.name}</h3><div class="plots">${plots}</div>`
}

function plot(name: string, points: readonly PlotPoint[], base: number | null, range: Range): Markup {
  const last = points.at(-1)
  if (last === undefined) return html``
  const interval = last.low === null || last.high === null ? '' : ` (95 %: ${shown(last.low)} to ${shown(last.high)})`
  const compared = base === null ? '' : `, compared with ${shown(base)}`
  return html`<figure><figcaption><b>${name}</b> ${shown(last.value)}${interval}${compared}</figcaption>
${linePlot(points, { reference: base, range })}</figure>`
}

function passPoint(run: RunSummary): PlotPoint {
  const interval = wilsonInterval(run.passedCases, run.totalCases)
  const value = run.passedCases / run.totalCases
  return { value, low: interval?.low ?? null, high: interval?.high ?? null, title: titleOf(run, value) }
}

function metricPoint(run: RunSummary, name: string, range: Range): readonly PlotPoint[] {
  const value = run.metrics?.[name]
  if (value === undefined) return []
  const interval = run.intervals?.[name]
  // Cases that all have the same score do not make the next one certain: no interval is better than a false one.
  if (interval === undefined || interval.high - interval.low < 1e-9) {
    return [{ value, low: null, high: null, title: titleOf(run, value) }]
  }
  const [least, most] = range ?? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
  const [low, high] = [Math.max(least, interval.low), Math.min(most, interval.high)]
  return [{ value, low, high, title: titleOf(run, value) }]
}

const titleOf = ({ runId, completedAt, startedAt, gitRef }: RunSummary, value: number): string =>
  `${shown(value)}\n${runId}\n${completedAt ?? startedAt}${gitRef === undefined ? '' : `\n${gitRef}`}`

const shown = (value: number): string => String(Math.round(value * 1e4) / 1e4)
