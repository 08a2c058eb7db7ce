import type { ListedCase, ListedPack, ListedRun, RouteAnswer } from '../../../../src/http/api/contract.ts'
import { count, milliseconds, percent, pluralize } from '../../format/numbers.ts'
import { dayOf } from '../../format/time.ts'
import { Link, navigate, query, setQuery } from '../../navigation/router.tsx'
import { roundCoordinate } from '../../plots/scale.ts'
import { Badge, Button, Icon, Time, type Tone } from '../../ui/elements.tsx'
import { Table } from '../../ui/layout.tsx'
import { compareAddress, failureWords, packAddress, runAddress, runTime, systemText } from './words.ts'

export const caseTones: Readonly<Record<ListedCase['verdict'], Tone>> = {
  pass: 'good',
  fail: 'bad',
  error: 'bad',
  skipped: 'plain',
  unjudged: 'odd',
}

export const CaseVerdict = ({ verdict }: { readonly verdict: ListedCase['verdict'] }) => (
  <Badge tone={caseTones[verdict]}>{verdict}</Badge>
)

const packTones: Readonly<Record<ListedPack['verdict'], Tone>> = {
  passed: 'good',
  failed: 'bad',
  unfinished: 'odd',
  'not run': 'plain',
}

export const PackVerdict = ({ verdict }: { readonly verdict: ListedPack['verdict'] }) => (
  <Badge tone={packTones[verdict]}>{verdict}</Badge>
)

export const Saturated = () => (
  <Badge
    tone="odd"
    title="Every complete run passed every case. The pack can show that something broke, but not that something improved."
  >
    always passed
  </Badge>
)

const unfinishedTones = { running: 'accent', failed: 'bad', partial: 'odd' } as const

/** The status of a run; for a completed run, its result. */
export function RunStatus({ run }: { readonly run: ListedRun['run'] }) {
  const { status, passedCases, totalCases, filter } = run
  const missed = totalCases - passedCases
  return (
    <>
      {status === 'completed' ? (
        <Badge tone={missed === 0 ? 'good' : 'bad'}>
          {missed === 0 ? 'all passed' : `${count(missed)} not passed`}
        </Badge>
      ) : (
        <Badge tone={unfinishedTones[status]}>{status}</Badge>
      )}{' '}
      {filter === undefined ? null : <Badge tone="odd">only a part of the cases</Badge>}
    </>
  )
}

/** A bar with the shares of passed, failed, error and other cases of a run. */
export function PassBar({ listed: { run } }: { readonly listed: ListedRun }) {
  const parts = [
    { name: 'passed', tone: 'good', cases: run.passedCases },
    { name: 'failed', tone: 'bad', cases: run.failedCases },
    { name: 'error', tone: 'odd', cases: run.errorCases ?? 0 },
    { name: 'other', tone: '', cases: (run.skippedCases ?? 0) + (run.unjudgedCases ?? 0) + (run.pendingCases ?? 0) },
  ].filter(({ cases }) => cases > 0)
  const label = parts.map(({ name, cases }) => `${count(cases)} ${name}`).join(', ')
  let x = 0
  return (
    <svg class="shares" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label={label}>
      {parts.map(({ name, tone, cases }) => {
        const width = (cases / Math.max(1, run.totalCases)) * 100
        x += width
        return <rect key={name} class={tone} x={roundCoordinate(x - width)} width={roundCoordinate(width)} height="8" />
      })}
    </svg>
  )
}

type Names = Readonly<Record<string, string>>

/** The first failures of a case, with names of beliefs instead of ids. */
export const Failures = ({ failures, names }: { readonly failures: readonly string[]; readonly names: Names }) => (
  <>
    {failures.slice(0, 3).map((failure) => (
      <p key={failure} class="toned bad small break">
        {failureWords(failure, names)}
      </p>
    ))}
  </>
)

export type Standing = NonNullable<RouteAnswer<'packGrid'>['standing']>

/** "Worse than baseline main: 2 of 60 cases broke on 12 November, commit 1a2b3c." */
function standingWords(standing: Standing): string {
  const { against, broken, fixed: mended, failing, total, since, latest } = standing
  const cases = pluralize(total, 'case')
  if (against === null)
    return failing === 0
      ? `All ${cases} passed in the only run. Accept it as a baseline to see later when something breaks.`
      : `${count(failing)} of ${cases} did not pass in the only run.`
  const reference = against.baseline === null ? 'the run before' : `baseline ${against.baseline}`
  if (broken.length > 0) {
    const commit = since?.commit == null ? '' : `, commit ${since.commit.slice(0, 7)}`
    const when = since === null ? '' : ` on ${dayOf(since.at)}${commit}`
    return `Worse than ${reference}: ${count(broken.length)} of ${cases} broke${when}.`
  }
  if (mended.length > 0)
    return `Better than ${reference}: ${count(mended.length)} of ${cases} ${mended.length === 1 ? 'was' : 'were'} fixed.`
  if (latest.run.runId === against.runId)
    return `The latest run is ${reference}: ${percent(latest.passRate ?? 0)} of ${cases} passed.`
  return failing === 0
    ? `As good as ${reference}: all ${cases} passed.`
    : `As good as ${reference}: ${count(failing)} of ${cases} ${failing === 1 ? 'does' : 'do'} not pass, as before.`
}

