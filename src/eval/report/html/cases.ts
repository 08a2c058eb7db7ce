import type { CaseRecord, Verdict } from '../../store/schemas/case-record.ts'
import { html, type Markup } from './markup.ts'
import type { ReportedRun } from './report-data.ts'

/** More cases than this make a page that no browser likes; those that did not pass come first. */
const mostCases = 3_000

export type ListedCase = {
  readonly anchor: string
  readonly record: CaseRecord
  readonly reported: ReportedRun
  /** What became of it since the run it is compared with. */
  readonly change: 'broken' | 'fixed' | 'changed' | ''
}

/** Every repeat of every case of every run, those that did not pass first. */
export function listedCases(runs: readonly ReportedRun[]): readonly ListedCase[] {
  const all = runs.flatMap((reported, run) =>
    reported.records.map((record, index) => ({
      anchor: `case-${run}-${index}`,
      record,
      reported,
      change: changeOf(record, reported),
    })),
  )
  const rank = ({ record, change }: ListedCase): number => (change === 'broken' ? 0 : record.verdict === 'pass' ? 2 : 1)
  return all.sort((one, other) => rank(one) - rank(other)).slice(0, mostCases)
}

function changeOf({ caseId }: CaseRecord, { diffs }: ReportedRun): ListedCase['change'] {
  const diff = diffs.get(caseId)
  if (diff === undefined) return ''
  if (diff.base === 'pass') return diff.candidate === 'pass' ? 'changed' : 'broken'
  return diff.candidate === 'pass' ? 'fixed' : ''
}

/** A table that can be filtered by text, verdict and benchmark. */
export function casesPanel(cases: readonly ListedCase[], total: number): Markup {
  const benchmarks = [...new Set(cases.map(({ reported }) => reported.run.benchmarkId))].sort()
  const left =
    total > cases.length
      ? html`<p class="soft">${cases.length} of ${total} cases are on this page; all are in the case records.</p>`
      : null
  const choices = ['pass', 'fail', 'error', 'skipped', 'unjudged', 'broken', 'fixed', 'changed']
  return html`<h2 id="case-table">Cases</h2>
<div class="filters"><label>text<input id="filter-text" type="search" placeholder="id, failure, belief"></label>
<label>verdict<select id="filter-verdict"><option value="">all</option>${choices.map((one) => html`<option>${one}</option>`)}</select></label>
<label>benchmark<select id="filter-benchmark"><option value="">all</option>${benchmarks.map((one) => html`<option>${one}</option>`)}</select></label>
<span id="filter-count" class="soft"></span></div>${left}
<div class="scroll"><table id="cases"><thead><tr><th>verdict</th><th>case</th><th>benchmark</th><th>what went wrong</th><th class="number">ms</th></tr></thead>
<tbody>${cases.map(row)}</tbody></table></div>`
}

function row({ anchor, record, reported, change }: ListedCase): Markup {
  const { caseId, repeat, verdict, failures, error, timings } = record
  const total = Object.values(timings).reduce((sum, ms) => sum + ms, 0)
  const wrong = error === undefined ? failures.join(' ') : error.message
  const times = repeat === 0 ? '' : `, repeat ${repeat + 1}`
  return html`<tr data-verdict="${verdict}" data-change="${change}" data-benchmark="${reported.run.benchmarkId}"><td>${verdictMark(verdict)}${change === '' ? null : html` <span class="soft">${change}</span>`}</td><td><a class="id" href="#${anchor}">${caseId}</a>${times}</td><td>${reported.run.benchmarkId}<br><span class="soft">${reported.run.system?.name}</span></td><td>${wrong}</td><td class="number">${total.toFixed(2)}</td></tr>`
}

const marks: Readonly<Record<Verdict, readonly [sign: string, tone: string]>> = {
  pass: ['✓', 'good'],
  fail: ['✗', 'bad'],
  error: ['!', 'bad'],
  skipped: ['–', 'soft'],
  unjudged: ['?', 'odd'],
}

export const verdictMark = (verdict: Verdict): Markup =>
  html`<span class="verdict ${marks[verdict][1]}">${marks[verdict][0]} ${verdict}</span>`
