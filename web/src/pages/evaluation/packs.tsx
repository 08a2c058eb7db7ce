import { useState } from 'preact/hooks'
import type { ListedPack, RouteAnswer } from '../../../../src/http/api/contract.ts'
import { ask, asRefusal, evalsChange } from '../../api/client.ts'
import { count, figure, percent, pluralize } from '../../format/numbers.ts'
import { Link } from '../../navigation/router.tsx'
import { Sparkline } from '../../plots/plots.tsx'
import { showToast } from '../../state/changes.ts'
import { commandLine, health } from '../../state/facts.ts'
import { useResource } from '../../state/resource.ts'
import { Badge, Button, Icon, Time } from '../../ui/elements.tsx'
import { EmptyState, Loaded, SkeletonRows } from '../../ui/notice.tsx'
import { isCompared, nothingWorseWords, PackVerdict, PassBar, RunsTable, StandingLine } from './parts.tsx'
import { metricName, packAddress, runAddress, whenOf } from './words.ts'

/** Every pack with the verdict of its latest run. */
export function PacksView() {
  const packs = useResource('packs', (signal) => ask('packs', { signal }), { freshness: evalsChange.value })
  const found = useResource('standings', (signal) => ask('standings', { signal }), { freshness: evalsChange.value })
  const standings = found.value?.items ?? []
  return (
    <div class="stack">
      <Headlines standings={standings} />
      <section class="panel" aria-label="Packs">
        <Loaded resource={packs} waiting={<SkeletonRows rows={6} label="Loading packs" />}>
          {({ items }) =>
            items.length === 0 ? (
              <EmptyState icon="evaluation" title="There are no packs yet">
                <p>A pack is a set of messages and what recall must answer. Import one with:</p>
                <code class="command">{commandLine('benchmark import DIRECTORY')}</code>
              </EmptyState>
            ) : (
              <>
                <PackRows packs={items.filter(({ latest }) => latest !== null)} standings={standings} />
                <NotRun packs={items.filter(({ latest }) => latest === null)} />
              </>
            )
          }
        </Loaded>
      </section>
    </div>
  )
}

type PackStandings = RouteAnswer<'standings'>['items']

/** What got worse, pack by pack; one sentence when nothing did. */
function Headlines({ standings: items }: { readonly standings: PackStandings }) {
  const worse = items.filter(({ broken }) => broken.length > 0)
  if (items.length === 0) return null
  if (worse.length === 0)
    return (
      <div class="headline">
        <Icon name={items.some(isCompared) ? 'check' : 'evaluation'} />
        <p>
          <b>{nothingWorseWords(items)}</b>
        </p>
      </div>
    )
  return (
    <>
      {worse.map(({ benchmarkId, title, ...standing }) => (
        <section key={`${benchmarkId}-${standing.system}`} aria-label={title}>
          <StandingLine standing={standing} pack={{ id: benchmarkId, title }} />
        </section>
      ))}
    </>
  )
}

type PackRowsProps = { readonly packs: readonly ListedPack[]; readonly standings?: PackStandings }

const PackRows = ({ packs, standings = [] }: PackRowsProps) =>
  packs.length === 0 ? null : (
    <ul class="packs">
      {packs.map((pack) => (
        <PackRow
          key={pack.id}
          pack={pack}
          others={standings.filter(({ benchmarkId, system }) => benchmarkId === pack.id && system !== pack.system)}
        />
      ))}
    </ul>
  )

/** A longer group is folded. */
const longestOpen = 3

/** One's own packs, then those that ship, by subject: most of them are never run by most people. */
function NotRun({ packs }: { readonly packs: readonly ListedPack[] }) {
  if (packs.length === 0) return null
  const shipped = packs.filter(({ source }) => source === 'shipped')
  const groups = [...Map.groupBy(shipped, ({ tags }) => tags[0] ?? 'other')]
  return (
    <>
      <h2 class="group-title">Not run yet</h2>
      <PackRows packs={packs.filter(({ source }) => source === 'store')} />
      {groups
        .toSorted(([, one], [, other]) => one.length - other.length)
        .map(([subject, of]) =>
          of.length <= longestOpen ? (
            <PackRows key={subject} packs={of} />
          ) : (
            <details key={subject} class="pack-group">
              <summary>
                <b>{capitalised(subject)}</b>{' '}
                <span class="soft small">
                  {pluralize(of.length, 'pack')},{' '}
                  {pluralize(
                    of.reduce((sum, { cases }) => sum + cases, 0),
                    'case',
                  )}
                </span>
              </summary>
              <PackRows packs={of} />
            </details>
          ),
        )}
    </>
  )
}

