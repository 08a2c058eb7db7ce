import { percentile } from '../../score/statistics.ts'
import { html, type Markup } from './markup.ts'
import { latencyPlot, milliseconds } from './plot.ts'
import type { ReportedRun } from './report-data.ts'

/** How long answers took, on the machine the run was made on. */
export function latencyPanel(runs: readonly ReportedRun[]): Markup {
  return html`<h2 id="latency">Latency</h2><p class="soft">All stages of an answer together. Times of different machines are not comparable.</p><div class="plots">${runs.map(plot)}</div>`
}

function plot({ run, records }: ReportedRun): Markup {
  const times = records
    .filter(({ verdict }) => verdict === 'pass' || verdict === 'fail')
    .map(({ timings }) => Object.values(timings).reduce((total, ms) => total + ms, 0))
  const [p50, p95, p99] = [percentile(times, 50), percentile(times, 95), percentile(times, 99)]
  if (p50 === null || p95 === null || p99 === null) return html``
  const marks = [
    { label: 'half below', value: p50 },
    { label: '95 % below', value: p95 },
  ]
  return html`<figure><figcaption><b>${run.benchmarkId}</b>, ${run.system?.name}: half below ${milliseconds(p50)}, 95 % below ${milliseconds(p95)}, 99 % below ${milliseconds(p99)}</figcaption>${latencyPlot(times, marks)}</figure>`
}
