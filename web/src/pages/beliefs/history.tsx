import type { ComponentChildren } from 'preact'
import type { Belief } from '../../../../src/beliefs/belief.ts'
import type { ApiBelief, Revision, RouteAnswer } from '../../../../src/http/api/contract.ts'
import { pluralize } from '../../format/numbers.ts'
import { dateTimeText } from '../../format/time.ts'
import { eventWords, throughWords, whoWords } from '../../format/words.ts'
import { Badge, BeliefLink, Prose, SaidOn, Time, UndoButton, WordDiff } from '../../ui/elements.tsx'
import { Facts } from '../../ui/layout.tsx'
import { changesBetween } from './belief-state.ts'

type Links = RouteAnswer<'beliefLinks'>

/** A section with a title on the page of a belief. */
export const Part = ({ title, children }: { readonly title: string; readonly children: ComponentChildren }) => (
  <section class="stack tight">
    <h3 class="part-title">{title}</h3>
    {children}
  </section>
)

/** How often a belief was recalled, and its connections in both directions. */
export function Connections({ links }: { readonly links: Links }) {
  const groups = groupsOf(links)
  const { recalled, feedback, turn } = links
  return (
    <>
      <Part title="Recalled">
        {recalled === null ? (
          <p class="soft">Never.</p>
        ) : (
          <p>
            {pluralize(recalled.count, 'time')}, last on {dateTimeText(recalled.lastAt)}
          </p>
        )}
        {feedback === null ? null : (
          <p>
            Your feedback: {feedback.useful} useful, {feedback.notUseful} not useful
          </p>
        )}
      </Part>
      {groups.length === 0 && turn === null ? null : (
        <Part title={groups.length === 0 ? 'Came from' : 'Connected'}>
          <Facts
            rows={groups.map(({ label, items }) => [
              label,
              items.map(({ name, id }, index) => (
                <span key={`${id}-${name}`}>
                  {index === 0 ? '' : ', '}
                  {id === null ? name : <BeliefLink id={id} name={name} />}
                </span>
              )),
            ])}
          />
          {turn === null ? null : (
            <blockquote class="quote">
              <Prose text={turn.text.slice(0, 500)} class="small" />
              <SaidOn turn={turn} />
            </blockquote>
          )}
        </Part>
      )}
    </>
  )
}

type Group = {
  readonly label: string
  readonly items: readonly { readonly name: string; readonly id: string | null }[]
}

function groupsOf(links: Links): readonly Group[] {
  // Versions of the same belief are distinguished by their text.
  const nameOf = ({ name, content }: ApiBelief) => (name === links.belief.name ? content : name)
  const named = (beliefs: readonly (ApiBelief | null)[]) =>
    beliefs.flatMap((one) => (one === null ? [] : [{ name: nameOf(one), id: one.id }]))
  return [
    {
      label: links.belief.relation ?? 'Connects',
      items: links.participants.map(({ name, belief }) => ({ name, id: belief?.id ?? null })),
    },
    { label: 'Part of', items: named(links.relations) },
    { label: 'Settles', items: named(links.settles) },
    { label: 'Settled by', items: named([links.settledBy]) },
    { label: 'Replaces', items: named(links.replaces) },
  ].filter(({ items }) => items.length > 0)
}

/** The versions of a belief, newest first. Each version except `current` has a link to its page. */
export const Chain = ({ chain, current }: { readonly chain: readonly Belief[]; readonly current: string }) => (
  <ol class="chain stack tight">
    {chain.toReversed().map(({ id, name, content, supersededBy, resolvedAt, createdAt }) => (
      <li key={id} class={id === current ? 'chain-row quote' : 'chain-row quote plain'}>
        <p class="row">
          {id === current ? <b aria-current="true">{name}</b> : <BeliefLink id={id} name={name} />}
          {supersededBy === null && resolvedAt === null ? <Badge tone="good">current</Badge> : null}
          <span class="soft small to-end">
            <Time at={createdAt} />
          </span>
        </p>
        <Prose text={content} class="small" />
      </li>
    ))}
  </ol>
)

type HistoryTimelineProps = {
  readonly revisions: readonly Revision[]
  readonly total: number
  /** Beliefs that replaced or settled this one. */
  readonly known: readonly ApiBelief[]
}

/** All changes to a belief, newest first, as word diffs. */
export function HistoryTimeline({ revisions, total, known }: HistoryTimelineProps) {
  const steps = revisions.map((revision, index) => ({ revision, before: revisions[index - 1]?.belief ?? null }))
  return (
    <>
      <ol class="stack tight">
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
    <li class="timeline-step quote plain stack tight">
      <p class="row">
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
        <Facts
          class="small"
          rows={changes.map(({ field, before: was, after }) => [field, <WordDiff before={was} after={after} />])}
        />
      )}
    </li>
  )
}

/** Words for events whose verb in `eventWords` needs an object. */
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
