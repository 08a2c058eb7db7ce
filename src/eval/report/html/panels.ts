import { changeSentence, verdictOf } from '../../gate/gate.ts'
import { metricSense } from '../../score/metric-direction.ts'
import { percentile, wilsonInterval } from '../../score/statistics.ts'
import type { RunSummary } from '../../store/schemas/run.ts'
import { html, type Markup } from './markup.ts'
import { latencyPlot, linePlot, milliseconds, type PlotPoint, type Range } from './plot.ts'
import type { ReportedRun } from './report-data.ts'

/** One line per run: how it ended, how sure that is, and what became of it since. */
export function overviewPanel(runs: readonly ReportedRun[]): Markup {
  return html`<h2 id="overview">Overview</h2>
<div class="scroll"><table><thead><tr><th>benchmark and run</th><th>system</th><th class="number">passed</th><th class="number">pass rate, 95 %</th><th class="number">errors</th><th>verdict, compared with</th></tr></thead>
<tbody>${runs.map(row)}</tbody></table></div>
${runs.map(changes)}`
}

function row({ run, reference, comparison }: ReportedRun): Markup {
  const { benchmarkId, system, status, passedCases, totalCases, errorCases = 0, runId } = run
  const unfinished = status === 'completed' ? null : html` <span class="bad">(${status})</span>`
  return html`<tr><td><b>${benchmarkId}</b>${unfinished}<span class="id">${runId}</span></td>
<td>${system?.name ?? 'not said'}</td><td class="number">${passedCases} of ${totalCases}</td>
<td class="number">${rateText(passedCases, totalCases)}</td><td class="number">${errorCases}</td>
<td>${verdict(comparison)}${reference === null ? null : html`<span class="id">${reference}</span>`}</td></tr>`
}

export function rateText(passed: number, total: number): string {
  const interval = wilsonInterval(passed, total)
  const percent = (value: number): string => `${(value * 100).toFixed(1)} %`
  if (interval === null) return 'no cases'
  return `${percent(passed / total)} (${percent(interval.low)} to ${percent(interval.high)})`
}

function verdict(comparison: ReportedRun['comparison']): Markup {
  if (comparison === null) return html`<span class="soft">nothing to compare with</span>`
  if (comparison.obstacles.length > 0) return html`<span class="verdict odd">? not comparable</span>`
  const verdicts = comparison.figures.map((figure) => figure.verdict)
  const [gated] = verdictOf(comparison)
  if (gated === 'regression') return html`<span class="verdict bad">✗ worse</span>`
  if (gated === 'cannot tell') return html`<span class="verdict odd">? cannot tell</span>`
  if (verdicts.includes('better')) return html`<span class="verdict good">✓ better</span>`
  if (verdicts.includes('underpowered')) return html`<span class="verdict odd">? underpowered</span>`
  return html`<span class="verdict good">✓ ${verdicts.includes('no evidence') ? 'no evidence of change' : 'the same'}</span>`
}

function changes({ run, comparison }: ReportedRun): Markup {
  if (comparison === null) return html``
  const moved = comparison.figures.filter((figure) =>
    ['worse', 'cannot tell', 'dropped', 'better', 'new'].includes(figure.verdict),
  )
  const lines = [
    ...comparison.obstacles.map((text) => html`<li class="odd">${text}</li>`),
    ...moved.map(
      (figure) =>
        html`<li class="${figure.verdict === 'better' ? 'good' : figure.verdict === 'new' ? 'soft' : 'bad'}">${changeSentence(figure)}</li>`,
    ),
    ...comparison.notes.map((text) => html`<li class="soft">${text}</li>`),
  ]
  return lines.length === 0 ? html`` : html`<h3>${run.benchmarkId}, ${run.system?.name}</h3><ul>${lines}</ul>`
}

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

/** How long answers took, on the machine the run was made on. */
export function latencyPanel(runs: readonly ReportedRun[]): Markup {
  return html`<h2 id="latency">Latency</h2><p class="soft">All stages of an answer together. Times of different machines are not comparable.</p><div class="plots">${runs.map(latencyFigure)}</div>`
}

function latencyFigure({ run, records }: ReportedRun): Markup {
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

/** Where every figure comes from: enough to repeat the run. */
export function provenancePanel(runs: readonly ReportedRun[]): Markup {
  return html`<h2 id="provenance">Provenance</h2>${runs.map(provenance)}`
}

function provenance({ run, environment }: ReportedRun): Markup {
  const git = environment?.git
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['run', run.runId],
    ['started', run.startedAt],
    ['completed', run.completedAt],
    ['pack', run.packHash],
    ['system', run.system === undefined ? undefined : `${run.system.name} ${run.system.version}`],
    ['seed', run.seed?.toString()],
    ['repeats', run.repeats?.toString()],
    [
      'commit',
      git === null || git === undefined
        ? 'not in a repository'
        : `${git.commit}${git.dirty ? ', with uncommitted changes' : ''}`,
    ],
    ['Node', environment?.node],
    [
      'machine',
      environment === null ? undefined : `${environment.os.platform} ${environment.os.release} ${environment.os.arch}`,
    ],
    ['settings', environment === null ? undefined : JSON.stringify(environment.settings)],
    ['notes', run.notes],
  ]
  return html`<h3>${run.benchmarkId}, ${run.system?.name}</h3><div class="scroll"><dl>${rows.flatMap(([name, value]) => (value === undefined ? [] : [html`<dt>${name}</dt><dd class="id">${value}</dd>`]))}</dl></div>`
}
