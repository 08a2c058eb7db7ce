import { z } from 'zod'
import type { CaseDiff } from '../../compare/diff.ts'
import type { CaseRecord } from '../../store/schemas/case-record.ts'
import { type ListedCase, verdictMark } from './cases.ts'
import { html, type Markup } from './markup.ts'

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
