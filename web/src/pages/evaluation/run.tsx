import type { ListedCase, RouteAnswer } from '../../../../src/http/api/contract.ts'
import { ask, evalsChange } from '../../api/client.ts'
import { count, figure, milliseconds, percent, pluralize } from '../../format/numbers.ts'
import { moment } from '../../format/time.ts'
import { Crumbs, Link, navigate, query, withQuery } from '../../navigation/router.tsx'
import { useResource } from '../../state/resource.ts'
import { useSubject } from '../../state/window.ts'
import { Button } from '../../ui/elements.tsx'
import { SearchBox } from '../../ui/form.tsx'
import { Loaded, SkeletonBlock, SkeletonRows } from '../../ui/notice.tsx'
import { CaseVerdict, PartOfPack, RunStatus } from './parts.tsx'
import {
  allPacks,
  caseAddress,
  compareAddress,
  failureWords,
  metricName,
  packAddress,
  systemOf,
  whenOf,
} from './words.ts'

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

const verdicts = ['pass', 'fail', 'error', 'skipped', 'unjudged'] as const
const pageSize = 50

type CasesListProps = { readonly runId: string; readonly verdicts: Readonly<Record<string, number>> }

/** The cases of a run, those that did not pass first. The filters live in the address. */
export function CasesList({ runId, verdicts: counts }: CasesListProps) {
  const verdict = verdicts.find((one) => one === query.value.get('verdict'))
  const text = query.value.get('text') ?? ''
  const offset = Math.max(0, Number.parseInt(query.value.get('from') ?? '0', 10) || 0)
  const found = useResource(
    JSON.stringify([runId, verdict, text, offset]),
    (signal) =>
      ask('cases', {
        params: { id: runId },
        query: {
          limit: pageSize,
          offset,
          ...(verdict === undefined ? {} : { verdict: [verdict] }),
          ...(text === '' ? {} : { text }),
        },
        signal,
      }),
    { freshness: evalsChange.value, keep: true },
  )
  const set = (changes: Readonly<Record<string, string | null>>) =>
    navigate(withQuery({ from: null, ...changes }), { replace: true })
  return (
    <section class="panel" aria-label="Cases">
      <header class="panel-head">
        <h2>Cases</h2>
        <div class="row case-filters">
          <SearchBox
            label="Filter cases"
            placeholder="Id, message, failure"
            maxLength={200}
            text={text}
            onChange={(next) => set({ text: next })}
          />
          <select
            class="select"
            aria-label="Verdict"
            value={verdict ?? ''}
            onChange={(event) => set({ verdict: event.currentTarget.value })}
          >
            <option value="">All verdicts</option>
            {verdicts.map((one) => (
              <option key={one} value={one}>
                {one} ({count(counts[one] ?? 0)})
              </option>
            ))}
          </select>
        </div>
      </header>
      <Loaded resource={found} waiting={<SkeletonRows rows={6} label="Loading cases" />}>
        {({ items, total, names }) =>
          items.length === 0 ? (
            <p class="panel-pad soft">No case fits.</p>
          ) : (
            <>
              <ul class="cases" aria-busy={found.isLoading}>
                {items.map((one) => (
                  <CaseRow key={`${one.caseId}-${one.repeat}`} runId={runId} one={one} names={names} />
                ))}
              </ul>
              <div class="pager">
                <span class="soft small number">
                  {count(offset + 1)} to {count(offset + items.length)} of {count(total)}
                </span>
                <Button
                  class="small"
                  icon="back"
                  aria-label="Earlier cases"
                  disabled={offset === 0}
                  onClick={() => set({ from: String(Math.max(0, offset - pageSize)) })}
                />
                <Button
                  class="small"
                  icon="forward"
                  aria-label="Later cases"
                  disabled={offset + items.length >= total}
                  onClick={() => set({ from: String(offset + pageSize) })}
                />
              </div>
            </>
          )
        }
      </Loaded>
    </section>
  )
}

type CaseRowProps = {
  readonly runId: string
  readonly one: ListedCase
  readonly names: RouteAnswer<'cases'>['names']
}

function CaseRow({ runId, one, names }: CaseRowProps) {
  const { caseId, repeat, verdict, prompt, failures, error, returned, totalMs } = one
  return (
    <li class="case-row">
      <CaseVerdict verdict={verdict} />
      <div class="case-text">
        <Link href={caseAddress(runId, caseId)}>
          <span class="mono break">{caseId}</span>
          {repeat === 0 ? '' : ` · repeat ${repeat + 1}`}
        </Link>
        {prompt === null ? null : (
          <p class="clip-two" dir="auto">
            {prompt}
          </p>
        )}
        {[...(error === null ? [] : [error]), ...failures].slice(0, 3).map((failure) => (
          <p key={failure} class="case-failure">
            {failureWords(failure, names)}
          </p>
        ))}
      </div>
      <span class="soft small number case-figures">
        {pluralize(returned, 'result')}, {milliseconds(totalMs)}
      </span>
    </li>
  )
}
