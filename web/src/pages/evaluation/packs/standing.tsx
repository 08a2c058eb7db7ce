import type { RouteAnswer } from '../../../../../src/http/api/contract.ts'
import { count, counted, percent } from '../../../format/numbers.ts'
import { dayOf } from '../../../format/time.ts'
import { Link } from '../../../navigation/link.tsx'
import { Badge } from '../../../ui/badge.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { compareAddress, packAddress, runAddress } from '../run-words.ts'

export type Standing = NonNullable<RouteAnswer<'packGrid'>['standing']>

/** "Worse than baseline main: 2 of 60 cases broke on 12 November, commit 1a2b3c." */
export function standingWords(standing: Standing): string {
  const { against, broken, fixed, failing, total, since, latest } = standing
  const reference =
    against === null ? null : against.baseline === null ? 'the run before' : `baseline ${against.baseline}`
  if (reference === null)
    return failing === 0
      ? `All ${counted(total, 'case')} passed in the only run. Accept it as a baseline to see later when something breaks.`
      : `${count(failing)} of ${counted(total, 'case')} did not pass in the only run.`
  if (broken.length > 0) {
    const commit = since?.commit == null ? '' : `, commit ${since.commit.slice(0, 7)}`
    const when = since === null ? '' : ` on ${dayOf(since.at)}${commit}`
    return `Worse than ${reference}: ${count(broken.length)} of ${counted(total, 'case')} broke${when}.`
  }
  if (fixed.length > 0)
    return `Better than ${reference}: ${count(fixed.length)} of ${counted(total, 'case')} ${fixed.length === 1 ? 'was' : 'were'} fixed.`
  if (latest.run.runId === against?.runId)
    return `The latest run is ${reference}: ${percent(latest.passRate ?? 0)} of ${counted(total, 'case')} passed.`
  return failing === 0
    ? `As good as ${reference}: all ${counted(total, 'case')} passed.`
    : `As good as ${reference}: ${count(failing)} of ${counted(total, 'case')} ${failing === 1 ? 'does' : 'do'} not pass, as before.`
}

/** Whether the latest run has another run to be measured against: not when it is the only one, or is the baseline itself. */
export const isCompared = ({ against, latest }: Pick<Standing, 'against' | 'latest'>): boolean =>
  against !== null && against.runId !== latest.run.runId

/** Says of packs without a broken case what was compared. Packs with a single run, or none since the baseline, were not. */
export function nothingWorseWords(standings: readonly Pick<Standing, 'against' | 'latest'>[]): string {
  const compared = standings.filter(isCompared).length
  const others = standings.length - compared
  if (compared === 0)
    return `Nothing to compare yet: ${counted(others, 'pack')} ${others === 1 ? 'has' : 'have'} a single run, or none since the baseline.`
  const held = `Nothing got worse: ${counted(compared, 'pack')} ${compared === 1 ? 'is' : 'are'} at least as good as the baseline or the run before.`
  return others === 0
    ? held
    : `${held} ${counted(others, 'other pack')} ${others === 1 ? 'has' : 'have'} nothing to compare with yet.`
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
