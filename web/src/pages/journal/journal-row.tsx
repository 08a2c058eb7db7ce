import { useState } from 'preact/hooks'
import type { ApiJournalEntry, RouteAnswer } from '../../../../src/http/api/contract.ts'
import { ask } from '../../api/client.ts'
import { counted } from '../../format/numbers.ts'
import { eventWords, throughWords, whoWords } from '../../format/words.ts'
import { Link } from '../../navigation/link.tsx'
import { address } from '../../navigation/match.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { Time } from '../../ui/time.tsx'
import { UndoButton } from '../../ui/undo-button.tsx'
import { Change } from '../beliefs/detail/proposal.tsx'
import { changesBetween } from '../beliefs/detail/revision-changes.ts'

export type Entry = RouteAnswer<'journal'>['items'][number]

const tones: Readonly<Partial<Record<ApiJournalEntry['kind'], Tone>>> = {
  forget: 'bad',
  propose: 'odd',
  accept: 'good',
  remember: 'accent',
  correct: 'accent',
  import: 'accent',
}

/** More names than this make a line nobody reads. */
const mostNames = 3

/** One change: who did what to which beliefs. */
export function JournalRow({ entry }: { readonly entry: Entry }) {
  const { event } = entry
  return (
    <li class={event.undoneBy === null ? 'journal-row' : 'journal-row undone'}>
      <Badge tone={tones[event.kind] ?? 'plain'}>{event.kind}</Badge>
      <div class="journal-text break">
        <p>
          {whoWords(event)} {eventWords[event.kind]} <Undone event={event} />
          <Names entry={entry} />
          <Turns event={event} />
          <span class="soft">{throughWords(event)}.</span>
          {event.undoneBy === null ? null : <span class="soft"> Undone by change {event.undoneBy}.</span>}
        </p>
        {event.beliefCount === 0 || event.kind === 'forget' ? null : <Details number={event.number} />}
      </div>
      <span class="journal-number number soft small" title="The number of this change">
        {event.number}
      </span>
      <span class="soft small journal-time">
        <Time at={event.at} />
      </span>
      <span class="journal-undo">
        <UndoButton event={event} />
      </span>
    </li>
  )
}

/** What a change did, asked for when somebody wants to see it. */
function Details({ number }: { readonly number: number }) {
  const [changes, setChanges] = useState<Changes | null>(null)
  const show = async () => {
    if (changes === null) setChanges((await ask('journalEvent', { params: { number } })).changes)
  }
  return (
    <details class="small" onToggle={(event) => event.currentTarget.open && void show()}>
      <summary>What changed</summary>
      {changes === null ? (
        <p class="soft">Loading…</p>
      ) : (
        comparedOf(changes).map((one) => <Changed key={one.beliefId} {...one} all={changes} />)
      )}
    </details>
  )
}

type Changes = RouteAnswer<'journalEvent'>['changes']

/** A belief that replaces another is compared with it: that the other ended is then said. */
function comparedOf(changes: Changes): Changes {
  const predecessorOf = ({ before, after }: Changes[number]) =>
    before !== null || after === null ? null : (changes.find((one) => one.after?.supersededBy === after.id) ?? null)
  const ended = new Set(changes.flatMap((one) => predecessorOf(one)?.beliefId ?? []))
  return changes
    .filter(({ beliefId }) => !ended.has(beliefId))
    .map((one) => ({ ...one, before: predecessorOf(one)?.before ?? one.before }))
}

type ChangedProps = Changes[number] & { readonly all: Changes }

function Changed({ before, after, target, all }: ChangedProps) {
  const belief = after ?? before
  if (belief === null) return <p class="soft">Its text was forgotten.</p>
  const proposed = after?.resolvedAt == null ? (after?.content ?? '') : ''
  const began = before === null ? [{ field: 'content', before: target?.content ?? '', after: proposed }] : []
  const ended = after === null ? [{ field: 'content', before: before?.content ?? '', after: '' }] : []
  const fields = [
    ...began,
    ...ended,
    ...changesBetween(
      before,
      after,
      all.flatMap((one) => one.after ?? []),
    ),
  ]
  return (
    <div class="stack tight journal-change">
      <b>
        <bdi>{belief.name}</bdi>
      </b>
      {target === null ? null : (
        <p>
          Proposed {proposed === '' ? 'to remove' : 'for'}{' '}
          <Link href={address('beliefs', target.id)}>{target.name}</Link>
        </p>
      )}
      {fields.map((one) => (
        <Change key={one.field} {...one} />
      ))}
    </div>
  )
}

/** Which change an undo took back. It may have touched no belief, and then only its number says which one it was. */
function Undone({ event: { undoes, beliefCount, turnCount } }: { readonly event: ApiJournalEntry }) {
  if (undoes === null) return null
  return `change ${undoes}${beliefCount + turnCount === 0 ? '' : ' of '}`
}

/** How many turns a change kept or forgot, where that is more than the message something was learned from. */
function Turns({ event: { kind, turnCount, beliefCount } }: { readonly event: ApiJournalEntry }) {
  if (turnCount === 0 || (kind === 'learn' && turnCount === 1)) return null
  return `${beliefCount === 0 ? '' : ' and '}${counted(turnCount, 'turn')} of conversation`
}

function Names({ entry: { event, names, gone } }: { readonly entry: Entry }) {
  // A correction touches the old and the new of the same name; the name is said once.
  const distinct = event.beliefIds.filter((id, at) => {
    const name = names[id] ?? null
    return name === null || event.beliefIds.findIndex((other) => names[other] === name) === at
  })
  const shown = distinct.slice(0, mostNames)
  const rest = event.beliefCount - (event.beliefIds.length - distinct.length) - shown.length
  return (
    <>
      {shown.map((id, index) => {
        const name = names[id] ?? null
        return (
          <span key={id}>
            {index === 0 ? '' : ', '}
            {name === null ? (
              <span class="soft">a {gone[id] ?? 'forgotten'} belief</span>
            ) : (
              <Link href={address('beliefs', id)}>
                <bdi>{name}</bdi>
              </Link>
            )}
          </span>
        )
      })}
      {rest > 0 ? ` and ${counted(rest, 'more', 'more')}` : ''}
    </>
  )
}
