import { Explained } from '../../compare/diff.ts'
import { changeSentence, verdictOf } from '../../gate/gate.ts'
import { answerTimes } from '../../score/figures.ts'
import { percentile, wilsonInterval } from '../../score/statistics.ts'
import type { CaseRecord, RunSummary, Verdict } from '../../store/schemas/run.ts'
import {
  definitions,
  html,
  linePlot,
  type Markup,
  type PlotPoint,
  pageScript,
  pageStyle,
  rounded,
  table,
} from './page-parts.ts'
import type { ReportData, ReportedRun } from './report-data.ts'

/** The browser loads nothing from anywhere, whatever the data says. */
const policy =
  "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

/** Runs as one self-contained page. The same data gives the same bytes. */
export function reportPage({ generatedAt, runs }: ReportData): string {
  const cases = listedCases(runs)
  const body = html`<header><h1>Benchmark report</h1><p class="soft">${generatedAt}</p>
<nav><a href="#overview">Overview</a><a href="#trend">Trend</a><a href="#case-table">Cases</a><a href="#provenance">Provenance</a></nav></header>
<main><h2 id="overview">Overview</h2>${overview(runs)}
<h2 id="trend">Trend</h2>${runs.map(trends)}
<h2 id="case-table">Cases</h2>${caseTable(cases, runs)}${cases.map(casePage)}
<h2 id="provenance">Provenance</h2>${runs.map(provenance)}</main>
<footer>Made by Credence. This file is complete: it loads nothing and sends nothing.</footer>`
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Benchmark report</title>
<style>${pageStyle}</style></head>
<body>${body.markup}
<script>${pageScript}</script></body></html>
`
}

const titleOf = ({ run }: ReportedRun): Markup => html`<h3>${run.benchmarkId}, ${run.system?.name}</h3>`

/** One line per run: its result, how sure that is, its latency, and its verdict beside the run it is compared with. */
function overview(runs: readonly ReportedRun[]): Markup {
  const head = html`<th>benchmark and run</th><th>system</th><th class="number">passed</th><th class="number">pass rate, 95 %</th><th class="number">errors</th><th>latency</th><th>verdict, compared with</th>`
  const rows = runs.map(({ run, records, reference, comparison }) => {
    const { benchmarkId, system, status, passedCases, totalCases, errorCases = 0, runId } = run
    const unfinished = status === 'completed' ? null : html` <span class="bad">(${status})</span>`
    return html`<tr><td><b>${benchmarkId}</b>${unfinished}<br><span class="id">${runId}</span></td><td>${system?.name ?? 'not said'}</td><td class="number">${passedCases} of ${totalCases}</td><td class="number">${rateText(passedCases, totalCases)}</td><td class="number">${errorCases}</td><td>${latencyText(records)}</td><td>${verdictMark(comparison)}<br><span class="id">${reference}</span></td></tr>`
  })
  return html`${table(head, rows)}${runs.map(changes)}`
}

function rateText(passed: number, total: number): string {
  const interval = wilsonInterval(passed, total)
  const percent = (value: number): string => `${(value * 100).toFixed(1)} %`
  if (interval === null) return 'no cases'
  return `${percent(passed / total)} (${percent(interval.low)} to ${percent(interval.high)})`
}

/** Times of different machines are not comparable, so they are shown and never judged. */
function latencyText(records: readonly CaseRecord[]): string {
  const times = answerTimes(records)
  const [p50, p95] = [percentile(times, 50), percentile(times, 95)]
  return p50 === null || p95 === null ? '' : `half below ${rounded(p50)} ms, 95 % below ${rounded(p95)} ms`
}

function verdictMark(comparison: ReportedRun['comparison']): Markup {
  if (comparison === null) return html`<span class="soft">nothing to compare with</span>`
  const verdicts = comparison.figures.map((figure) => figure.verdict)
  const { verdict } = verdictOf(comparison)
  const mark = (tone: string, text: string): Markup => html`<span class="verdict ${tone}">${text}</span>`
  if (comparison.obstacles.length > 0) return mark('odd', '? not comparable')
  if (verdict === 'regression') return mark('bad', '✗ worse')
  if (verdict === 'cannot tell') return mark('odd', '? cannot tell')
  if (verdicts.includes('better')) return mark('good', '✓ better')
  if (verdicts.includes('underpowered')) return mark('odd', '? underpowered')
  return mark('good', verdicts.includes('no evidence') ? '✓ no evidence of change' : '✓ the same')
}

const tones: Readonly<Record<string, string>> = {
  worse: 'bad',
  'cannot tell': 'bad',
  dropped: 'bad',
  better: 'good',
  new: 'soft',
}

function changes(reported: ReportedRun): Markup | null {
  const { comparison } = reported
  if (comparison === null) return null
  const lines = [
    ...comparison.obstacles.map((text) => html`<li class="odd">${text}</li>`),
    ...comparison.figures
      .filter(({ verdict }) => verdict in tones)
      .map((figure) => html`<li class="${tones[figure.verdict]}">${changeSentence(figure)}</li>`),
    ...comparison.notes.map((text) => html`<li class="soft">${text}</li>`),
  ]
  return lines.length === 0 ? null : html`${titleOf(reported)}<ul>${lines}</ul>`
}

/** Each figure over the runs of the same benchmark and system. */
function trends(reported: ReportedRun): Markup {
  const { history, comparison } = reported
  const names = [...new Set(history.flatMap(({ metrics = {} }) => Object.keys(metrics)))].sort()
  const plot = (name: string, figure: string, points: readonly PlotPoint[]): Markup | null => {
    const last = points.at(-1)
    const base = comparison?.figures.find((one) => one.figure === figure)?.base ?? null
    if (last === undefined) return null
    const { value, low, high } = last
    const interval = low === null || high === null ? '' : ` (95 %: ${rounded(low)} to ${rounded(high)})`
    const compared = base === null ? '' : `, compared with ${rounded(base)}`
    return html`<figure><figcaption><b>${name}</b> ${rounded(value)}${interval}${compared}</figcaption>${linePlot(points, base)}</figure>`
  }
  const passRates = history.map((run) => {
    const interval = wilsonInterval(run.passedCases, run.totalCases)
    return pointOf(run, run.passedCases / run.totalCases, interval)
  })
  const metrics = names.map((name) => {
    const points = history.flatMap((run) => {
      const [value, interval] = [run.metrics?.[name], run.intervals?.[name]]
      return value === undefined ? [] : [pointOf(run, value, interval ?? null)]
    })
    return plot(name, name, points)
  })
  return html`${titleOf(reported)}<div class="plots">${plot('pass rate', 'passRate', passRates)}${metrics}</div>`
}

function pointOf(run: RunSummary, value: number, interval: { low: number; high: number } | null): PlotPoint {
  const title = [rounded(value), run.runId, run.completedAt ?? run.startedAt, run.gitRef].filter(Boolean).join('\n')
  // Cases that all have the same score do not make the next one certain: no interval is better than a false one.
  if (interval === null || interval.high - interval.low < 1e-9) return { value, low: null, high: null, title }
  return { value, low: interval.low, high: interval.high, title }
}

/** Browsers are slow with more cases on a page; those that did not pass come first. */
const mostCases = 3_000

type ListedCase = {
  readonly anchor: string
  readonly record: CaseRecord
  readonly reported: ReportedRun
  readonly change: 'broken' | 'fixed' | 'changed' | ''
}

/** Every repeat of every case of every run, those that did not pass first. */
function listedCases(runs: readonly ReportedRun[]): readonly ListedCase[] {
  const rank = ({ record, change }: ListedCase): number => (change === 'broken' ? 0 : record.verdict === 'pass' ? 2 : 1)
  return runs
    .flatMap((reported, run) =>
      reported.records.map((record, index): ListedCase => {
        const diff = reported.diffs.get(record.caseId)
        const now = diff?.candidate === 'pass'
        const change =
          diff === undefined ? '' : diff.base === 'pass' ? (now ? 'changed' : 'broken') : now ? 'fixed' : ''
        return { anchor: `case-${run}-${index}`, record, reported, change }
      }),
    )
    .sort((one, other) => rank(one) - rank(other))
    .slice(0, mostCases)
}

const option = (name: string): Markup => html`<option>${name}</option>`

/** A table that can be filtered by text, verdict and benchmark. */
function caseTable(cases: readonly ListedCase[], runs: readonly ReportedRun[]): Markup {
  const total = runs.reduce((sum, { records }) => sum + records.length, 0)
  const benchmarks = [...new Set(runs.map(({ run }) => run.benchmarkId))].sort()
  const left = html`<p class="soft">${cases.length} of ${total} cases are on this page; all are in the case records.</p>`
  const choices = [...Object.keys(signs), 'broken', 'fixed', 'changed']
  const rows = cases.map(({ anchor, record, reported, change }) => {
    const { caseId, repeat, verdict, failures, error, timings } = record
    const ms = Object.values(timings).reduce((sum, stage) => sum + stage, 0)
    const repeated = repeat === 0 ? '' : `, repeat ${repeat + 1}`
    const { benchmarkId, system } = reported.run
    return html`<tr data-verdict="${verdict}" data-change="${change}" data-benchmark="${benchmarkId}"><td>${signOf(verdict)} <span class="soft">${change}</span></td><td><a class="id" href="#${anchor}">${caseId}</a>${repeated}</td><td>${benchmarkId}<br><span class="soft">${system?.name}</span></td><td>${error?.message ?? failures.join(' ')}</td><td class="number">${ms.toFixed(2)}</td></tr>`
  })
  const head = html`<th>verdict</th><th>case</th><th>benchmark</th><th>what went wrong</th><th class="number">ms</th>`
  return html`<div class="filters"><label>text<input id="filter-text" type="search" placeholder="id, failure, belief"></label>
<label>verdict<select id="filter-verdict"><option value="">all</option>${choices.map(option)}</select></label>
<label>benchmark<select id="filter-benchmark"><option value="">all</option>${benchmarks.map(option)}</select></label>
<span id="filter-count" class="soft"></span></div>${total > cases.length ? left : null}${table(head, rows, 'cases')}`
}

const signs: Readonly<Record<Verdict, readonly [sign: string, tone: string]>> = {
  pass: ['✓', 'good'],
  fail: ['✗', 'bad'],
  error: ['!', 'bad'],
  skipped: ['–', 'soft'],
  unjudged: ['?', 'odd'],
}

const signOf = (verdict: Verdict): Markup =>
  html`<span class="verdict ${signs[verdict][1]}">${signs[verdict][0]} ${verdict}</span>`

/** One case; it is shown when its link is followed. */
function casePage({ anchor, record, reported }: ListedCase): Markup {
  const { caseId, verdict, failures, error, repeat, seed, explanation, scores, timings } = record
  const wrong = error === undefined ? failures : [`${error.class}: ${error.message}`]
  const parsed = Explained.safeParse(explanation)
  const { group, query, prelude, nearMisses = [] } = parsed.data ?? {}
  const missed = nearMisses.map(({ id, reason }) => html`<div><span class="id">${id}</span>: ${reason}</div>`)
  return html`<section class="case" id="${anchor}">
<h3><span class="id">${caseId}</span> ${signOf(verdict)}</h3>
<p class="soft">${reported.run.benchmarkId}, ${reported.run.system?.name}, repeat ${repeat + 1}, seed ${seed} · <a href="#case-table">back to the cases</a></p>
<ul class="bad">${wrong.map((line) => html`<li>${line}</li>`)}</ul>
${parsed.success || explanation === undefined ? null : html`<pre class="id">${JSON.stringify(explanation, null, 2)}</pre>`}
${definitions([
  ['group', group],
  ['searched for', query],
  ['prelude', prelude],
  ['left out', missed.length === 0 ? null : missed],
])}
${returnedTable(record, parsed.data?.matches ?? [])}${difference(record, reported)}
<h3>Scores and times</h3>${definitions([
    ...Object.entries(scores).map(
      ([name, value]) => [name, value === null ? 'does not apply' : rounded(value)] as const,
    ),
    ...Object.entries(timings).map(([stage, ms]) => [stage, `${ms.toFixed(3)} ms`] as const),
  ])}</section>`
}

function returnedTable({ returned }: CaseRecord, matches: NonNullable<Explained['matches']>): Markup {
  if (returned.length === 0) return html`<p class="soft">Nothing was returned.</p>`
  const head = html`<th>tier</th><th class="number">rank</th><th>id</th><th class="number">score</th><th>because of</th>`
  const rows = returned.map(({ id, tier = '', rank, score }) => {
    const clauses = matches.find((match) => match.id === id)?.clauses ?? []
    const because = clauses.map(
      ({ path, term, score: part }) =>
        html`<div>${path === 'canonical_name' ? 'name' : path} “${term}” <span class="soft">${part === undefined ? '' : rounded(part)}</span></div>`,
    )
    return html`<tr><td>${tier}</td><td class="number">${rank}</td><td class="id">${id}</td><td class="number">${score === null ? '' : score.toFixed(3)}</td><td>${because}</td></tr>`
  })
  return html`<h3>Returned</h3>${table(head, rows)}`
}

function difference({ caseId }: CaseRecord, { diffs, reference }: ReportedRun): Markup | null {
  const diff = diffs.get(caseId)
  if (diff === undefined) return null
  const rows = diff.returned.map(({ id, tier, from, to }) => {
    const [sign, tone] = from === null ? ['+', 'odd'] : to === null ? ['−', 'bad'] : ['~', 'soft']
    return html`<tr><td class="${tone}">${sign}</td><td>${tier}</td><td class="id">${id}</td><td class="number">${from}</td><td class="number">${to}</td></tr>`
  })
  const head = html`<th></th><th>tier</th><th>id</th><th class="number">rank then</th><th class="number">rank now</th>`
  const stage =
    diff.firstStage === null
      ? ', with the same answer.'
      : html`; the first thing that differs is <b>${diff.firstStage}</b>.`
  return html`<h3>Compared with ${reference}</h3><p>${diff.base} then, ${diff.candidate} now${stage}</p>${rows.length === 0 ? null : table(head, rows)}`
}

/** Everything that is needed to repeat the run. */
function provenance(reported: ReportedRun): Markup {
  const { run, environment } = reported
  const { git, node, os, settings } = environment ?? {}
  const commit = git ? `${git.commit}${git.dirty ? ', with uncommitted changes' : ''}` : 'not in a repository'
  const rows = definitions([
    ['run', run.runId],
    ['started', run.startedAt],
    ['completed', run.completedAt],
    ['pack', run.packHash],
    ['system', run.system === undefined ? null : `${run.system.name} ${run.system.version}`],
    ['seed', run.seed],
    ['repeats', run.repeats],
    ['commit', commit],
    ['Node', node],
    ['machine', os === undefined ? null : `${os.platform} ${os.release} ${os.arch}`],
    ['settings', settings === undefined ? null : JSON.stringify(settings)],
    ['notes', run.notes],
  ])
  return html`${titleOf(reported)}<div class="scroll id">${rows}</div>`
}
