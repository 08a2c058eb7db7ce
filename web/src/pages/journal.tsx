import { useEffect, useState } from 'preact/hooks'
import { eventKinds } from '../../../src/beliefs/journal.ts'
import type { ApiJournalEntry, RouteAnswer } from '../../../src/http/api/contract.ts'
import { ask, asRefusal, journalHead, type Refusal } from '../api/client.ts'
import { pluralize } from '../format/numbers.ts'
import { dayOf, namedDay } from '../format/time.ts'
import { eventWords, throughWords, whoWords } from '../format/words.ts'
import { address } from '../navigation/match.ts'
import { Link, navigate, query, withQuery } from '../navigation/router.tsx'
import { useResource } from '../state/resource.ts'
import { Badge, Button, Time, type Tone, UndoButton } from '../ui/elements.tsx'
import { EmptyState, Loaded, Refused, SkeletonRows } from '../ui/notice.tsx'
import { changesBetween } from './beliefs/belief-state.ts'
import { Change } from './beliefs/proposal.tsx'

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
const maxNames = 3

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
  const [changes, setChanges] = useState<EventChanges | null>(null)
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

type EventChanges = RouteAnswer<'journalEvent'>['changes']

/** A belief that replaces another is compared with it: that the other ended is then said. */
function comparedOf(changes: EventChanges): EventChanges {
  const predecessorOf = ({ before, after }: EventChanges[number]) =>
    before !== null || after === null ? null : (changes.find((one) => one.after?.supersededBy === after.id) ?? null)
  const ended = new Set(changes.flatMap((one) => predecessorOf(one)?.beliefId ?? []))
  return changes
    .filter(({ beliefId }) => !ended.has(beliefId))
    .map((one) => ({ ...one, before: predecessorOf(one)?.before ?? one.before }))
}

type ChangedProps = EventChanges[number] & { readonly all: EventChanges }

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
  return `${beliefCount === 0 ? '' : ' and '}${pluralize(turnCount, 'turn')} of conversation`
}

function Names({ entry: { event, names, gone } }: { readonly entry: Entry }) {
  // A correction touches the old and the new of the same name; the name is said once.
  const distinct = event.beliefIds.filter((id, at) => {
    const name = names[id] ?? null
    return name === null || event.beliefIds.findIndex((other) => names[other] === name) === at
  })
  const shown = distinct.slice(0, maxNames)
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
      {rest > 0 ? ` and ${pluralize(rest, 'more', 'more')}` : ''}
    </>
  )
}

const pageSize = 50

/** Every change of the memory, newest first, with the way back. */
export function JournalPage() {
  const filters = journalFilters()
  const latest = useResource(
    JSON.stringify(filters),
    (signal) => ask('journal', { query: { limit: pageSize, ...filters }, signal }),
    { freshness: journalHead.value },
  )
  return (
    <>
      <header class="page-head">
        <h1>Journal</h1>
        <p>
          Every change of a belief: who made it, when, and what it changed. Most changes can be undone; forgetting
          cannot.
        </p>
      </header>
      <Filters />
      <section class="panel" aria-label="Changes">
        <Loaded resource={latest} waiting={<SkeletonRows rows={10} label="Loading the journal" />}>
          {(page) =>
            page.items.length === 0 ? (
              <EmptyState
                icon="journal"
                title={Object.keys(filters).length > 0 ? 'No change fits' : 'Nothing has happened yet'}
              >
                {Object.keys(filters).length > 0
                  ? 'Choose another kind or author.'
                  : 'The first belief will appear here.'}
              </EmptyState>
            ) : (
              <Changes key={JSON.stringify(filters)} latest={page} />
            )
          }
        </Loaded>
      </section>
    </>
  )
}

/** Turns that change no belief are on the page of conversations. */
const kinds = eventKinds.filter((kind) => kind !== 'hear')
const actors = ['person', 'agent', 'document', 'tool', 'model'] as const

/** What stands in the address, so that a view can be kept. */
function journalFilters() {
  const kind = kinds.find((one) => one === query.value.get('kind'))
  const actor = actors.find((one) => one === query.value.get('actor'))
  return { ...(kind === undefined ? {} : { kind: [kind] }), ...(actor === undefined ? {} : { actor: [actor] }) }
}

