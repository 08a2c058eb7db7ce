import { notFound } from '../../errors.ts'
import { type BenchmarkComparison, compareBenchmark } from '../compare/compare.ts'
import { type CaseDiff, diffRuns, Explained } from '../compare/diff.ts'
import { changeSentence, verdictOf } from '../gate/gate.ts'
import { answerTimes, type Figures, figuresOfBaseline, figuresOfRun, summariseCases } from '../score/figures.ts'
import { type Interval, percentile, round4, wilsonInterval } from '../score/statistics.ts'
import { casesOf } from '../store/case-log.ts'
import { readEnvironment, readRun, readRuns, requireBaseline, requireRun } from '../store/documents.ts'
import { required } from '../store/parse-artifact.ts'
import type { CaseRecord, RunSummary, Verdict } from '../store/schemas/run.ts'

type ReportRequest = {
  /** Without any, the latest completed run of every benchmark and system. */
  readonly runIds: readonly string[]
  /** Compare with this baseline; without one, with the run before. */
  readonly snapshotId?: string | undefined
  readonly now: Date
}

type ReportedRun = Awaited<ReturnType<typeof reportedRun>> & {
  readonly reference: string | null
  /** Completed runs of the same benchmark on the same system, oldest first, this one among them. */
  readonly history: readonly RunSummary[]
}

const longestHistory = 50

/** Runs as one self-contained page. The same store and time give the same bytes. */
export async function htmlReport(root: string, { runIds, snapshotId, now }: ReportRequest) {
  const isWhole = ({ status, filter }: RunSummary): boolean => status === 'completed' && filter === undefined
  const completed = (await readRuns(root)).filter(isWhole).toReversed()
  const latest = [...new Map(completed.map((run) => [keyOf(run), run])).values()]
  latest.sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
  const wanted = runIds.length === 0 ? latest : runIds.map((id) => requireRun(root, id))
  if (wanted.length === 0)
    throw notFound('There is no completed run to show.', 'Run a benchmark first: `credence benchmark run ID`.')
  const baseline = snapshotId === undefined ? null : required(requireBaseline(root, snapshotId), 'baseline')
  const accepted = baseline?.benchmarks.map(figuresOfBaseline)
  const runs: ReportedRun[] = []
  for (const run of wanted) {
    const history = completed.filter((other) => keyOf(other) === keyOf(run))
    const base = accepted === undefined ? await runBefore(root, run, history) : acceptedFor(run, accepted)
    const reference = base === null ? null : baseline === null ? `run ${base.runId}` : `baseline ${baseline.snapshotId}`
    runs.push({ ...(await reportedRun(root, run, base)), reference, history: history.slice(-longestHistory) })
  }
  return { page: pageOf(runs, now.toISOString()), runIds: runs.map(({ run }) => run.runId) }
}

const keyOf = ({ benchmarkId, system }: RunSummary): string => `${benchmarkId}\n${system?.name ?? ''}`
const timeOf = ({ completedAt, startedAt }: RunSummary): number => Date.parse(completedAt ?? startedAt)

async function runBefore(root: string, run: RunSummary, history: readonly RunSummary[]): Promise<Figures | null> {
  const earlier = history.filter((other) => timeOf(other) < timeOf(run) && other.runId !== run.runId).at(-1)
  if (earlier === undefined) return null
  return figuresOfRun(earlier, summariseCases((await casesOf(root, earlier.runId)).records).results)
}

const acceptedFor = (run: RunSummary, accepted: readonly Figures[]): Figures | null =>
  accepted.find(
    ({ benchmarkId, system }) =>
      benchmarkId === run.benchmarkId && (system === null || system.name === (run.system?.name ?? system.name)),
  ) ?? null

async function reportedRun(root: string, run: RunSummary, base: Figures | null) {
  const environment = readEnvironment(root, run.runId)
  const { records } = await casesOf(root, run.runId)
  const candidate = figuresOfRun(run, summariseCases(records).results)
  // A baseline may come from another store, whose cases are not here.
  const canDiff = base !== null && readRun(root, base.runId)?.ok === true
  const diff = canDiff ? await diffRuns(root, base.runId, run.runId) : null
  const diffs = diff === null ? [] : [...diff.fixed, ...diff.broken, ...diff.stillFailing, ...diff.changed]
  return {
    run,
    environment: environment?.ok ? environment.value : null,
    records: records.sort((one, other) =>
      one.caseId < other.caseId ? -1 : one.caseId > other.caseId ? 1 : one.repeat - other.repeat,
    ),
    comparison: base === null ? null : compareBenchmark({ base, candidate }),
    /** By case id, where the cases of the other side were kept. */
    diffs: new Map(diffs.map((one) => [one.id, one])),
  }
}

