import { useState } from 'preact/hooks'
import { eventKinds } from '../../../src/beliefs/journal.ts'
import type { ApiJournalEntry, RouteAnswer } from '../../../src/http/api/contract.ts'
import { ask, journalHead } from '../api/client.ts'
import { pluralize } from '../format/numbers.ts'
import { dayOf, namedDay } from '../format/time.ts'
import { eventWords, throughWords, whoWords } from '../format/words.ts'
import { query } from '../navigation/router.tsx'
import { useResource } from '../state/resource.ts'
import { Badge, BeliefLink, Button, Time, type Tone, UndoButton } from '../ui/elements.tsx'
import { QuerySelect } from '../ui/form.tsx'
import { PageHead, Panel } from '../ui/layout.tsx'
import { EmptyState, Loaded, Refused, SkeletonRows } from '../ui/notice.tsx'
import { changesBetween } from './beliefs/belief-state.ts'
import { Change } from './beliefs/proposal.tsx'

type Entry = RouteAnswer<'journal'>['items'][number]

const tones: Readonly<Partial<Record<ApiJournalEntry['kind'], Tone>>> = {
  forget: 'bad',
  propose: 'odd',
  accept: 'good',
  remember: 'accent',
  correct: 'accent',
  import: 'accent',
}

/** Max names in a line. */
const maxNames = 3

/** One change with its author, its kind and its beliefs. */
function JournalRow({ entry }: { readonly entry: Entry }) {
  const { event } = entry
  return (
    <li class="journal-row">
      <Badge tone={tones[event.kind] ?? 'plain'}>{event.kind}</Badge>
      <div class={event.undoneBy === null ? 'journal-text grow break' : 'journal-text grow break soft'}>
        <p>
          {whoWords(event)} {eventWords[event.kind]} <UndoResult event={event} />
          <Names entry={entry} />
          <Turns event={event} />
          <span class="soft">{throughWords(event)}.</span>
          {event.undoneBy === null ? null : <span class="soft"> Undone by change {event.undoneBy}.</span>}
        </p>
        {event.beliefCount === 0 || event.kind === 'forget' ? null : <Details number={event.number} />}
      </div>
      <span class="journal-number number soft small wide-only" title="The number of this change">
        {event.number}
      </span>
      <span class="soft small">
        <Time at={event.at} />
      </span>
      <span>
        <UndoButton event={event} />
      </span>
    </li>
  )
}

/** The effect of a change, loaded when the details are opened. */
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
        joinReplaced(changes).map((change) => <Changed key={change.beliefId} {...change} all={changes} />)
      )}
    </details>
  )
}

type EventChanges = RouteAnswer<'journalEvent'>['changes']

/** Compares a new belief with the one it replaces, so that the replaced one is not listed separately. */
function joinReplaced(changes: EventChanges): EventChanges {
  const predecessorOf = ({ before, after }: EventChanges[number]) =>
    before !== null || after === null ? null : (changes.find((one) => one.after?.supersededBy === after.id) ?? null)
  const ended = new Set(changes.flatMap((change) => predecessorOf(change)?.beliefId ?? []))
  return changes
    .filter(({ beliefId }) => !ended.has(beliefId))
    .map((change) => ({ ...change, before: predecessorOf(change)?.before ?? change.before }))
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
      all.flatMap((change) => change.after ?? []),
    ),
  ]
  return (
    <div class="stack tight journal-change">
      <b>
        <bdi>{belief.name}</bdi>
      </b>
      {target === null ? null : (
        <p>
          Proposed {proposed === '' ? 'to remove' : 'for'} <BeliefLink id={target.id} name={target.name} />
        </p>
      )}
      {fields.map((field) => (
        <Change key={field.field} {...field} />
      ))}
    </div>
  )
}

/** The number of the change that was undone, followed by "of" if beliefs or turns are listed after it. */
function UndoResult({ event: { undoes, beliefCount, turnCount } }: { readonly event: ApiJournalEntry }) {
  if (undoes === null) return null
  return `change ${undoes}${beliefCount + turnCount === 0 ? '' : ' of '}`
}

