import { useState } from 'preact/hooks'
import type { ListedBaseline, ListedPack, RouteAnswer } from '../../../../src/http/api/contract.ts'
import { ask, evalsChange } from '../../api/client.ts'
import { figure, percent, pluralize } from '../../format/numbers.ts'
import { Link } from '../../navigation/router.tsx'
import { Sparkline } from '../../plots/plots.tsx'
import { showToast, toastRefusal } from '../../state/changes.ts'
import { commandLine, health } from '../../state/facts.ts'
import { useResource } from '../../state/resource.ts'
import { Button, Icon, Time } from '../../ui/elements.tsx'
import { PageHead, Panel, Table } from '../../ui/layout.tsx'
import { MoreButton } from '../../ui/lists.tsx'
import { EmptyState, Loaded, SkeletonRows } from '../../ui/notice.tsx'
import { isCompared, PackVerdict, PassBar, RunsTable, Saturated, type Standing, StandingLine } from './parts.tsx'
import { metricName, packAddress, runAddress, runTime } from './words.ts'

/** All packs with the verdicts of their latest runs, followed by the baselines and all runs. */
export function PacksView() {
  // One resource, so that nothing moves when the answers arrive.
  const found = useResource(
    'packs',
    (signal) => Promise.all([ask('packs', { signal }), ask('standings', { signal }), ask('baselines', { signal })]),
    { freshness: evalsChange.value },
  )
  return (
    <div class="stack">
      <PageHead title="Evaluation">
        How well the memory works. A pack is a set of test messages, each with the beliefs that must be recalled for it.
        Every figure links to its cases.
      </PageHead>
      <Loaded resource={found} waiting={<SkeletonRows rows={6} label="Loading packs" />}>
        {([{ items }, { items: standings }, baselines]) => (
          <>
            <Headlines standings={standings} />
            <Panel label="Packs">
              {items.length === 0 ? (
                <EmptyState icon="evaluation" title="There are no packs yet">
                  <p>A pack is a set of test messages with the expected beliefs. Import one with:</p>
                  <code class="command box">{commandLine('benchmark import DIRECTORY')}</code>
                </EmptyState>
              ) : null}
              <PackRows packs={items.filter(({ latest }) => latest !== null)} standings={standings} />
              <NotRun packs={items.filter(({ latest }) => latest === null)} />
            </Panel>
            <Baselines items={baselines.items} />
            <Runs />
          </>
        )}
      </Loaded>
    </div>
  )
}

type PackStandings = RouteAnswer<'standings'>['items']