/** A piece of a page. Only `html` makes one, so nothing reaches a page unescaped. */
type Markup = { readonly markup: string }
type Part = Markup | string | number | null | undefined | readonly Part[]

/** A template whose values are escaped, unless they are pieces of a page themselves. */
const html = (strings: TemplateStringsArray, ...parts: readonly Part[]): Markup => ({
  markup: strings.map((text, index) => text + rendered(parts[index])).join(''),
})

function rendered(part: Part): string {
  if (part === null || part === undefined) return ''
  if (Array.isArray(part)) return part.map(rendered).join('')
  if (typeof part === 'object' && 'markup' in part) return part.markup
  return String(part).replace(/[&<>"']/gu, (character) => `&#${character.codePointAt(0)};`)
}

const table = (titles: readonly string[], rows: readonly (readonly Part[])[]): Markup =>
  html`<table><thead><tr>${titles.map((title) => html`<th>${title}</th>`)}</tr></thead><tbody>${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody></table>`

/** Names with their values; a name without a value is left out. */
const definitions = (rows: readonly (readonly [string, Part])[]): Markup =>
  html`<dl>${rows.flatMap(([name, value]) => (value === undefined || value === null ? [] : [html`<dt>${name}</dt><dd>${value}</dd>`]))}</dl>`

const list = (lines: readonly Part[]): Markup | null =>
  lines.length === 0 ? null : html`<ul>${lines.map((line) => html`<li>${line}</li>`)}</ul>`

const rounded = (value: number): string => String(round4(value))
const withInterval = (value: number, interval: Interval | null | undefined): string =>
  // Cases that all have the same score do not make the next one certain: no interval is better than a false one.
  interval === null || interval === undefined || interval.high - interval.low < 1e-9
    ? rounded(value)
    : `${rounded(value)} (95 %: ${rounded(interval.low)} to ${rounded(interval.high)})`

/** The browser loads nothing from anywhere, whatever the data says. */
const policy =
  "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

const style = `
:root { color-scheme: light dark; }
body { max-width: 1120px; margin: 0 auto; padding: 12px 24px; font: 15px/1.5 system-ui, sans-serif; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { text-align: left; padding: 6px 12px; border-bottom: 1px solid #8886; vertical-align: top; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 18px; } dd { margin: 0; overflow-wrap: anywhere; }
label { margin-right: 16px; } [hidden] { display: none; }
`

/** Filters the table of cases. Without it all rows are shown. */
const script = `
const [text, verdict, benchmark] = ['#filter-text', '#filter-verdict', '#filter-benchmark'].map((id) => document.querySelector(id));
const rows = [...document.querySelectorAll('#cases > tr')];
const apply = () => {
  for (const row of rows) {
    row.hidden = !(row.textContent.toLowerCase().includes(text.value.toLowerCase())
      && (verdict.value === '' || row.dataset.verdict === verdict.value || row.dataset.change === verdict.value)
      && (benchmark.value === '' || row.dataset.benchmark === benchmark.value));
  }
  document.querySelector('#filter-count').textContent = rows.filter((row) => !row.hidden).length + ' of ' + rows.length;
};
for (const control of [text, verdict, benchmark]) control.addEventListener('input', apply);
apply();
`

function pageOf(runs: readonly ReportedRun[], generatedAt: string): string {
  const body = html`<h1>Benchmark report</h1><p>${generatedAt}</p>
<h2>Overview</h2>${overview(runs)}
<h2>Trend</h2>${runs.map(trend)}
<h2>Cases</h2>${caseTable(runs)}
<h2>Provenance</h2>${runs.map(provenance)}
<p>Made by Credence. This file is complete: it loads nothing and sends nothing.</p>`
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Benchmark report</title>
<style>${style}</style></head>
<body>${body.markup}
<script>${script}</script></body></html>
`
}

const titleOf = ({ run }: ReportedRun): Markup => html`<h3>${run.benchmarkId}, ${run.system?.name}</h3>`

/** One line per run: its result, latency, and its verdict beside the run it is compared with. Then what changed. */
function overview(runs: readonly ReportedRun[]): Markup {
  const rows = runs.map(({ run, records, reference, comparison }) => [
    html`${run.benchmarkId}${run.status === 'completed' ? '' : ` (${run.status})`}<br>${run.runId}`,
    run.system?.name ?? 'not named',
    `${run.passedCases} of ${run.totalCases}`,
    run.totalCases === 0 ? 'no cases' : passRateOf(run),
    run.errorCases ?? 0,
    latencyText(records),
    html`<b>${verdictText(comparison)}</b><br>${reference}`,
  ])
  const titles = ['benchmark and run', 'system', 'passed', 'pass rate', 'errors', 'latency', 'verdict, compared with']
  return html`${table(titles, rows)}${runs.map(changes)}`
}

const passRateOf = ({ passedCases, totalCases }: RunSummary): string =>
  withInterval(passedCases / totalCases, wilsonInterval(passedCases, totalCases))

/** Times of different machines are not comparable, so they are shown and never judged. */
function latencyText(records: readonly CaseRecord[]): string {
  const times = answerTimes(records)
  const [p50, p95] = [percentile(times, 50), percentile(times, 95)]
  return p50 === null || p95 === null ? '' : `half below ${rounded(p50)} ms, 95 % below ${rounded(p95)} ms`
}

function verdictText(comparison: BenchmarkComparison | null): string {
  if (comparison === null) return 'nothing to compare with'
  const verdicts = comparison.figures.map((figure) => figure.verdict)
  const { verdict } = verdictOf(comparison)
  if (comparison.obstacles.length > 0) return '? not comparable'
  if (verdict === 'regression') return '✗ worse'
  if (verdict === 'cannot tell') return '? cannot tell'
  if (verdicts.includes('better')) return '✓ better'
  if (verdicts.includes('underpowered')) return '? underpowered'
  return verdicts.includes('no evidence') ? '✓ no evidence of change' : '✓ the same'
}

function changes(reported: ReportedRun): Markup | null {
  const { obstacles = [], figures = [], notes = [] } = reported.comparison ?? {}
  const moved = figures.filter(({ verdict }) => ['worse', 'cannot tell', 'dropped', 'better', 'new'].includes(verdict))
  const lines = [...obstacles, ...moved.map(changeSentence), ...notes]
  return lines.length === 0 ? null : html`${titleOf(reported)}${list(lines)}`
}

function trend(reported: ReportedRun): Markup {
  const { history, comparison, reference } = reported
  const names = [...new Set(history.flatMap(({ metrics = {} }) => Object.keys(metrics)))].sort()
  const rows = history.map((run) => [
    run.runId,
    run.completedAt ?? run.startedAt,
    run.gitRef,
    passRateOf(run),
    ...names.map((name) => {
      const value = run.metrics?.[name]
      return value === undefined ? '' : withInterval(value, run.intervals?.[name])
    }),
  ])
  const base = ['passRate', ...names].map((name) => {
    const value = comparison?.figures.find(({ figure }) => figure === name)?.base ?? null
    return value === null ? '' : rounded(value)
  })
  const compared = reference === null ? [] : [[`compared with ${reference}`, '', '', ...base]]
  const count = history.length === 1 ? 'one run' : `${history.length} runs, oldest first`
  const titles = ['run', 'completed', 'commit', 'pass rate', ...names]
  return html`${titleOf(reported)}<p>${count}</p>${table(titles, [...rows, ...compared])}`
}

/** Browsers are slow with more cases on a page; those that did not pass come first. */
const mostCases = 3_000

const signs: Readonly<Record<Verdict, string>> = { pass: '✓', fail: '✗', error: '!', skipped: '–', unjudged: '?' }

/** Every repeat of every case, filtered by text, verdict and benchmark. A case opens to show its explanation. */
function caseTable(runs: readonly ReportedRun[]): Markup {
  const all = runs.flatMap((reported) =>
    reported.records.map((record) => {
      const { base, candidate } = reported.diffs.get(record.caseId) ?? {}
      const [before, now] = [base === 'pass', candidate === 'pass']
      const change = base === undefined ? '' : before ? (now ? 'changed' : 'broken') : now ? 'fixed' : ''
      return { reported, record, change, rank: change === 'broken' ? 0 : record.verdict === 'pass' ? 2 : 1 }
    }),
  )
  const shown = all.sort((one, other) => one.rank - other.rank).slice(0, mostCases)
  const rows = shown.map(({ reported, record, change }) => {
    const { verdict, failures, error, timings } = record
    const { benchmarkId, system } = reported.run
    const ms = Object.values(timings).reduce((sum, stage) => sum + stage, 0)
    return html`<tr data-verdict="${verdict}" data-change="${change}" data-benchmark="${benchmarkId}"><td>${signs[verdict]} ${verdict} ${change}</td><td>${caseDetails(record, reported)}</td><td>${benchmarkId}, ${system?.name}</td><td>${error?.message ?? failures.join(' ')}</td><td>${ms.toFixed(2)}</td></tr>`
  })
  const options = (names: readonly string[]): readonly Markup[] => names.map((name) => html`<option>${name}</option>`)
  const benchmarks = [...new Set(runs.map(({ run }) => run.benchmarkId))].sort()
  return html`<p><label>text <input id="filter-text" type="search"></label>
<label>verdict <select id="filter-verdict"><option value="">all</option>${options([...Object.keys(signs), 'broken', 'fixed', 'changed'])}</select></label>
<label>benchmark <select id="filter-benchmark"><option value="">all</option>${options(benchmarks)}</select></label> <span id="filter-count"></span></p>
${all.length > shown.length ? html`<p>${shown.length} of ${all.length} cases are on this page; all are in the case records.</p>` : null}
<table><thead><tr><th>verdict</th><th>case</th><th>benchmark</th><th>what went wrong</th><th>ms</th></tr></thead><tbody id="cases">${rows}</tbody></table>`
}

function caseDetails(record: CaseRecord, { diffs, reference }: ReportedRun): Markup {
  const { caseId, repeat, seed, explanation, scores, timings, returned, error } = record
  const parsed = Explained.safeParse(explanation)
  const { group, query, prelude, matches = [], nearMisses = [] } = parsed.data ?? {}
  const answer = returned.map(({ id, tier, rank, score }) => {
    const clauses = matches.find((match) => match.id === id)?.clauses ?? []
    const because = clauses.map(({ path, term, score: part }) => {
      const field = path === 'canonical_name' ? 'name' : path
      return `${field} “${term}”${part === undefined ? '' : ` ${rounded(part)}`}`
    })
    return [tier, rank, id, score?.toFixed(3), because.join(', ')]
  })
  return html`<details><summary>${caseId}${repeat === 0 ? '' : `, repeat ${repeat + 1}`}</summary>
${parsed.success || explanation === undefined ? null : html`<pre>${JSON.stringify(explanation, null, 2)}</pre>`}
${definitions([
  ['seed', seed],
  ['error', error?.class],
  ['group', group],
  ['searched for', query],
  ['prelude', prelude],
  ['left out', list(nearMisses.map(({ id, reason }) => `${id}: ${reason}`))],
  ...Object.entries(scores).map(([name, value]) => [name, value === null ? 'does not apply' : rounded(value)] as const),
  ...Object.entries(timings).map(([stage, ms]) => [stage, `${ms.toFixed(3)} ms`] as const),
])}
${answer.length === 0 ? html`<p>Nothing was returned.</p>` : table(['tier', 'rank', 'returned', 'score', 'because of'], answer)}
${difference(diffs.get(caseId), reference)}</details>`
}

function difference(diff: CaseDiff | undefined, reference: string | null): Markup | null {
  if (diff === undefined) return null
  const { base, candidate, firstStage, returned } = diff
  const stage = firstStage === null ? ', with the same answer.' : `; the first stage that differs is ${firstStage}.`
  const moved = returned.map(({ id, tier, from, to }) => [tier, id, from, to])
  return html`<p>Compared with ${reference}: ${base} then, ${candidate} now${stage}</p>${moved.length === 0 ? null : table(['tier', 'id', 'rank then', 'rank now'], moved)}`
}

function provenance(reported: ReportedRun): Markup {
  const { run, environment } = reported
  const { git, node, os, settings } = environment ?? {}
  return html`${titleOf(reported)}${definitions([
    ['run', run.runId],
    ['started', run.startedAt],
    ['completed', run.completedAt],
    ['pack', run.packHash],
    ['system', run.system && `${run.system.name} ${run.system.version}`],
    ['seed', run.seed],
    ['repeats', run.repeats],
    ['commit', git ? `${git.commit}${git.dirty ? ', with uncommitted changes' : ''}` : 'not in a repository'],
    ['Node', node],
    ['machine', os && `${os.platform} ${os.release} ${os.arch}`],
    ['settings', settings && JSON.stringify(settings)],
    ['notes', run.notes],
  ])}`
}
