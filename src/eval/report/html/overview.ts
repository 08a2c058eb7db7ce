import { changeSentence, verdictOf } from '../../gate/gate.ts'
import { wilsonInterval } from '../../score/statistics.ts'
import { html, type Markup } from './markup.ts'
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
