import type { Answer, JournalEntry } from '../../../../src/http/api/contract.ts'
import { counted } from '../../format/numbers.ts'
import { eventWords, throughWords, whoWords } from '../../format/words.ts'
import { Link } from '../../navigation/link.tsx'
import { address } from '../../navigation/match.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { Time } from '../../ui/time.tsx'
import { UndoButton } from '../../ui/undo-button.tsx'

export type Entry = Answer<'journal'>['items'][number]

const tones: Readonly<Partial<Record<JournalEntry['kind'], Tone>>> = {
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
      <p class="journal-text break">
        {whoWords(event)} {eventWords[event.kind]} <Names entry={entry} />
        <Turns event={event} />
        <span class="soft">{throughWords(event)}</span>
        {event.undoes === null ? null : <span class="soft"> (change {event.undoes})</span>}
        {event.undoneBy === null ? null : <span class="soft"> Undone by change {event.undoneBy}.</span>}
      </p>
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

/** How many turns a change kept or forgot, where that is more than the message something was learned from. */
function Turns({ event: { kind, turnCount, beliefCount } }: { readonly event: JournalEntry }) {
  if (turnCount === 0 || (kind === 'learn' && turnCount === 1)) return null
  return `${beliefCount === 0 ? '' : ' and '}${counted(turnCount, 'turn')} of conversation`
}

function Names({ entry: { event, names } }: { readonly entry: Entry }) {
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
              <span class="soft">something that is gone</span>
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
