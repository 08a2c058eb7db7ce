import { z } from 'zod'
import type { CaseDiff } from '../../compare/diff.ts'
import type { CaseRecord, Verdict } from '../../store/schemas/run.ts'
import { html, type Markup } from './plot.ts'
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

/** The pages of all cases; one is shown when its link is followed. */
export const casePages = (cases: readonly ListedCase[]): Markup => html`${cases.map(casePage)}`

/** What our executor explains. Whatever else a system says is shown as it stands. */
const Explained = z.looseObject({
  group: z.string().nullish(),
  query: z.string().optional(),
  prelude: z.string().nullish(),
  matches: z
    .array(
      z.looseObject({
        id: z.string(),
        clauses: z.array(z.looseObject({ path: z.string(), term: z.string(), score: z.number() })).optional(),
      }),
    )
    .optional(),
  nearMisses: z.array(z.looseObject({ id: z.string(), reason: z.unknown() })).optional(),
})

function casePage({ anchor, record, reported }: ListedCase): Markup {
  const { caseId, verdict, failures, error, repeat, seed } = record
  const diff = reported.diffs.get(caseId)
  return html`<section class="case" id="${anchor}">
<h3><span class="id">${caseId}</span> ${verdictMark(verdict)}</h3>
<p class="soft">${reported.run.benchmarkId}, ${reported.run.system?.name}, repeat ${repeat + 1}, seed ${seed} · <a href="#case-table">back to the cases</a></p>
${error === undefined ? null : html`<p class="bad">${error.class}: ${error.message}</p>`}
${failures.length === 0 ? null : html`<ul class="bad">${failures.map((failure) => html`<li>${failure}</li>`)}</ul>`}
${explanation(record)}
${returned(record)}
${diff === undefined ? null : difference(diff, reported.reference)}
${scores(record)}
</section>`
}

function explanation({ explanation: given }: CaseRecord): Markup {
  if (given === undefined || given === null) return html``
  const parsed = Explained.safeParse(given)
  if (!parsed.success) return html`<h3>Explanation</h3><pre class="id">${JSON.stringify(given, null, 2)}</pre>`
  const { group, query, prelude, nearMisses = [] } = parsed.data
  return html`<dl>${group ? html`<dt>group</dt><dd>${group}</dd>` : null}${query === undefined ? null : html`<dt>searched for</dt><dd>${query}</dd>`}${prelude ? html`<dt>prelude</dt><dd>${prelude}</dd>` : null}${nearMisses.length === 0 ? null : html`<dt>left out</dt><dd>${nearMisses.map(({ id, reason }) => html`<div><span class="id">${id}</span>: ${typeof reason === 'string' ? reason : JSON.stringify(reason)}</div>`)}</dd>`}</dl>`
}

function returned({ returned: items, explanation: given }: CaseRecord): Markup {
  if (items.length === 0) return html`<p class="soft">Nothing was returned.</p>`
  const parsed = Explained.safeParse(given)
  const clausesOf = (id: string) =>
    (parsed.success ? parsed.data.matches?.find((match) => match.id === id)?.clauses : undefined) ?? []
  return html`<h3>Returned</h3><div class="scroll"><table><thead><tr><th>tier</th><th class="number">rank</th><th>id</th><th class="number">score</th><th>because of</th></tr></thead><tbody>
${items.map(({ id, tier = '', rank, score }) => html`<tr><td>${tier}</td><td class="number">${rank}</td><td class="id">${id}</td><td class="number">${score === null ? '' : score.toFixed(3)}</td><td>${clausesOf(id).map((clause) => html`<div>${clause.path === 'canonical_name' ? 'name' : clause.path} “${clause.term}” <span class="soft">${clause.score.toFixed(3)}</span></div>`)}</td></tr>`)}
</tbody></table></div>`
}

function difference({ base, candidate, firstStage, returned: items }: CaseDiff, reference: string | null): Markup {
  const rows = items.map(({ id, tier, from, to }) => {
    const [sign, tone] = from === null ? ['+', 'odd'] : to === null ? ['−', 'bad'] : ['~', 'soft']
    return html`<tr><td class="${tone}">${sign}</td><td>${tier}</td><td class="id">${id}</td><td class="number">${from ?? ''}</td><td class="number">${to ?? ''}</td></tr>`
  })
  const table =
    rows.length === 0
      ? null
      : html`<div class="scroll"><table><thead><tr><th></th><th>tier</th><th>id</th><th class="number">rank then</th><th class="number">rank now</th></tr></thead><tbody>${rows}</tbody></table></div>`
  return html`<h3>Compared with ${reference}</h3><p>${base} then, ${candidate} now${firstStage === null ? ', with the same answer.' : html`; the first thing that differs is <b>${firstStage}</b>.`}</p>${table}`
}

function scores({ scores: given, timings }: CaseRecord): Markup {
  const entries = [
    ...Object.entries(given).map(([name, value]) => [
      name,
      value === null ? 'does not apply' : String(Math.round(value * 1e6) / 1e6),
    ]),
    ...Object.entries(timings).map(([stage, ms]) => [stage, `${ms.toFixed(3)} ms`]),
  ]
  return html`<h3>Scores and times</h3><dl>${entries.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`
}
