import type { ApiFigureComparison, RouteAnswer } from '../../../../src/http/api/contract.ts'
import { ask } from '../../api/client.ts'
import { count, figure, percent, pluralize, signedFigure } from '../../format/numbers.ts'
import { dateTimeText } from '../../format/time.ts'
import { Link, navigate } from '../../navigation/router.tsx'
import { useResource } from '../../state/resource.ts'
import { useSubject } from '../../state/window.ts'
import { Badge, Button, type Tone } from '../../ui/elements.tsx'
import { PageHead, Panel, Table } from '../../ui/layout.tsx'
import { Loaded, SkeletonRows } from '../../ui/notice.tsx'
import { CaseVerdict, Failures } from './parts.tsx'
import {
  allPacks,
  caseAddress,
  compareAddress,
  metricName,
  packAddress,
  runAddress,
  runTime,
  systemText,
} from './words.ts'

type Compared = RouteAnswer<'compareRuns'>
type CaseDiff = Compared['broken'][number]
type Names = Compared['names']

type Group = {
  readonly kind: 'broken' | 'fixed' | 'stillFailing' | 'changed'
  readonly title: string
  readonly note: string
  readonly tone: Tone
  /** Shown even without cases. */
  readonly isAlwaysShown?: boolean
}

/** Groups of cases with the same kind of change, worst first. */
const groups: readonly Group[] = [
  { kind: 'broken', title: 'Broken', note: 'passed before, fail now', tone: 'bad', isAlwaysShown: true },
  { kind: 'fixed', title: 'Fixed', note: 'failed before, pass now', tone: 'good', isAlwaysShown: true },
  { kind: 'stillFailing', title: 'Still failing', note: 'in both runs', tone: 'odd' },
  { kind: 'changed', title: 'Changed', note: 'pass in both runs, with different answers', tone: 'plain' },
]

const namedOnly = [
  { kind: 'newCases', title: 'New cases' },
  { kind: 'removedCases', title: 'Removed cases' },
  { kind: 'flaky', title: 'Flaky' },
] as const

export function CompareView({ before, after }: { readonly before: string; readonly after: string }) {
  const found = useResource(`${before}\n${after}`, (signal) => ask('compareRuns', { query: { before, after }, signal }))
  useSubject('Two runs')
  return (
    <Loaded resource={found} waiting={<SkeletonRows rows={7} label="Comparing" />} elsewhere={allPacks}>
      {(compared) => (
        <div class="stack">
          <PageHead
            title="Two runs side by side"
            crumbs={[
              { name: 'Packs', href: '/evaluation' },
              { name: compared.after.run.benchmarkId, href: packAddress(compared.after.run.benchmarkId) },
              { name: 'Two runs' },
            ]}
            tools={
              <Button
                icon="sync"
                onClick={() => navigate(compareAddress(after, before), { replace: true })}
                label="Swap"
              />
            }
          />
          <div class="columns">
            <Side title="Before" listed={compared.before} />
            <Side title="After" listed={compared.after} />
          </div>
          {compared.notes.map((note) => (
            <p key={note} class="note">
              {note}
            </p>
          ))}
          <ComparedFigures figures={compared.figures} />
          {groups.map((group) => (
            <ComparedCases key={group.kind} group={group} compared={compared} />
          ))}
          {namedOnly.map(({ kind, title }) =>
            compared[kind].length === 0 ? null : (
              <Panel key={kind} title={title}>
                <p class="pad mono break">{compared[kind].join(', ')}</p>
              </Panel>
            ),
          )}
          <p class="soft">{pluralize(compared.unchanged, 'case')} unchanged.</p>
        </div>
      )}
    </Loaded>
  )
}

const Side = ({ title, listed }: { readonly title: string; readonly listed: Compared['before'] }) => (
  <section class={title === 'After' ? 'box mine' : 'box'}>
    <h2 class="part-title">{title}</h2>
    <p class="number big">{listed.passRate === null ? '–' : percent(listed.passRate)}</p>
    <p class="soft small number">
      {listed.run.passedCases} of {pluralize(listed.run.totalCases, 'case')} passed
    </p>
    <p class="small">
      <Link href={runAddress(listed.run.runId)}>{dateTimeText(runTime(listed))}</Link>
      <span class="soft"> · {systemText(listed)}</span>
    </p>
  </section>
)

const figureTones: Readonly<Record<ApiFigureComparison['verdict'], Tone>> = {
  better: 'good',
  worse: 'bad',
  same: 'plain',
  'no evidence': 'plain',
  'cannot tell': 'odd',
  dropped: 'bad',
  new: 'accent',
}

/** The value of a figure as text. The pass rate is a percentage. */
const valueWords = (name: string, value: number | null): string =>
  value === null ? '–' : name === 'passRate' ? percent(value) : figure(value)