const capitalised = (tag: string): string => `${tag.charAt(0).toUpperCase()}${tag.slice(1)}`.replaceAll('-', ' ')

/** `others`: systems besides the one of the verdict that got worse. */
function PackRow({ pack, others }: { readonly pack: ListedPack; readonly others: PackStandings }) {
  const { id, title, description, cases, system, verdict, latest, problem, source } = pack
  return (
    <li class={latest === null ? 'pack-row not-run' : 'pack-row'}>
      <div class="pack-title">
        <Link href={packAddress(id)}>{title}</Link>
        {latest === null ? null : <PackVerdict verdict={verdict} />}
        {pack.isSaturated ? (
          <span title="Every whole run passed every case: a regression test, not evidence of quality.">
            <Badge tone="odd">saturated</Badge>
          </span>
        ) : null}
        <p class="soft small">
          {pluralize(cases, 'case')}
          {source === 'shipped' ? ', ships with Credence' : ''}
          {problem === null ? (description === null ? '' : `. ${description}`) : `. ${problem}`}
        </p>
      </div>
      {latest === null ? null : (
        <div class="pack-result">
          {latest.passRate === null ? (
            <span class="soft small">no figures yet</span>
          ) : (
            <>
              <span class="row">
                <PassBar listed={latest} />
                <Sparkline values={pack.recent} label={`Pass rates of the last ${pack.recent.length} runs`} />
              </span>
              <span class="soft small number">
                {system === null ? '' : `${system === 'bm25' ? 'Credence' : system}: `}
                {percent(latest.passRate)} of {pluralize(latest.run.totalCases, 'case')} passed,{' '}
                <Time at={whenOf(latest)} />
              </span>
              {others.map((other) => (
                <Link
                  key={other.system}
                  class="small number other-system"
                  href={packAddress(id, other.system)}
                >{`${other.system}: ${percent(other.latest.passRate ?? 0)} passed, worse than before`}</Link>
              ))}
            </>
          )}
        </div>
      )}
      {pack.isRunnable ? <RunButton pack={id} /> : <span />}
    </li>
  )
}

/** Runs a pack in the background; the page hears of its end by itself. */
export function RunButton({ pack }: { readonly pack: string }) {
  const [isBusy, setBusy] = useState(false)
  const start = async () => {
    setBusy(true)
    try {
      const { runId } = await ask('startRun', { body: { pack } })
      showToast(`Running ${pack} as ${runId}. Its figures appear here when it is done.`)
      evalsChange.value += 1
    } catch (error) {
      const { message, hint } = asRefusal(error)
      showToast(`${message} ${hint}`, { tone: 'failed' })
    }
    setBusy(false)
  }
  return (
    <Button class="small" isBusy={isBusy} onClick={() => void start()} aria-label={`Run ${pack}`}>
      Run
    </Button>
  )
}

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
                {commandLine(`benchmark snapshot --snapshot-id main --evals "${health.value?.evals.root}"`)}
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

const step = 50
const most = 200

/** Every run of every pack. */
export function RunsView() {
  const [limit, setLimit] = useState(step)
  const runs = useResource('runs', (signal) => ask('runs', { query: { limit }, signal }), {
    freshness: evalsChange.value + limit,
  })
  return (
    <section class="panel" aria-label="Runs">
      <Loaded resource={runs} waiting={<SkeletonRows rows={8} label="Loading runs" />}>
        {({ items, total }) =>
          items.length === 0 ? (
            <EmptyState icon="evaluation" title="Nothing has been run yet">
              <p>Press “Run” beside a pack.</p>
            </EmptyState>
          ) : (
            <>
              <RunsTable runs={items} showsPack />
              {items.length < total && limit < most ? (
                <div class="more-rows">
                  <Button tone="quiet" onClick={() => setLimit(Math.min(most, limit + step))}>
                    {count(items.length)} of {count(total)}. Show more
                  </Button>
                </div>
              ) : null}
            </>
          )
        }
      </Loaded>
    </section>
  )
}
