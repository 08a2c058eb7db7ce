import type { BeliefRevision, JournalEntry } from '../../../beliefs/journal.ts'
import { MemoryError } from '../../../errors.ts'
import type { Memory } from '../../../memory/memory.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import { defineCommand, optional, wholeNumber } from '../../command.ts'
import { placeOptions, referenceOptions } from '../../common-options.ts'
import { called, minuteOf, short } from '../../describe-belief.ts'
import { harmless } from '../../output.ts'
import { columns } from '../../text-layout.ts'
import { UsageError } from '../../usage-error.ts'
import { chainText } from './show.ts'

export const history = defineCommand({
  args: {
    belief: optional(
      'The belief: its id, the beginning of it, its name or an alias. Without one, the latest changes of all.',
    ),
  },
  options: {
    limit: wholeNumber('How many of the latest changes to show.', { min: 1, max: 1_000, default: 50 }),
    before: wholeNumber('Only changes before this number.', { min: 1 }),
    ...referenceOptions,
    ...placeOptions,
  },
  examples: [
    { command: 'credence history "payment terms"', effect: 'Shows every change of it, and what replaced what.' },
    { command: 'credence history --limit 10', effect: 'Shows the last ten changes, with the numbers that undo takes.' },
  ],
  async run({ args: { belief: reference }, options }, session) {
    const { limit, before } = options
    if (reference !== undefined && (limit !== undefined || before !== undefined)) {
      throw new UsageError(
        '--limit and --before choose among the latest changes of all beliefs.',
        'Leave them out for one belief.',
      )
    }
    const memory = await session.reading(options)
    if (reference === undefined) {
      const events = await memory.events(omitUndefined({ limit, before }))
      const names = await namesOf(memory, events)
      return {
        document: { events },
        text: () =>
          columns(
            events.map((event) => eventRow(event, names)),
            { indent: 0 },
          ),
        notes: events.length === 0 ? ['Nothing has happened yet.'] : [],
      }
    }
    const found = await memory.history(reference)
    return {
      document: found,
      text: (style) =>
        [
          called(found.belief),
          columns(found.revisions.map(revisionRow), { width: style.width }),
          ...(found.chain.length < 2
            ? []
            : ['', 'Line of supersession, oldest first:', chainText(found.chain, found.belief.id, style)]),
        ].join('\n'),
    }
  },
})

const byWhom = ({ actor, origin }: JournalEntry): string => `${actor} ${harmless(origin)}`

const outcomeOf = (event: JournalEntry): string =>
  event.undoneBy === null ? (event.undoes === null ? '' : `took back ${event.undoes}`) : `undone by ${event.undoneBy}`

function eventRow(event: JournalEntry, names: ReadonlyMap<string, string>): readonly string[] {
  const [first = ''] = event.beliefIds
  const others = event.beliefCount - 1
  const what = `${names.get(first) ?? harmless(first)}${others > 0 ? ` and ${others} more` : ''}`
  return [String(event.number), minuteOf(event.at), event.kind, byWhom(event), what, outcomeOf(event)]
}

const revisionRow = ({ event, outcome, belief }: BeliefRevision): readonly string[] => [
  String(event.number),
  minuteOf(event.at),
  event.kind,
  byWhom(event),
  outcomeOf(event),
  belief === null ? (outcome === 'absent' ? 'withdrawn' : 'its text is gone') : short(belief.content),
]

/** The name of the first belief of each event. What has been forgotten or withdrawn has none. */
async function namesOf(memory: Memory, events: readonly JournalEntry[]): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>()
  for (const id of new Set(events.flatMap(({ beliefIds }) => beliefIds.slice(0, 1)))) {
    try {
      names.set(id, called(await memory.get(id)))
    } catch (error) {
      if (!(error instanceof MemoryError && error.code === 'not_found')) throw error
      names.set(id, `${harmless(id)}, which is gone`)
    }
  }
  return names
}
