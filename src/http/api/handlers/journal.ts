import { type JournalEntry as DomainEntry, entryOf, mostListedBeliefs } from '../../../beliefs/journal.ts'
import type { JournalEntry } from '../contract.ts'
import type { Desk, Handlers } from '../handlers.ts'

const mostNames = 3

/** An entry as it is sent: without its idempotency key, which is its sender's own. */
export function sentEntry({ user: _user, key: _key, ...entry }: DomainEntry): JournalEntry {
  return entry
}

export function journalHandlers({ store, user }: Desk): Handlers<'journal' | 'undo'> {
  return {
    journal: async ({ memory, query }) => {
      const entries = await memory.events(query)
      const named = ({ beliefIds }: DomainEntry): readonly string[] => beliefIds.slice(0, mostNames)
      const beliefs = await store.getMany(user, [...new Set(entries.flatMap(named))])
      const names = new Map(beliefs.map(({ id, name }) => [id, name]))
      return {
        items: entries.map((entry) => ({
          event: sentEntry(entry),
          names: Object.fromEntries(named(entry).map((id) => [id, names.get(id) ?? null])),
        })),
        nextBefore: entries.length < query.limit ? null : (entries.at(-1)?.number ?? null),
      }
    },
    undo: async ({ memory, params: { number }, keyed }) => {
      const { undone, restored, withdrawn, event } = await memory.undo(number, keyed)
      return {
        undone: sentEntry(entryOf(undone)),
        restored: restored.slice(0, mostListedBeliefs),
        restoredCount: restored.length,
        withdrawn: withdrawn.slice(0, mostListedBeliefs),
        withdrawnCount: withdrawn.length,
        event,
      }
    },
  }
}
