import { ask } from '../../../api/client.ts'
import { evalsChange } from '../../../api/live.ts'
import { figure, percent } from '../../../format/numbers.ts'
import { Link } from '../../../navigation/link.tsx'
import { health, typed } from '../../../state/memory-facts.ts'
import { useResource } from '../../../state/resource.ts'
import { Loaded } from '../../../ui/loaded.tsx'
import { EmptyState } from '../../../ui/notice.tsx'
import { SkeletonRows } from '../../../ui/skeleton.tsx'
import { Time } from '../../../ui/time.tsx'
import { metricName, packAddress, runAddress } from '../run-words.ts'

/** Figures that somebody accepted, to compare later runs with. */
export function BaselinesView() {
  const found = useResource('baselines', (signal) => ask('baselines', { signal }), { freshness: evalsChange.value })
  return (
    <Loaded resource={found} waiting={<SkeletonRows rows={4} label="Loading baselines" />}>
      {({ items }) =>
        items.length === 0 ? (
          <div class="panel">
            <EmptyState icon="check" title="No baseline has been accepted">
              <p>Later runs are compared with a baseline. Accept the latest runs with:</p>
              <code class="command">
                {typed(`benchmark snapshot --snapshot-id main --evals "${health.value?.evals.root}"`)}
              </code>
            </EmptyState>
          </div>
        ) : (
          <div class="stack">
            {items.map(({ snapshotId, createdAt, notes, gitRef, benchmarks, acceptedLower }) => (
              <section key={snapshotId} class="panel">
                <header class="panel-head">
                  <h2 class="break">{snapshotId}</h2>
                  <span class="soft small">
                    <Time at={createdAt} />
                    {gitRef === null ? '' : `, ${gitRef}`}
                  </span>
                </header>
                {notes === null ? null : <p class="panel-pad prose lines">{notes}</p>}
                <div class="table-scroll">
                  <table class="folding">
                    <thead>
                      <tr>
                        <th>Pack</th>
                        <th class="number">Passed</th>
                        <th>Figures</th>
                        <th>Run</th>
                      </tr>
                    </thead>
                    <tbody>
                      {benchmarks.map((one) => (
                        <tr key={one.benchmarkId}>
                          <td class="main-cell">
                            <Link href={packAddress(one.benchmarkId)}>{one.benchmarkId}</Link>
                            <span class="cell-note">{one.system ?? ''}</span>
                          </td>
                          <td class="number" data-label="passed">
                            {percent(one.passRate)}
                          </td>
                          <td class="small whole-cell">
                            {Object.entries(one.metrics).map(([name, value]) => (
                              <span key={name} class="metric">
                                {metricName(name)} <b class="number">{figure(value)}</b>
                              </span>
                            ))}
                          </td>
                          <td class="whole-cell">
                            <Link class="mono break" href={runAddress(one.runId)}>
                              {one.runId}
                            </Link>
                          </td>
                        </tr>
                      ))}
                    </tbody>
                  </table>
                </div>
                {(acceptedLower ?? []).map(({ benchmarkId, figure: name, from, to, reason }) => (
                  <p key={`${benchmarkId}-${name}`} class="panel-pad small break">
                    Accepted lower: {metricName(name)} of {benchmarkId} from {figure(from)} to{' '}
                    {to === null ? 'nothing' : figure(to)}, because “{reason}”
                  </p>
                ))}
              </section>
            ))}
          </div>
        )
      }
    </Loaded>
  )
}