/** Whether the latest run can be compared. False if it is the only run or the baseline. */
export const isCompared = ({ against, latest }: Pick<Standing, 'against' | 'latest'>): boolean =>
  against !== null && against.runId !== latest.run.runId

type StandingLineProps = {
  readonly standing: Standing
  /** Set on pages with several packs. */
  readonly pack?: { readonly id: string; readonly title: string }
}

/** The state of a pack in one sentence, with links to its cases. */
export function StandingLine({ standing, pack }: StandingLineProps) {
  const { against, broken, latest, since, isSaturated, system } = standing
  const isWorse = broken.length > 0
  return (
    <div class={isWorse ? 'headline worse quote bad row' : 'headline quote good row'}>
      <Icon name={isWorse ? 'warn' : 'check'} />
      <div class="grow">
        {pack === undefined ? null : (
          <p class="row small">
            <Link href={packAddress(pack.id, system)}>{pack.title}</Link>
            {system === null ? null : <Badge>{system}</Badge>}
          </p>
        )}
        <b>{standingWords(standing)}</b>
        {isWorse ? <p class="small">{latest.run.notes}</p> : null}
        <p class="row small">
          {against === null || !isCompared(standing) ? null : (
            <Link
              href={compareAddress(against.runId, latest.run.runId)}
              text={`Compare with ${against.baseline === null ? 'the run before' : 'the baseline'}`}
            />
          )}
          {isWorse && since !== null ? <Link href={runAddress(since.runId)}>The run that broke it</Link> : null}
          {isSaturated ? <Saturated /> : null}
        </p>
      </div>
    </div>
  )
}

/** Runs, newest first. Two runs of the same pack can be selected and compared. */
export function RunsTable({ runs, showsPack }: { readonly runs: readonly ListedRun[]; readonly showsPack: boolean }) {
  const chosen = query.value.getAll('run')
  const toggle = (id: string) => {
    const next = chosen.includes(id) ? chosen.filter((other) => other !== id) : [...chosen, id].slice(-2)
    setQuery({ run: next })
  }
  const [after, before] = runs.filter(({ run }) => chosen.includes(run.runId))
  const isPair = before !== undefined && after !== undefined
  const isSamePack = isPair && before.run.benchmarkId === after.run.benchmarkId
  return (
    <>
      <div class="toolbar">
        <Button
          disabled={!isSamePack}
          onClick={() => isSamePack && navigate(compareAddress(before.run.runId, after.run.runId))}
          label="Compare"
        />
        <span class="soft small">
          {isPair && !isSamePack ? 'These runs are from different packs.' : 'Choose two runs of the same pack.'}
        </span>
      </div>
      <Table
        rows={runs}
        keyOf={({ run }) => run.runId}
        columns={[
          {
            head: 'Compare',
            isHeadHidden: true,
            cell: ({ run }) => (
              <input
                type="checkbox"
                aria-label={`Compare ${run.runId}`}
                checked={chosen.includes(run.runId)}
                onChange={() => toggle(run.runId)}
              />
            ),
          },
          {
            head: 'Run',
            class: 'grow',
            cell: (listed) => (
              <>
                <Link href={runAddress(listed.run.runId)}>
                  <Time at={runTime(listed)} />
                </Link>
                <span class="cell-note mono break wide-only">{listed.run.runId}</span>
              </>
            ),
          },
          showsPack
            ? { head: 'Pack', cell: ({ run }) => <Link href={packAddress(run.benchmarkId)}>{run.benchmarkId}</Link> }
            : null,
          { head: 'Status', cell: ({ run }) => <RunStatus run={run} /> },
          {
            head: 'Passed',
            class: 'whole',
            cell: (listed) => (
              <>
                <PassBar listed={listed} />
                <span class="cell-note number">
                  {count(listed.run.passedCases)} of {count(listed.run.totalCases)}
                  {listed.passRate === null ? '' : `, ${percent(listed.passRate)}`}
                </span>
              </>
            ),
          },
          {
            head: 'System',
            cell: (listed) => (
              <>
                {systemText(listed)} <span class="cell-note mono">{listed.run.gitRef?.slice(0, 12)}</span>
              </>
            ),
          },
          {
            head: 'Median time',
            class: 'number',
            label: 'median',
            cell: ({ run }) => (run.latency === undefined ? null : milliseconds(run.latency.p50Ms)),
          },
        ]}
      />
    </>
  )
}
