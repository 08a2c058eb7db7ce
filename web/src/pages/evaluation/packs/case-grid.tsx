import { useState } from 'preact/hooks'
import type { RouteAnswer } from '../../../../../src/http/api/contract.ts'
import { count, counted } from '../../../format/numbers.ts'
import { shortDay } from '../../../format/time.ts'
import { Link } from '../../../navigation/link.tsx'
import { Button } from '../../../ui/button.tsx'
import { caseAddress, runAddress, whenOf } from '../run-words.ts'

type Grid = RouteAnswer<'packGrid'>

const signs = { pass: '✓', fail: '✕', error: '!', skipped: '–', unjudged: '?' } as const
const pageSize = 40
/** Cases that always passed need no more than a few rows. */
const leastRows = 8

/** Cases by runs: which broke when, which come and go, which never passed. */
export function CaseGrid({ grid }: { readonly grid: Grid }) {
  const [more, setMore] = useState(0)
  if (grid.runs.length === 0) return null
  const unsteady = grid.cases.filter(({ verdicts }) => verdicts.some((one) => one !== null && one !== 'pass')).length
  const shown = Math.min(pageSize, Math.max(leastRows, unsteady)) + more
  return (
    <section class="panel" aria-label="Cases by runs">
      <header class="panel-head">
        <h2>Cases by runs</h2>
        <span class="soft small">
          {unsteady === 0
            ? `All ${count(grid.total)} cases passed in ${counted(grid.runs.length, 'run')}`
            : `${count(unsteady)} of ${count(grid.total)} cases did not always pass`}
        </span>
      </header>
      <div class="table-scroll">
        <table class="case-grid">
          <thead>
            <tr>
              <th>Case</th>
              {grid.runs.map((listed) => (
                <th key={listed.run.runId} class="grid-run">
                  <Link href={runAddress(listed.run.runId)}>{shortDay(whenOf(listed))}</Link>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {grid.cases.slice(0, shown).map(({ caseId, prompt, verdicts }) => (
              <tr key={caseId}>
                <th scope="row" class="grid-case">
                  <CaseLink caseId={caseId} run={latestWith(verdicts, grid)} />
                  {prompt === null ? null : (
                    <span class="clip soft small" dir="auto">
                      {prompt}
                    </span>
                  )}
                </th>
                {verdicts.map((verdict, index) => {
                  const run = grid.runs[index]?.run.runId ?? ''
                  return (
                    <td key={run} class={`cell ${verdict ?? 'none'}`}>
                      {verdict === null ? (
                        <span class="soft" title="not in this run">
                          ·
                        </span>
                      ) : (
                        <Link href={caseAddress(run, caseId)} aria-label={`${caseId}: ${verdict}`} title={verdict}>
                          {signs[verdict]}
                        </Link>
                      )}
                    </td>
                  )
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {shown < grid.cases.length ? (
        <div class="more-rows">
          <Button tone="quiet" onClick={() => setMore(more + pageSize * 5)}>
            {count(shown)} of {count(grid.cases.length)}. Show more
          </Button>
        </div>
      ) : null}
    </section>
  )
}

/** The newest run that has the case. */
const latestWith = (verdicts: Grid['cases'][number]['verdicts'], { runs }: Grid): string | null =>
  runs[verdicts.findLastIndex((verdict) => verdict !== null)]?.run.runId ?? null

const CaseLink = ({ caseId, run }: { readonly caseId: string; readonly run: string | null }) =>
  run === null ? (
    <span class="mono clip">{caseId}</span>
  ) : (
    <Link class="mono clip" href={caseAddress(run, caseId)}>
      {caseId}
    </Link>
  )