function Filters() {
  const set = (changes: Readonly<Record<string, string | null>>) => navigate(withQuery(changes), { replace: true })
  const { kind, actor } = journalFilters()
  return (
    <search class="row journal-filters" aria-label="Changes">
      <select
        class="select narrow"
        aria-label="Kind of change"
        value={kind?.[0] ?? ''}
        onChange={(event) => set({ kind: event.currentTarget.value })}
      >
        <option value="">All kinds</option>
        {kinds.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
      <select
        class="select narrow"
        aria-label="Author"
        value={actor?.[0] ?? ''}
        onChange={(event) => set({ actor: event.currentTarget.value })}
      >
        <option value="">All authors</option>
        {actors.map((one) => (
          <option key={one} value={one}>
            {one === 'person' ? 'you' : one}
          </option>
        ))}
      </select>
    </search>
  )
}

type Page = RouteAnswer<'journal'>

/** The latest changes as they are now, and below them the older ones that were asked for. */
function Changes({ latest }: { readonly latest: Page }) {
  const [older, setOlder] = useState<{ readonly items: Page['items']; readonly next: number | null } | null>(null)
  const [error, setError] = useState<Refusal | null>(null)
  const [isBusy, setBusy] = useState(false)
  const next = older === null ? latest.nextBefore : older.next
  const more = async () => {
    if (next === null) return
    setBusy(true)
    try {
      const page = await ask('journal', { query: { limit: pageSize, before: next, ...journalFilters() } })
      setOlder((before) => ({ items: [...(before?.items ?? []), ...page.items], next: page.nextBefore }))
      setError(null)
    } catch (reason) {
      setError(asRefusal(reason))
    }
    setBusy(false)
  }
  // An older change that was undone just now must not go on looking as if it held.
  const undone = latest.items.flatMap(({ event }) =>
    event.undoes === null ? [] : [[event.undoes, event.number] as const],
  )
  const byUndone = new Map(undone)
  const gap = useGap(latest, older?.items ?? [])
  const all = [...latest.items, ...gap, ...(older?.items ?? [])]
  const entries = unique(all).map((entry) => ({
    ...entry,
    event: { ...entry.event, undoneBy: entry.event.undoneBy ?? byUndone.get(entry.event.number) ?? null },
  }))
  const days = [...new Set(entries.map(({ event }) => dayOf(event.at)))]
  return (
    <>
      {days.map((day) => (
        <section key={day} aria-label={day}>
          <h2 class="journal-day">{namedDay(entries.find(({ event }) => dayOf(event.at) === day)?.event.at ?? day)}</h2>
          <ol>
            {entries
              .filter(({ event }) => dayOf(event.at) === day)
              .map((entry) => (
                <JournalRow key={entry.event.number} entry={entry} />
              ))}
          </ol>
        </section>
      ))}
      <Refused error={error} />
      {next === null ? (
        <p class="more-rows soft small">This is the first change.</p>
      ) : (
        <div class="more-rows">
          <Button tone="quiet" isBusy={isBusy} onClick={() => void more()}>
            Show older changes
          </Button>
        </div>
      )}
    </>
  )
}

/** Changes that fell out of the latest page since older ones were asked for: kept from the time they were in it. */
function useGap(latest: Page, older: Page['items']): readonly Entry[] {
  const [seen, setSeen] = useState<readonly Entry[]>([])
  useEffect(() => setSeen((before) => unique([...latest.items, ...before])), [latest])
  const newestOlder = older[0]?.event.number ?? 0
  const oldestLatest = latest.items.at(-1)?.event.number ?? 0
  return older.length === 0 ? [] : seen.filter(({ event }) => event.number < oldestLatest && event.number > newestOlder)
}

function unique(entries: readonly Entry[]): readonly Entry[] {
  const byNumber = new Map(entries.toReversed().map((entry) => [entry.event.number, entry]))
  return [...byNumber.values()].sort((one, other) => other.event.number - one.event.number)
}
