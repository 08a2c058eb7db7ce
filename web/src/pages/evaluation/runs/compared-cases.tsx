import type { RouteAnswer } from '../../../../../src/http/api/contract.ts'
import { count } from '../../../format/numbers.ts'
import { Link } from '../../../navigation/link.tsx'
import { Badge, type Tone } from '../../../ui/badge.tsx'
import { caseAddress, failureWords } from '../run-words.ts'
import { CaseVerdict } from '../verdict.tsx'

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