/** The number of stored or forgotten turns. Not shown for the single message that a belief was learned from. */
function Turns({ event: { kind, turnCount, beliefCount } }: { readonly event: ApiJournalEntry }) {
  if (turnCount === 0 || (kind === 'learn' && turnCount === 1)) return null
  return `${beliefCount === 0 ? '' : ' and '}${pluralize(turnCount, 'turn')} of conversation`
}

function Names({ entry: { event, names, gone } }: { readonly entry: Entry }) {
  // The two beliefs of a correction have the same name; it is shown only once.
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
              <BeliefLink id={id} name={`“${name}”`} />
            )}
          </span>
        )
      })}
      {rest > 0 ? ` and ${pluralize(rest, 'more', 'more')}` : ''}
    </>
  )
}

const pageSize = 50

/** The first pages of the journal, newest first. */
async function loadJournal(pages: number, filters: ReturnType<typeof journalFilters>, signal: AbortSignal) {
  const items: Entry[] = []
  let next: number | null = null
  for (let at = 0; at < pages && (at === 0 || next !== null); at += 1) {
    const before: { readonly before?: number } = next === null ? {} : { before: next }
    const page: RouteAnswer<'journal'> = await ask('journal', {
      query: { limit: pageSize, ...before, ...filters },
      signal,
    })
    items.push(...page.items)
    next = page.nextBefore
  }
  return { items, next }
}

/** All changes to the memory, newest first, with undo buttons. */
export function JournalPage() {
  const filters = journalFilters()
  const isFiltered = Object.keys(filters).length > 0
  const [pages, setPages] = useState(1)
  const found = useResource(JSON.stringify(filters), (signal) => loadJournal(pages, filters, signal), {
    freshness: journalHead.value * 1_000 + pages,
  })
  return (
    <>
      <PageHead title="Journal">
        Every change of a belief: who made it, when, and what it changed. Most changes can be undone; forgetting cannot.
      </PageHead>
      <Panel label="Changes">
        <Filters />
        <Loaded resource={found} waiting={<SkeletonRows rows={10} label="Loading the journal" />}>
          {({ items, next }) =>
            items.length === 0 ? (
              <EmptyState
                icon="journal"
                title={isFiltered ? 'No change matches' : 'No changes yet'}
                text={isFiltered ? 'Choose another kind or author.' : 'The first belief will appear here.'}
              />
            ) : (
              <>
                {[...Map.groupBy(items, ({ event }) => dayOf(event.at))].map(([day, entries]) => (
                  <section key={day} aria-label={day}>
                    <h2 class="group-title">{namedDay(entries[0]?.event.at ?? day)}</h2>
                    <ol class="rows lines">
                      {entries.map((entry) => (
                        <JournalRow key={entry.event.number} entry={entry} />
                      ))}
                    </ol>
                  </section>
                ))}
                <Refused error={found.error} />
                <div class="more-rows soft small">
                  {next === null ? (
                    'This is the first change.'
                  ) : (
                    <Button
                      tone="quiet"
                      isBusy={found.isLoading}
                      onClick={() => setPages(pages + 1)}
                      label="Show older changes"
                    />
                  )}
                </div>
              </>
            )
          }
        </Loaded>
      </Panel>
    </>
  )
}

/** All kinds except `hear`: turns that change no belief are on the page Conversations. */
const kinds = eventKinds.filter((kind) => kind !== 'hear')
const actors = ['person', 'agent', 'document', 'tool', 'model'] as const

/** The filters in the address, so that a view can be bookmarked. */
function journalFilters() {
  const kind = kinds.find((one) => one === query.value.get('kind'))
  const actor = actors.find((one) => one === query.value.get('actor'))
  return { ...(kind === undefined ? {} : { kind: [kind] }), ...(actor === undefined ? {} : { actor: [actor] }) }
}

const Filters = () => (
  <search class="toolbar" aria-label="Changes">
    <QuerySelect
      label="Kind of change"
      name="kind"
      options={[['', 'All kinds'], ...kinds.map((one) => [one, one] as const)]}
    />
    <QuerySelect
      label="Author"
      name="actor"
      options={[['', 'All authors'], ...actors.map((one) => [one, one === 'person' ? 'you' : one] as const)]}
    />
  </search>
)
