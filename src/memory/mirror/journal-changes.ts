import type { JournalEntry } from '../../beliefs/journal.ts'
import type { Store } from '../ports.ts'

export type JournalChanges = {
  /** Number of the newest event. */
  readonly head: number
  /** Beliefs that changed; null when there is so much that looking at everything is quicker. */
  readonly ids: readonly string[] | null
  readonly forgotten: readonly string[]
}

/** Usually there is one event or two. */
const firstPage = 8
const laterPages = 200
const mostEvents = 2_000

/** What happened to a user's memory after an event. */
export async function changesSince(store: Store, user: string, number: number): Promise<JournalChanges> {
  const events: JournalEntry[] = []
  let before: number | undefined
  for (let page = firstPage; ; page = laterPages) {
    const found = await store.events(user, { limit: page, ...(before === undefined ? {} : { before }) })
    const later = found.filter((event) => event.number > number)
    events.push(...later)
    if (later.length < page || events.length >= mostEvents) break
    before = later.at(-1)?.number
  }
  const forgotten: string[] = []
  for (const event of events) if (event.kind === 'forget') forgotten.push(...(await touchedBy(store, user, event)))
  const isTooMuch = events.length >= mostEvents
  const ids = new Set<string>()
  if (!isTooMuch) for (const event of events) for (const id of await touchedBy(store, user, event)) ids.add(id)
  return {
    head: events[0]?.number ?? number,
    ids: isTooMuch ? null : [...ids],
    forgotten,
  }
}

/** All the beliefs of an event, of which a list names only the first. */
async function touchedBy(store: Store, user: string, entry: JournalEntry): Promise<readonly string[]> {
  const { number, beliefIds, beliefCount } = entry
  return beliefIds.length === beliefCount ? beliefIds : ((await store.event(user, number))?.beliefIds ?? [])
}
