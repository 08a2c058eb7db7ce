import type { ApiFigureComparison, RouteAnswer } from '../../../../src/http/api/contract.ts'
import { ask } from '../../api/client.ts'
import { count, figure, percent, pluralize, signed } from '../../format/numbers.ts'
import { moment } from '../../format/time.ts'
import { Crumbs, Link, navigate } from '../../navigation/router.tsx'
import { useResource } from '../../state/resource.ts'
import { useSubject } from '../../state/window.ts'
import { Badge, Button, type Tone } from '../../ui/elements.tsx'
import { Loaded, SkeletonBlock } from '../../ui/notice.tsx'
import { CaseVerdict } from './parts.tsx'
import {
  allPacks,
  caseAddress,
  compareAddress,
  failureWords,
  metricName,
  packAddress,
  runAddress,
  systemOf,
  whenOf,
} from './words.ts'

type Compared = RouteAnswer<'compareRuns'>

/** What can become of a case, worst first. The first two are shown even where there are none: that is news too. */
const groups: readonly Group[] = [
  { kind: 'broken', title: 'Broken', note: 'passed before, do not now', tone: 'bad', isAlwaysShown: true },
  { kind: 'fixed', title: 'Fixed', note: 'did not pass before, do now', tone: 'good', isAlwaysShown: true },
  { kind: 'stillFailing', title: 'Still failing', note: 'in both', tone: 'odd', isAlwaysShown: false },
  { kind: 'changed', title: 'Changed', note: 'pass in both, with another answer', tone: 'plain', isAlwaysShown: false },
]

const namedOnly = [
  { kind: 'newCases', title: 'New cases' },
  { kind: 'removedCases', title: 'Removed cases' },
  { kind: 'flaky', title: 'Flaky' },
] as const

/** Two runs of a pack beside each other. */
export function CompareView({ before, after }: { readonly before: string; readonly after: string }) {
  const found = useResource(`${before}\n${after}`, (signal) => ask('compareRuns', { query: { before, after }, signal }))
  useSubject('Two runs')
  return (
    <Loaded resource={found} waiting={<SkeletonBlock kind="plot" label="Comparing" />} elsewhere={allPacks}>
      {(compared) => (
        <div class="stack">
          <div>
            <Crumbs
              steps={[
                { name: 'Packs', href: '/evaluation' },
                { name: compared.after.run.benchmarkId, href: packAddress(compared.after.run.benchmarkId) },
                { name: 'Two runs' },
              ]}
            />
            <header class="page-head flush">
              <h1>Two runs side by side</h1>
              <div class="page-tools">
                <Button icon="sync" onClick={() => navigate(compareAddress(after, before), { replace: true })}>
                  Swap
                </Button>
              </div>
            </header>
          </div>
          <Sides compared={compared} />
          {compared.notes.length === 0 ? null : (
            <ul class="changed-note">
              {compared.notes.map((note) => (
                <li key={note}>{note}</li>
              ))}
            </ul>
          )}
          <ComparedFigures figures={compared.figures} />
          {groups.map((group) => (
            <ComparedCases
              key={group.kind}
              group={group}
              cases={compared[group.kind]}
              total={compared.counts[group.kind]}
              after={after}
              names={compared.names}
            />
          ))}
          {namedOnly.map(({ kind, title }) => (
            <CaseIds key={kind} title={title} ids={compared[kind]} />
          ))}
          <p class="soft">{pluralize(compared.unchanged, 'case')} unchanged.</p>
        </div>
      )}
    </Loaded>
  )
}

function Sides({ compared }: { readonly compared: Compared }) {
  return (
    <div class="sides">
      {(['before', 'after'] as const).map((side) => {
        const listed = compared[side]
        return (
          <section key={side} class={side === 'after' ? 'side-text mine' : 'side-text'}>
            <h2 class="small-title">{side === 'before' ? 'Before' : 'After'}</h2>
            <p class="number big">{listed.passRate === null ? '–' : percent(listed.passRate)}</p>
            <p class="soft small number">
              {listed.run.passedCases} of {pluralize(listed.run.totalCases, 'case')} passed
            </p>
            <p class="small break">
              <Link href={runAddress(listed.run.runId)}>{moment(whenOf(listed))}</Link>
              <span class="soft"> · {systemOf(listed)}</span>
            </p>
          </section>
        )
      })}
    </div>
  )
}

function CaseIds({ title, ids }: { readonly title: string; readonly ids: readonly string[] }) {
  if (ids.length === 0) return null
  return (
    <section class="panel panel-pad">
      <h2 class="small-title">{title}</h2>
      <p class="mono break">{ids.join(', ')}</p>
    </section>
  )
}

const tones: Readonly<Record<ApiFigureComparison['verdict'], Tone>> = {
  better: 'good',
  worse: 'bad',
  same: 'plain',
  'no evidence': 'plain',
  underpowered: 'odd',
  'cannot tell': 'odd',
  dropped: 'bad',
  new: 'accent',
}

/** The pass rate is a percentage, as everywhere else. */
const shown = (name: string, value: number): string => (name === 'passRate' ? percent(value) : figure(value))

/** The difference of two percentages is in points. */
const moved = (name: string, delta: number): string =>
  name === 'passRate' ? `${signed(Math.round(delta * 1000) / 10)} points` : signed(delta)

