import { actorKinds } from '../beliefs/belief.ts'
import { entryOf, eventKinds, type JournalEntry, maxListedBeliefs } from '../beliefs/journal.ts'
import { filterEvents, findRemoval, type Removal, readChanges } from '../memory/explain/history.ts'
import { omitUndefined } from '../omit-undefined.ts'
import { choice, flag, list, maxItems, optional, whole, withDefault } from './field.ts'
import { operation, servedBy } from './operation.ts'

/** Max beliefs to name for each change in a list. */
const maxNames = 3
const number = whole({ min: 1 })

/** A journal entry without its idempotency key, which only its sender may know. */
export const withoutKey = ({ user: _user, key: _key, ...entry }: JournalEntry) => entry

/** Reading the journal, and undoing changes. */
export const history = {
  journal: operation({
    summary: 'Recent changes, newest first.',
    http: 'GET /journal',
    input: {
      limit: withDefault(whole({ min: 1, max: maxItems }), 50),
      before: optional(number, 'Only changes with a lower number.'),
      hearing: optional(flag('true: also changes that only stored turns.')),
      kind: optional(list(choice(eventKinds), {}, 'Only changes of these kinds.')),
      actor: optional(list(choice(actorKinds), {}, 'Only changes by these authors.')),
    },
    run: async (call, { kind, actor, ...page }) => {
      const { ports, view } = servedBy(call)
      const { user } = view
      const wanted = { ...page, ...omitUndefined({ kinds: kind, actors: actor }) }
      const { entries, nextBefore } = await filterEvents(ports, user, wanted)
      const named = ({ beliefIds }: JournalEntry): readonly string[] => beliefIds.slice(0, maxNames)
      const beliefs = await ports.store.getMany(user, [...new Set(entries.flatMap(named))])
      const names = new Map(beliefs.map(({ id, name }) => [id, name]))
      const removed: Record<string, Removal> = {}
      for (const id of new Set(entries.flatMap(named)))
        if (!names.has(id)) removed[id] = await findRemoval(ports, user, id)
      const goneOf = (entry: JournalEntry): Readonly<Record<string, Removal>> =>
        Object.fromEntries(Object.entries(removed).filter(([id]) => named(entry).includes(id)))
      return {
        items: entries.map((entry) => ({
          event: withoutKey(entry),
          names: Object.fromEntries(named(entry).map((id) => [id, names.get(id) ?? null])),
          gone: goneOf(entry),
        })),
        nextBefore,
      }
    },
  }),
  journalEvent: operation({
    summary: 'The effect of one change on each belief; the first 20.',
    http: 'GET /journal/:number',
    input: { number },
    run: async (call, input) => {
      const { ports, view } = servedBy(call)
      return { changes: await readChanges(ports, view.user, input.number, maxListedBeliefs) }
    },
  }),
  undo: operation({
    summary: 'Undo a change.',
    http: 'POST /journal/:number/undo',
    input: { number },
    run: async ({ memory, idempotency }, input) => {
      const { undone, restored, withdrawn, event } = await memory.undo(input.number, idempotency)
      return {
        undone: withoutKey(entryOf(undone)),
        restored: restored.slice(0, maxListedBeliefs),
        restoredCount: restored.length,
        withdrawn: withdrawn.slice(0, maxListedBeliefs),
        withdrawnCount: withdrawn.length,
        event,
      }
    },
  }),
}
