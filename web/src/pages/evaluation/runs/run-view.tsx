import type { RouteAnswer } from '../../../../../src/http/api/contract.ts'
import { ask } from '../../../api/client.ts'
import { evalsChange } from '../../../api/live.ts'
import { count, figure, milliseconds, percent } from '../../../format/numbers.ts'
import { moment } from '../../../format/time.ts'
import { Crumbs } from '../../../navigation/crumbs.tsx'
import { Link } from '../../../navigation/link.tsx'
import { navigate } from '../../../navigation/router.ts'
import { useResource } from '../../../state/resource.ts'
import { useSubject } from '../../../state/subject.ts'
import { Loaded } from '../../../ui/loaded.tsx'
import { SkeletonBlock } from '../../../ui/skeleton.tsx'
import { allPacks, compareAddress, metricName, packAddress, systemOf, whenOf } from '../run-words.ts'
import { PartOfPack, RunStatus } from '../verdict.tsx'
import { CasesList } from './cases-list.tsx'

/** One run: what it came to, where it took place, and its cases. */
export function RunView({ id }: { readonly id: string }) {
  const found = useResource(id, (signal) => ask('run', { params: { id }, signal }), { freshness: evalsChange.value })
  useSubject(found.value === null ? null : `Run of ${found.value.run.benchmarkId}`)
  return (
    <Loaded resource={found} waiting={<SkeletonBlock kind="plot" label="Loading the run" />} elsewhere={allPacks}>
      {(run) => (
        <div class="stack">
          <div>
            <Crumbs
              steps={[
                { name: 'Packs', href: '/evaluation' },
                { name: run.run.benchmarkId, href: packAddress(run.run.benchmarkId) },
                { name: 'Run' },
              ]}
            />
            <header class="page-head flush">
              <h1>Run of {moment(whenOf(run))}</h1>
              <RunStatus run={run.run} />
              <PartOfPack run={run.run} />
              <div class="page-tools">
                <CompareWith run={run} />
              </div>
              <p class="mono break">{run.run.runId}</p>
            </header>
          </div>
          <Figures run={run} />
          {run.problems.map((problem) => (
            <p key={problem} class="changed-note">
              {problem}
            </p>
          ))}
          <CasesList runId={id} verdicts={run.verdicts} />
          <Surroundings run={run} />
        </div>
      )}
    </Loaded>
  )
}

type Run = RouteAnswer<'run'>

/** With the accepted run first: what broke earlier is no difference to the run before. */
function CompareWith({ run }: { readonly run: Run }) {
  const others = run.history.filter((one) => one.run.runId !== run.run.runId).toReversed()
  const baseline = others.find((one) => one.run.runId === run.baseline?.runId)
  if (others.length === 0) return null
  return (
    <>
      {baseline === undefined ? null : (
        <Link class="button" href={compareAddress(baseline.run.runId, run.run.runId)}>
          Compare with baseline {run.baseline?.snapshotId}
        </Link>
      )}
      <select
        class="select narrow"
        aria-label="Compare with a run"
        value=""
        onChange={(event) => navigate(compareAddress(event.currentTarget.value, run.run.runId))}
      >
        <option value="">Compare with a run…</option>
        {others.map((one) => (
          <option key={one.run.runId} value={one.run.runId}>
            {moment(whenOf(one))}, {one.passRate === null ? '–' : percent(one.passRate)}
          </option>
        ))}
      </select>
    </>
  )
}

function Figures({ run }: { readonly run: Run }) {
  const { passRate, passInterval, run: summary } = run
  const metrics = Object.entries(summary.metrics ?? {}).sort(([one], [other]) => (one < other ? -1 : 1))
  return (
    <dl class="figures">
      <div>
        <dt>Pass rate</dt>
        <dd class="number">{passRate === null ? '–' : percent(passRate)}</dd>
        <dd class="figure-note">
          {passInterval === null ? '' : `95 %: ${percent(passInterval.low)} to ${percent(passInterval.high)}`}
        </dd>
      </div>
      <div>
        <dt>Cases passed</dt>
        <dd class="number">{count(summary.passedCases)}</dd>
        <dd class="figure-note">of {count(summary.totalCases)}</dd>
      </div>
      {metrics.map(([name, value]) => {
        const interval = summary.intervals?.[name]
        return (
          <div key={name}>
            <dt>{metricName(name)}</dt>
            <dd class="number">{figure(value)}</dd>
            <dd class="figure-note">
              {interval === undefined || interval.high - interval.low < 1e-9
                ? ''
                : `95 %: ${figure(bounded(interval.low, value))} to ${figure(bounded(interval.high, value))}`}
            </dd>
          </div>
        )
      })}
      {summary.latency === undefined ? null : (
        <div>
          <dt>Time per case</dt>
          <dd class="number">{milliseconds(summary.latency.p50Ms)}</dd>
          <dd class="figure-note">95 % within {milliseconds(summary.latency.p95Ms)}</dd>
        </div>
      )}
    </dl>
  )
}

/** A share lies between 0 and 1, whatever the formula of its interval says. */
const bounded = (bound: number, value: number): number =>
  value >= 0 && value <= 1 ? Math.min(1, Math.max(0, bound)) : bound

function Surroundings({ run }: { readonly run: Run }) {
  const { environment, run: summary } = run
  return (
    <section class="panel">
      <header class="panel-head">
        <h2>Where it took place</h2>
      </header>
      <dl class="facts panel-pad">
        <div>
          <dt>System</dt>
          <dd>{systemOf(run)}</dd>
        </div>
        <div>
          <dt>Pack</dt>
          <dd class="mono break">{summary.packHash ?? 'not recorded'}</dd>
        </div>
        {environment === null ? null : (
          <>
            <div>
              <dt>Node, OS</dt>
              <dd>
                {environment.node}, {environment.os.platform} {environment.os.release} {environment.os.arch}
              </dd>
            </div>
            <div>
              <dt>Commit</dt>
              <dd class="mono break">
                {environment.git === null
                  ? 'outside a repository'
                  : `${environment.git.commit}${environment.git.dirty ? ', with changes' : ''}`}
              </dd>
            </div>
          </>
        )}
        {summary.seed === undefined ? null : (
          <div>
            <dt>Seed</dt>
            <dd class="number">{summary.seed}</dd>
          </div>
        )}
        {summary.notes === undefined ? null : (
          <div>
            <dt>Notes</dt>
            <dd class="break">{summary.notes}</dd>
          </div>
        )}
      </dl>
    </section>
  )
}