/** The packs that got worse, or one sentence if there are none. */
function Headlines({ standings }: { readonly standings: PackStandings }) {
  const worse = standings.filter(({ broken }) => broken.length > 0)
  if (standings.length === 0) return null
  if (worse.length === 0)
    return (
      <p class="headline quote good row">
        <Icon name={standings.some(isCompared) ? 'check' : 'evaluation'} />
        <b class="grow">{nothingWorseWords(standings)}</b>
      </p>
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

/** The headline if no pack has a broken case. Packs with a single run, or without runs since the baseline, are not compared. */
function nothingWorseWords(standings: readonly Pick<Standing, 'against' | 'latest'>[]): string {
  const compared = standings.filter(isCompared).length
  const others = standings.length - compared
  if (compared === 0)
    return `Nothing to compare yet: ${pluralize(others, 'pack')} ${others === 1 ? 'has' : 'have'} a single run, or none since the baseline.`
  const unchanged = `Nothing got worse: ${pluralize(compared, 'pack')} ${compared === 1 ? 'is' : 'are'} at least as good as the baseline or the run before.`
  return others === 0
    ? unchanged
    : `${unchanged} ${pluralize(others, 'other pack')} ${others === 1 ? 'has' : 'have'} nothing to compare with yet.`
}

type PackRowsProps = { readonly packs: readonly ListedPack[]; readonly standings?: PackStandings }

const PackRows = ({ packs, standings = [] }: PackRowsProps) =>
  packs.length === 0 ? null : (
    <ul class="rows lines packs">
      {packs.map((pack) => (
        <PackRow
          key={pack.id}
          pack={pack}
          others={standings.filter(({ benchmarkId, system }) => benchmarkId === pack.id && system !== pack.system)}
        />
      ))}
    </ul>
  )

/** Max packs of a group that is not collapsed. */
const maxOpen = 3

/** Packs without a run: the person's own, then the shipped ones by subject. Large groups are collapsed, because few people run them. */
function NotRun({ packs }: { readonly packs: readonly ListedPack[] }) {
  if (packs.length === 0) return null
  const shipped = packs.filter(({ source }) => source === 'shipped')
  const groups = [...Map.groupBy(shipped, ({ tags }) => tags[0] ?? 'other')].toSorted(
    ([, a], [, b]) => a.length - b.length,
  )
  return (
    <>
      <h2 class="group-title">Not run yet</h2>
      <PackRows packs={packs.filter(({ source }) => source === 'store')} />
      {groups.map(([subject, members]) => {
        if (members.length <= maxOpen) return <PackRows key={subject} packs={members} />
        const cases = members.reduce((sum, pack) => sum + pack.cases, 0)
        return (
          <details key={subject} class="pack-group rows">
            <summary>
              <b>{`${subject.charAt(0).toUpperCase()}${subject.slice(1)}`.replaceAll('-', ' ')}</b>{' '}
              <span class="small">
                {pluralize(members.length, 'pack')}, {pluralize(cases, 'case')}
              </span>
            </summary>
            <PackRows packs={members} />
          </details>
        )
      })}
    </>
  )
}

/** `others`: the standings of other systems whose results got worse. */
function PackRow({ pack, others }: { readonly pack: ListedPack; readonly others: PackStandings }) {
  const { id, title, description, cases, system, verdict, latest, problem, source } = pack
  const about = problem ?? description
  return (
    <li class="pack-row">
      <div class="grow">
        <p class="row">
          <Link class="strong-link" href={packAddress(id)} text={title} />
          {latest === null ? null : <PackVerdict verdict={verdict} />}
          {pack.isSaturated ? <Saturated /> : null}
        </p>
        <p class="soft small break">
          {pluralize(cases, 'case')}
          {source === 'shipped' ? ', ships with Credence' : ''}
          {about === null ? '' : `. ${about}`}
        </p>
      </div>
      <div class="stack tight small number">
        {latest === null ? null : latest.passRate === null ? (
          <span class="soft">no figures yet</span>
        ) : (
          <>
            <span class="row">
              <span class="grow">
                <PassBar listed={latest} />
              </span>
              <Sparkline values={pack.recent} label={`Pass rates of the last ${pack.recent.length} runs`} />
            </span>
            <span class="soft">
              {system === null ? '' : `${system === 'bm25' ? 'Credence' : system}: `}
              {percent(latest.passRate)} of {pluralize(latest.run.totalCases, 'case')} passed,{' '}
              <Time at={runTime(latest)} />
            </span>
            {others.map((other) => (
              <Link key={other.system} class="toned bad" href={packAddress(id, other.system)}>
                {`${other.system}: ${percent(other.latest.passRate ?? 0)} passed, worse than before`}
              </Link>
            ))}
          </>
        )}
      </div>
      {pack.isRunnable ? <RunButton pack={id} /> : <span />}
    </li>
  )
}

/** Runs a pack in the background. The page is updated when the run ends. */
export function RunButton({ pack }: { readonly pack: string }) {
  const start = async () => {
    try {
      const { runId } = await ask('startRun', { body: { pack } })
      showToast(`Running ${pack} as ${runId}. Its figures appear here when it is done.`)
      evalsChange.value += 1
    } catch (error) {
      toastRefusal(error)
    }
  }
  return <Button class="small" onClick={start} aria-label={`Run ${pack}`} label="Run" />
}

const runsPerStep = 50
const maxRuns = 200

function Runs() {
  const [limit, setLimit] = useState(runsPerStep)
  const found = useResource('runs', (signal) => ask('runs', { query: { limit }, signal }), {
    freshness: evalsChange.value + limit,
  })
  const { items = [], total = 0 } = found.value ?? {}
  if (items.length === 0) return null
  return (
    <Panel title="Runs">
      <RunsTable runs={items} showsPack />
      {items.length < total && limit < maxRuns ? (
        <MoreButton onMore={() => setLimit(limit + runsPerStep)} shown={items.length} total={total} />
      ) : null}
    </Panel>
  )
}

/** The accepted runs, with which later runs are compared. */
function Baselines({ items }: { readonly items: readonly ListedBaseline[] }) {
  if (items.length > 0)
    return (
      <>
        {items.map((baseline) => (
          <Baseline key={baseline.snapshotId} baseline={baseline} />
        ))}
      </>
    )
  return (
    <Panel title="Baselines">
      <div class="pad stack tight">
        <p class="soft">No baseline has been accepted. Later runs are compared with it. Accept the latest runs with:</p>
        <code class="command box">
          {commandLine(`benchmark snapshot --snapshot-id main --evals "${health.value?.evals.root}"`)}
        </code>
      </div>
    </Panel>
  )
}

function Baseline({ baseline }: { readonly baseline: ListedBaseline }) {
  const { snapshotId, createdAt, notes, gitRef, benchmarks, acceptedLower } = baseline
  return (
    <Panel
      title={`Baseline ${snapshotId}`}
      note={
        <span class="soft small">
          <Time at={createdAt} />
          {gitRef === null ? '' : `, ${gitRef}`}
        </span>
      }
    >
      {notes === null ? null : <p class="pad prose">{notes}</p>}
      <Table
        rows={benchmarks}
        keyOf={({ benchmarkId }) => benchmarkId}
        columns={[
          {
            head: 'Pack',
            class: 'whole',
            cell: ({ benchmarkId, system }) => (
              <>
                <Link href={packAddress(benchmarkId)}>{benchmarkId}</Link> <span class="cell-note">{system}</span>
              </>
            ),
          },
          { head: 'Passed', class: 'number', label: 'passed', cell: ({ passRate }) => percent(passRate) },
          {
            head: 'Figures',
            class: 'small whole',
            cell: ({ metrics }) =>
              Object.entries(metrics)
                .map(([name, value]) => `${metricName(name)} ${figure(value)}`)
                .join(', '),
          },
          {
            head: 'Run',
            class: 'break',
            cell: ({ runId }) => <Link class="mono" href={runAddress(runId)} text={runId} />,
          },
        ]}
      />
      {(acceptedLower ?? []).map(({ benchmarkId, figure: name, from, to, reason }) => (
        <p key={`${benchmarkId}-${name}`} class="pad small break">
          Accepted lower: {metricName(name)} of {benchmarkId} from {figure(from)} to{' '}
          {to === null ? 'nothing' : figure(to)}, because “{reason}”
        </p>
      ))}
    </Panel>
  )
}
