import type { ListedCase, ListedPack, ListedRun, RouteAnswer } from '../../../../src/http/api/contract.ts'
import { count, milliseconds, percent, pluralize } from '../../format/numbers.ts'
import { dayOf } from '../../format/time.ts'
import { Link, navigate, query, withQuery } from '../../navigation/router.tsx'
import { fixed } from '../../plots/scale.ts'
import { Badge, Button, Icon, Time, type Tone } from '../../ui/elements.tsx'
import { compareAddress, packAddress, runAddress, systemOf, whenOf } from './words.ts'

const caseTones: Readonly<Record<ListedCase['verdict'], Tone>> = {
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

type Status = ListedRun['run']['status']

const unfinishedTones: Readonly<Record<Exclude<Status, 'completed'>, Tone>> = {
  running: 'accent',
  failed: 'bad',
  partial: 'odd',
}

/** How a run ended. That it came to its end is no praise: what it found is what counts. */
export function RunStatus({ run }: { readonly run: ListedRun['run'] }) {
  const { status, passedCases, totalCases } = run
  if (status !== 'completed') return <Badge tone={unfinishedTones[status]}>{status}</Badge>
  const isWhole = passedCases === totalCases
  return (
    <Badge tone={isWhole ? 'good' : 'bad'}>
      {isWhole ? 'all passed' : `${count(totalCases - passedCases)} not passed`}
    </Badge>
  )
}

/** A run of some of the cases says nothing about the others. */
export function PartOfPack({ run }: { readonly run: ListedRun['run'] }) {
  if (run.filter === undefined) return null
  return <Badge tone="odd">only a part of the cases</Badge>
}

/** How the cases of a run ended, as shares of one bar. What was not measured is not pluralize as failed. */
export function PassBar({ listed }: { readonly listed: ListedRun }) {
  const { run } = listed
  const parts = [
    { name: 'passed', cases: run.passedCases },
    { name: 'failed', cases: run.failedCases },
    { name: 'error', cases: run.errorCases ?? 0 },
    { name: 'other', cases: (run.skippedCases ?? 0) + (run.unjudgedCases ?? 0) + (run.pendingCases ?? 0) },
  ]
  const total = Math.max(1, run.totalCases)
  let at = 0
  return (
    <svg
      class="pass-bar"
      viewBox="0 0 100 8"
      preserveAspectRatio="none"
      role="img"
      aria-label={parts
        .filter(({ cases }) => cases > 0)
        .map(({ name, cases }) => `${count(cases)} ${name}`)
        .join(', ')}
    >
      <rect class="score-ground" width="100" height="8" />
      {parts.map(({ name, cases }) => {
        const x = at
        const width = (cases / total) * 100
        at += width
        return <rect key={name} class={`share-${name}`} x={fixed(x)} width={fixed(width)} height="8" />
      })}
    </svg>
  )
}

export type Standing = NonNullable<RouteAnswer<'packGrid'>['standing']>

/** "Worse than baseline main: 2 of 60 cases broke on 12 November, commit 1a2b3c." */
export function standingWords(standing: Standing): string {
  const { against, broken, fixed, failing, total, since, latest } = standing
  const reference =
    against === null ? null : against.baseline === null ? 'the run before' : `baseline ${against.baseline}`
  if (reference === null)
    return failing === 0
      ? `All ${pluralize(total, 'case')} passed in the only run. Accept it as a baseline to see later when something breaks.`
      : `${count(failing)} of ${pluralize(total, 'case')} did not pass in the only run.`
  if (broken.length > 0) {
    const commit = since?.commit == null ? '' : `, commit ${since.commit.slice(0, 7)}`
    const when = since === null ? '' : ` on ${dayOf(since.at)}${commit}`
    return `Worse than ${reference}: ${count(broken.length)} of ${pluralize(total, 'case')} broke${when}.`
  }
  if (fixed.length > 0)
    return `Better than ${reference}: ${count(fixed.length)} of ${pluralize(total, 'case')} ${fixed.length === 1 ? 'was' : 'were'} fixed.`
  if (latest.run.runId === against?.runId)
    return `The latest run is ${reference}: ${percent(latest.passRate ?? 0)} of ${pluralize(total, 'case')} passed.`
  return failing === 0
    ? `As good as ${reference}: all ${pluralize(total, 'case')} passed.`
    : `As good as ${reference}: ${count(failing)} of ${pluralize(total, 'case')} ${failing === 1 ? 'does' : 'do'} not pass, as before.`
}

/** Whether the latest run has another run to be measured against: not when it is the only one, or is the baseline itself. */
export const isCompared = ({ against, latest }: Pick<Standing, 'against' | 'latest'>): boolean =>
  against !== null && against.runId !== latest.run.runId

/** Says of packs without a broken case what was compared. Packs with a single run, or none since the baseline, were not. */
export function nothingWorseWords(standings: readonly Pick<Standing, 'against' | 'latest'>[]): string {
  const compared = standings.filter(isCompared).length
  const others = standings.length - compared
  if (compared === 0)
    return `Nothing to compare yet: ${pluralize(others, 'pack')} ${others === 1 ? 'has' : 'have'} a single run, or none since the baseline.`
  const held = `Nothing got worse: ${pluralize(compared, 'pack')} ${compared === 1 ? 'is' : 'are'} at least as good as the baseline or the run before.`
  return others === 0
    ? held
    : `${held} ${pluralize(others, 'other pack')} ${others === 1 ? 'has' : 'have'} nothing to compare with yet.`
}

type StandingLineProps = {
  readonly standing: Standing
  /** Where the page does not say whose line it is. */
  readonly pack?: { readonly id: string; readonly title: string }
}

/** Where a pack stands, in one sentence, with the way to the cases behind it. */
export function StandingLine({ standing, pack }: StandingLineProps) {
  const { against, broken, latest, since, isSaturated } = standing
  const isWorse = broken.length > 0
  return (
    <div class={isWorse ? 'headline worse' : 'headline'}>
      <Icon name={isWorse ? 'warn' : 'check'} />
      <div>
        {pack === undefined ? null : (
          <p class="row small headline-pack">
            <Link href={packAddress(pack.id, standing.system)}>{pack.title}</Link>
            {standing.system === null ? null : <Badge>{standing.system}</Badge>}
          </p>
        )}
        <p>
          <b>{standingWords(standing)}</b>
        </p>
      </div>
      <span class="row small">
        {against === null || !isCompared(standing) ? null : (
          <Link href={compareAddress(against.runId, latest.run.runId)}>
            Compare with {against.baseline === null ? 'the run before' : 'the baseline'}
          </Link>
        )}
        {isWorse && since !== null ? <Link href={runAddress(since.runId)}>The run that broke it</Link> : null}
        {isSaturated ? (
          <span title="Every whole run passed every case. It can show that something broke, not how good it is.">
            <Badge tone="odd">saturated</Badge>
          </span>
        ) : null}
      </span>
    </div>
  )
}

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
