import { changeSentence, verdictOf } from '../../gate/gate.ts'
import { metricSense } from '../../score/metric-direction.ts'
import { percentile, wilsonInterval } from '../../score/statistics.ts'
import type { RunSummary } from '../../store/schemas/run.ts'
import { casePages, casesPanel, listedCases } from './cases.ts'
import { html, latencyPlot, linePlot, type Markup, milliseconds, type PlotPoint, type Range } from './plot.ts'
import type { ReportData, ReportedRun } from './report-data.ts'

/** Nothing is fetched from anywhere, whatever the data says. */
const policy =
  "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

/** Runs as one page that needs nothing but itself. Same data, same bytes. */
export function reportPage({ generatedAt, runs }: ReportData): string {
  const cases = listedCases(runs)
  const total = runs.reduce((sum, { records }) => sum + records.length, 0)
  const body = html`<header><h1>Benchmark report</h1><p class="soft">${generatedAt}</p>
<nav><a href="#overview">Overview</a><a href="#trend">Trend</a><a href="#case-table">Cases</a><a href="#latency">Latency</a><a href="#provenance">Provenance</a></nav></header>
<main>${overviewPanel(runs)}${trendPanel(runs)}${casesPanel(cases, total)}${casePages(cases)}${latencyPanel(runs)}${provenancePanel(runs)}</main>
<footer>Made by Credence. This file is complete: it loads nothing and sends nothing.</footer>`
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Benchmark report</title>
<style>${pageStyle}</style></head>
<body>${markupOf(body)}
<script>${pageScript}</script></body></html>
`
}

const markupOf = ({ markup }: Markup): string => markup

/** Everything a page looks like. Colours never stand alone: a word or a sign says the same. */
export const pageStyle = `
:root {
  color-scheme: light dark;
  --text: #1c2733; --soft: #5b6a79; --line: #d9e0e7; --ground: #f6f8fa; --card: #ffffff;
  --good: #17734a; --bad: #b3261e; --odd: #8a5a00; --ink: #2458a6; --band: #2458a626;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e4eaf0; --soft: #9fb0c0; --line: #2d3a47; --ground: #10161c; --card: #182029;
    --good: #4cc38a; --bad: #ff8a80; --odd: #e6b450; --ink: #7fb0ff; --band: #7fb0ff2b;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 15px/1.5 system-ui, 'DejaVu Sans', sans-serif; }
header, main, footer { max-width: 1120px; margin: 0 auto; padding: 0 24px; }
header { padding-top: 28px; }
h1 { font-size: 24px; margin: 0; }
h2 { font-size: 18px; margin: 36px 0 12px; }
h3 { font-size: 15px; margin: 18px 0 6px; }
p { margin: 6px 0; }
a { color: var(--ink); }
nav { display: flex; flex-wrap: wrap; gap: 16px; padding: 12px 0; border-bottom: 1px solid var(--line); }
.soft { color: var(--soft); }
.scroll { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: 8px; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 7px 12px; border-bottom: 1px solid var(--line); vertical-align: top; }
tr:last-child > td { border-bottom: 0; }
th { font-weight: 600; color: var(--soft); font-size: 13px; white-space: nowrap; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
code, .id { font-family: ui-monospace, 'DejaVu Sans Mono', monospace; font-size: 13px; overflow-wrap: anywhere; }
.good { color: var(--good); } .bad { color: var(--bad); } .odd { color: var(--odd); }
td .id { display: block; font-size: 12px; color: var(--soft); }
.case td .id, td a.id { display: inline; color: inherit; font-size: 13px; }
.verdict { font-weight: 600; white-space: nowrap; }
.filters { display: flex; flex-wrap: wrap; gap: 12px; margin: 0 0 12px; align-items: end; }
.filters label { display: grid; gap: 2px; font-size: 13px; color: var(--soft); }
.filters input, .filters select { font: inherit; padding: 5px 8px; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: 6px; }
.filters input { min-width: 260px; }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(340px, 1fr)); gap: 16px; }
figure { margin: 0; min-width: 0; background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 12px; }
figcaption { font-size: 13px; color: var(--soft); margin-bottom: 4px; }
figcaption b { color: var(--text); }
svg { display: block; width: 100%; height: auto; }
svg text { font: 11px system-ui, 'DejaVu Sans', sans-serif; fill: var(--soft); }
svg .axis { stroke: var(--line); } svg .line { stroke: var(--ink); fill: none; stroke-width: 2; }
svg .band { fill: var(--band); } svg .point { fill: var(--ink); } svg .bar { fill: var(--ink); opacity: .75; }
svg .mark { stroke: var(--bad); stroke-dasharray: 4 3; } svg .base { stroke: var(--odd); stroke-dasharray: 2 3; }
#cases td:nth-child(2) { min-width: 190px; }
.case { display: none; background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 4px 18px 16px; margin-top: 14px; }
.case:target { display: block; }
.case .scroll { margin-top: 6px; }
ul { margin: 4px 0; padding-left: 22px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 18px; margin: 0; padding: 12px; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
footer { padding-top: 28px; padding-bottom: 40px; color: var(--soft); font-size: 13px; }
[hidden] { display: none; }
`

/** Filters rows that are there without it too. */
export const pageScript = `
const table = document.querySelector('#cases');
if (table) {
  const [text, verdict, benchmark] = ['#filter-text', '#filter-verdict', '#filter-benchmark'].map((name) => document.querySelector(name));
  const count = document.querySelector('#filter-count');
  const rows = [...table.tBodies[0].rows];
  const apply = () => {
    let shown = 0;
    for (const row of rows) {
      const fits = row.textContent.toLowerCase().includes(text.value.toLowerCase())
        && (verdict.value === '' || row.dataset.verdict === verdict.value || row.dataset.change === verdict.value)
        && (benchmark.value === '' || row.dataset.benchmark === benchmark.value);
      row.hidden = !fits;
      if (fits) shown += 1;
    }
    count.textContent = shown + ' of ' + rows.length;
  };
  for (const control of [text, verdict, benchmark]) control.addEventListener('input', apply);
  apply();
}
`

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
  const { verdict: gated } = verdictOf(comparison)
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