/** A difference as text. Differences of the pass rate are in percentage points. */
const deltaWords = (name: string, delta: number): string =>
  name === 'passRate' ? `${signedFigure(Math.round(delta * 1000) / 10)} points` : signedFigure(delta)

/** Each figure of two runs, its difference, and whether the difference is significant. */
function ComparedFigures({ figures }: { readonly figures: readonly ApiFigureComparison[] }) {
  if (figures.length === 0) return null
  return (
    <Panel title="Figures">
      <Table
        rows={figures}
        keyOf={(row) => row.figure}
        columns={[
          {
            head: 'Figure',
            class: 'whole',
            cell: (row) => (
              <>
                {metricName(row.figure)}
                {row.direction === 'lower' ? <span class="cell-note">lower is better</span> : null}
              </>
            ),
          },
          { head: 'Before', class: 'number', label: 'before', cell: (row) => valueWords(row.figure, row.base) },
          { head: 'After', class: 'number', label: 'after', cell: (row) => valueWords(row.figure, row.candidate) },
          {
            head: 'Change',
            class: 'number',
            cell: ({ figure: name, delta, interval }) => (
              <>
                <span>{delta === null ? '–' : delta === 0 ? '0' : deltaWords(name, delta)}</span>
                {interval === null ? null : (
                  <span class="cell-note">
                    {deltaWords(name, interval.low)} to {deltaWords(name, interval.high)}
                  </span>
                )}
              </>
            ),
          },
          { head: 'Verdict', cell: ({ verdict }) => <Badge tone={figureTones[verdict]}>{verdict}</Badge> },
        ]}
      />
    </Panel>
  )
}

/** Sorts `turn 2` before `turn 10`. */
const { compare: compareNaturally } = new Intl.Collator('en', { numeric: true })

function ComparedCases({ group, compared }: { readonly group: Group; readonly compared: Compared }) {
  const { kind, title, note, tone, isAlwaysShown = false } = group
  const cases = compared[kind]
  const total = compared.counts[kind]
  if (total === 0 && !isAlwaysShown) return null
  const list = (
    <ul class="rows lines">
      {cases
        .toSorted((a, b) => compareNaturally(a.id, b.id))
        .map((diff) => (
          <ComparedCase key={diff.id} diff={diff} after={compared.after.run.runId} names={compared.names} />
        ))}
    </ul>
  )
  return (
    <Panel title={title} note={note} tools={<Badge tone={total === 0 ? 'plain' : tone}>{count(total)}</Badge>}>
      {total === 0 ? <p class="pad soft">None.</p> : null}
      {kind === 'changed' ? (
        <details class="pad small">
          <summary>Show the cases</summary>
          {list}
        </details>
      ) : (
        list
      )}
      {cases.length < total ? (
        <p class="foot soft small">
          The first {count(cases.length)} of {count(total)}.
        </p>
      ) : null}
    </Panel>
  )
}

type ComparedCaseProps = { readonly diff: CaseDiff; readonly after: string; readonly names: Names }

const ComparedCase = ({ diff, after, names }: ComparedCaseProps) => (
  <li class="case-row">
    <span class="row">
      <CaseVerdict verdict={diff.base} /> <span aria-hidden="true">→</span>
      <span class="unseen">then</span> <CaseVerdict verdict={diff.candidate} />
    </span>
    <div class="grow break">
      <Link class="mono" href={caseAddress(after, diff.id)} text={diff.id} />
      <p class="clamp" dir="auto">
        {diff.prompt}
      </p>
      {diff.firstStage === null ? null : <p class="soft small">{stageWords[diff.firstStage]}</p>}
      <Failures failures={diff.failures} names={names} />
      <ul>
        {diff.returned.slice(0, 6).map(({ id, tier, from, to }) => (
          <li key={`${tier}-${id}`} class="small">
            {names[id] === undefined ? <code>{id}</code> : <span title={id}>{names[id]}</span>}{' '}
            <span class="soft">{`${tier}: ${rankWords(from)} → ${rankWords(to)}`}</span>
          </li>
        ))}
      </ul>
    </div>
  </li>
)

/** The first stage at which the two runs differ, from the message to the answer. */
const stageWords: Readonly<Record<NonNullable<CaseDiff['firstStage']>, string>> = {
  answered: 'Only one of the two runs answered.',
  query: 'The message was analysed differently.',
  match: 'Different names or words matched.',
  score: 'The scores differ.',
  rank: 'The order differs.',
  pinned: 'The pinned beliefs differ.',
  questions: 'The open questions differ.',
  prelude: 'The preferences differ.',
  judged: 'The same answer was judged differently.',
}

const rankWords = (rank: number | null): string => (rank === null ? 'absent' : `rank ${rank}`)
