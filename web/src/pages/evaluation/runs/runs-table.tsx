import type { ListedRun } from '../../../../../src/http/api/contract.ts'
import { count, milliseconds, percent } from '../../../format/numbers.ts'
import { Link } from '../../../navigation/link.tsx'
import { navigate, query, withQuery } from '../../../navigation/router.ts'
import { Button } from '../../../ui/button.tsx'
import { Time } from '../../../ui/time.tsx'
import { PassBar } from '../pass-bar.tsx'
import { compareAddress, packAddress, runAddress, systemOf, whenOf } from '../run-words.ts'
import { PartOfPack, RunStatus } from '../verdict.tsx'

/** Runs, newest first. Any two of the same pack can be laid beside each other. */
export function RunsTable({ runs, showsPack }: { readonly runs: readonly ListedRun[]; readonly showsPack: boolean }) {
  const chosen = query.value.getAll('run')
  const toggle = (id: string) => {
    const next = chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id].slice(-2)
    navigate(withQuery({ run: next }), { replace: true })
  }
  const pair = runs.filter(({ run }) => chosen.includes(run.runId))
  const [after, before] = pair
  const isPair = before !== undefined && after !== undefined
  const isSamePack = isPair && before.run.benchmarkId === after.run.benchmarkId
  return (
    <>
      <div class="table-tools">
        <Button
          disabled={!isSamePack}
          onClick={() => {
            if (isSamePack) navigate(compareAddress(before.run.runId, after.run.runId))
          }}
        >
          Compare
        </Button>
        <span class="soft small">
          {isPair && !isSamePack ? 'These two are of different packs.' : 'Choose two runs of the same pack.'}
        </span>
      </div>
      <div class="table-scroll">
        <table class="runs">
          <thead>
            <tr>
              <th>
                <span class="unseen">Compare</span>
              </th>
              <th>Run</th>
              {showsPack ? <th>Pack</th> : null}
              <th>Status</th>
              <th>Passed</th>
              <th class="wide-cell">System</th>
              <th class="number wide-cell">Median time</th>
            </tr>
          </thead>
          <tbody>
            {runs.map((listed) => (
              <tr key={listed.run.runId}>
                <td class="check-cell">
                  <input
                    type="checkbox"
                    aria-label={`Compare ${listed.run.runId}`}
                    checked={chosen.includes(listed.run.runId)}
                    onChange={() => toggle(listed.run.runId)}
                  />
                </td>
                <td>
                  <Link href={runAddress(listed.run.runId)}>
                    <Time at={whenOf(listed)} />
                  </Link>
                  <span class="cell-note mono break">{listed.run.runId}</span>
                </td>
                {showsPack ? (
                  <td>
                    <Link href={packAddress(listed.run.benchmarkId)}>{listed.run.benchmarkId}</Link>
                  </td>
                ) : null}
                <td>
                  <RunStatus run={listed.run} /> <PartOfPack run={listed.run} />
                </td>
                <td class="pass-cell">
                  <PassBar listed={listed} />
                  <span class="cell-note number">
                    {count(listed.run.passedCases)} of {count(listed.run.totalCases)}
                    {listed.passRate === null ? '' : `, ${percent(listed.passRate)}`}
                  </span>
                </td>
                <td class="wide-cell">
                  {systemOf(listed)}
                  {listed.run.gitRef === undefined ? null : (
                    <span class="cell-note mono">{listed.run.gitRef.slice(0, 12)}</span>
                  )}
                </td>
                <td class="number wide-cell">
                  {listed.run.latency === undefined ? '' : milliseconds(listed.run.latency.p50Ms)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}
