import type { JournalEvent } from '../../../beliefs/journal.ts'
import type { JournalEntry } from '../contract.ts'
import type { Desk, Handlers } from '../handlers.ts'

const mostIds = 20
const mostNames = 3

/** An event as it is sent: without its idempotency key, and without the hundred thousand ids of a large import. */
export function journalEntry({ user: _user, key: _key, beliefIds, ...event }: JournalEvent): JournalEntry {
  return { ...event, beliefIds: beliefIds.slice(0, mostIds), beliefCount: beliefIds.length }
}

export function journalHandlers({ store, user }: Desk): Handlers<'journal' | 'undo'> {
  return {
    journal: async ({ memory, query }) => {
      const events = await memory.events(query)
      const shown = (event: JournalEvent): readonly string[] => event.beliefIds.slice(0, mostNames)
      const beliefs = await store.getMany(user, [...new Set(events.flatMap(shown))])
      const names = new Map(beliefs.map(({ id, name }) => [id, name]))
      return {
        items: events.map((event) => ({
          event: journalEntry(event),
          names: Object.fromEntries(shown(event).map((id) => [id, names.get(id) ?? null])),
        })),
        nextBefore: events.length < query.limit ? null : (events.at(-1)?.number ?? null),
      }
    },
    undo: async ({ memory, params: { number }, keyed }) => {
      const { undone, restored, withdrawn, event } = await memory.undo(number, keyed)
      return {
        undone: journalEntry(undone),
        restored: restored.slice(0, mostIds),
        restoredCount: restored.length,
        withdrawn: withdrawn.slice(0, mostIds),
        withdrawnCount: withdrawn.length,
        event,
      }
    },
  }
}
