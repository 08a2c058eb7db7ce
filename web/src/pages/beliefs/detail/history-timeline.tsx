import type { ApiBelief, Revision } from '../../../../../src/http/api/contract.ts'
import { eventWords, throughWords, whoWords } from '../../../format/words.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Time } from '../../../ui/time.tsx'
import { UndoButton } from '../../../ui/undo-button.tsx'
import { WordDiff } from '../../../ui/word-diff.tsx'
import { changesBetween } from './revision-changes.ts'

type HistoryTimelineProps = {
  readonly revisions: readonly Revision[]
  readonly total: number
  /** Beliefs that replaced or settled it. */
  readonly known: readonly ApiBelief[]
}

/** Everything that happened to a belief, newest first, each with what it changed. */
export function HistoryTimeline({ revisions, total, known }: HistoryTimelineProps) {
  const steps = revisions.map((revision, index) => ({ revision, before: revisions[index - 1]?.belief ?? null }))
  return (
    <>
      <ol class="timeline">
        {steps.toReversed().map(({ revision, before }) => (
          <Step key={revision.event.number} revision={revision} before={before} known={known} />
        ))}
      </ol>
      {total > revisions.length ? (
        <p class="soft small">
          The latest {revisions.length} of {total} changes.
        </p>
      ) : null}
    </>
  )
}

type StepProps = Pick<HistoryTimelineProps, 'known'> & {
  readonly revision: Revision
  readonly before: Revision['belief']
}

function Step({ revision, before, known }: StepProps) {
  const { event, outcome, belief } = revision
  const changes = changesBetween(before, belief, known)
  return (
    <li class="timeline-step">
      <p class="timeline-head">
        <b>{sentence(revision)}</b>
        <span class="soft small">
          {whoWords(event)}
          {throughWords(event)}, <Time at={event.at} />, change {event.number}
        </span>
        {event.undoneBy === null ? null : <Badge>undone</Badge>}
        <UndoButton event={event} />
      </p>
      {outcome === 'erased' ? <p class="soft">Its text was erased.</p> : null}
      {changes.length === 0 ? null : (
        <dl class="field-changes">
          {changes.map(({ field, before: was, after }) => (
            <div key={field}>
              <dt>{field}</dt>
              <dd>
                <WordDiff before={was} after={after} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </li>
  )
}

/** Of events whose word needs an object. */
const wordsAlone: Readonly<Partial<Record<Revision['event']['kind'], string>>> = {
  alias: 'aliases changed',
  learn: 'learned from a message',
}

const sentence = ({ event, outcome }: Revision): string => {
  if (event.kind === 'undo') return `Change ${event.undoes ?? ''} undone`
  if (outcome === 'absent') return 'Withdrawn'
  const word = wordsAlone[event.kind] ?? eventWords[event.kind]
  return word.charAt(0).toUpperCase() + word.slice(1)
}
