import { useEffect, useState } from 'preact/hooks'
import { eventKinds } from '../../../../src/beliefs/journal.ts'
import type { RouteAnswer } from '../../../../src/http/api/contract.ts'
import { ask } from '../../api/client.ts'
import { journalHead } from '../../api/live.ts'
import { asRefusal, type Refusal } from '../../api/refusal.ts'
import { dayOf, namedDay } from '../../format/time.ts'
import { navigate, query, withQuery } from '../../navigation/router.ts'
import { useResource } from '../../state/resource.ts'
import { Button } from '../../ui/button.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { EmptyState, Refused } from '../../ui/notice.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { type Entry, JournalRow } from './journal-row.tsx'

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