/** Each figure of two runs, how far it moved, and whether that means anything. */
export function ComparedFigures({ figures }: { readonly figures: readonly ApiFigureComparison[] }) {
  if (figures.length === 0) return null
  return (
    <section class="panel">
      <header class="panel-head">
        <h2>Figures</h2>
      </header>
      <div class="table-scroll">
        <table>
          <thead>
            <tr>
              <th>Figure</th>
              <th class="number">Before</th>
              <th class="number">After</th>
              <th class="number">Change</th>
              <th>Verdict</th>
            </tr>
          </thead>
          <tbody>
            {figures.map(({ figure: name, base, candidate, delta, verdict, direction, interval }) => (
              <tr key={name}>
                <td>
                  {metricName(name)}
                  {direction === 'lower' ? <span class="cell-note">lower is better</span> : null}
                </td>
                <td class="number">{base === null ? '–' : shown(name, base)}</td>
                <td class="number">{candidate === null ? '–' : shown(name, candidate)}</td>
                <td class="number">
                  {delta === null ? '–' : delta === 0 ? '0' : moved(name, delta)}
                  {interval === null ? null : (
                    <span class="cell-note">
                      {moved(name, interval.low)} to {moved(name, interval.high)}
                    </span>
                  )}
                </td>
                <td>
                  <Badge tone={tones[verdict]}>{verdict}</Badge>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

type CaseDiff = RouteAnswer<'compareRuns'>['broken'][number]

/** Cases that went the same way between two runs. */
export type Group = {
  readonly kind: 'broken' | 'fixed' | 'stillFailing' | 'changed'
  readonly title: string
  readonly note: string
  readonly tone: Tone
  readonly isAlwaysShown: boolean
}

type ComparedCasesProps = {
  readonly group: Group
  readonly cases: readonly CaseDiff[]
  readonly total: number
  readonly after: string
  readonly names: Names
}

type Names = RouteAnswer<'compareRuns'>['names']

/** `turn 2` before `turn 10`. */
const { compare: naturally } = new Intl.Collator('en', { numeric: true })

export function ComparedCases({ group, cases, total, after, names }: ComparedCasesProps) {
  const { title, note, tone, isAlwaysShown } = group
  if (total === 0 && !isAlwaysShown) return null
  const list = (
    <ul class="cases">
      {cases
        .toSorted((one, other) => naturally(one.id, other.id))
        .map((diff) => (
          <ComparedCase key={diff.id} diff={diff} after={after} names={names} />
        ))}
    </ul>
  )
  return (
    <section class="panel" aria-label={title}>
      <header class="panel-head">
        <h2>{title}</h2>
        <span class="soft small">{note}</span>
        <Badge tone={total === 0 ? 'plain' : tone}>{count(total)}</Badge>
      </header>
      {total === 0 ? <p class="panel-pad soft">None.</p> : null}
      {group.kind === 'changed' ? (
        <details class="panel-pad small">
          <summary>Show the cases</summary>
          {list}
        </details>
      ) : (
        list
      )}
      {cases.length < total ? (
        <p class="panel-foot soft small">
          The first {count(cases.length)} of {count(total)}.
        </p>
      ) : null}
    </section>
  )
}

type ComparedCaseProps = { readonly diff: CaseDiff; readonly after: string; readonly names: Names }

function ComparedCase({ diff, after, names }: ComparedCaseProps) {
  return (
    <li class="case-row">
      <span class="verdict-pair">
        <CaseVerdict verdict={diff.base} /> <span aria-hidden="true">→</span>
        <span class="unseen">then</span> <CaseVerdict verdict={diff.candidate} />
      </span>
      <div class="case-text">
        <Link href={caseAddress(after, diff.id)}>
          <span class="mono break">{diff.id}</span>
        </Link>
        {diff.prompt === null ? null : (
          <p class="clip-two" dir="auto">
            {diff.prompt}
          </p>
        )}
        {diff.firstStage === null ? null : <p class="soft small">{stageWords[diff.firstStage]}</p>}
        {diff.failures.slice(0, 3).map((failure) => (
          <p key={failure} class="case-failure">
            {failureWords(failure, names)}
          </p>
        ))}
        <Moves returned={diff.returned} names={names} />
      </div>
    </li>
  )
}

/** What the two runs did differently first, on the way from the message to the answer. */
const stageWords: Readonly<Record<NonNullable<CaseDiff['firstStage']>, string>> = {
  answered: 'Only one of the two runs answered.',
  query: 'The message was read differently.',
  match: 'Different names or words matched.',
  score: 'The scores differ.',
  rank: 'The order differs.',
  pinned: 'The pinned beliefs differ.',
  questions: 'The open questions differ.',
  prelude: 'The preferences differ.',
  judged: 'The same answer was judged differently.',
}

const place = (rank: number | null): string => (rank === null ? 'absent' : `rank ${rank}`)

function Moves({ returned, names }: { readonly returned: CaseDiff['returned']; readonly names: Names }) {
  if (returned.length === 0) return null
  return (
    <ul class="moves">
      {returned.slice(0, 6).map(({ id, tier, from, to }) => (
        <li key={`${tier}-${id}`} class="small break">
          {names[id] === undefined ? <code>{id}</code> : <span title={id}>{names[id]}</span>}{' '}
          <span class="soft">{`${tier}: ${place(from)} → ${place(to)}`}</span>
        </li>
      ))}
    </ul>
  )
}
