import type { Answer } from '../../../../src/http/api/contract.ts'
import { ask } from '../../api/client.ts'
import { evalsChange } from '../../api/live.ts'
import { count, figure, milliseconds, percent } from '../../format/numbers.ts'
import { moment } from '../../format/time.ts'
import { Crumbs } from '../../navigation/crumbs.tsx'
import { Link } from '../../navigation/link.tsx'
import { useResource } from '../../state/resource.ts'
import { useSubject } from '../../state/subject.ts'
import { Loaded } from '../../ui/loaded.tsx'
import { SkeletonBlock } from '../../ui/skeleton.tsx'
import { CasesList } from './cases-list.tsx'
import { allPacks, compareAddress, metricName, packAddress, systemOf, whenOf } from './run-words.ts'
import { RunStatus } from './verdict.tsx'

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
              <RunStatus status={run.run.status} />
              <div class="page-tools">
                <CompareWithPrevious run={run} />
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

type Run = Answer<'run'>

function CompareWithPrevious({ run }: { readonly run: Run }) {
  const at = run.history.findIndex((one) => one.run.runId === run.run.runId)
  const before = run.history[at - 1]
  if (before === undefined) return null
  return (
    <Link class="button" href={compareAddress(before.run.runId, run.run.runId)}>
      Compare with the one before
    </Link>
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
                : `95 %: ${figure(interval.low)} to ${figure(interval.high)}`}
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
