import type { Belief } from '../../../beliefs/belief.ts'
import type { BeliefRevision, JournalEntry } from '../../../beliefs/journal.ts'
import { MemoryError } from '../../../errors.ts'
import type { History } from '../../../memory/explain/history.ts'
import type { Memory } from '../../../memory/memory.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import { defineCommand, one, optional, UsageError, wholeNumber } from '../../command/command.ts'
import { placeOptions, referenceOptions } from '../../command/common-options.ts'
import { called, minuteOf, short } from '../../text/beliefs.ts'
import { columns, counted, harmless, indented, type Style } from '../../text/output.ts'

export const show = defineCommand({
  args: { belief: one('The belief: its id, the beginning of it, its name or an alias.') },
  options: { ...referenceOptions, ...placeOptions },
  examples: [
    {
      command: 'credence show "payment terms"',
      effect: 'Shows what it says, where it came from and what it replaced.',
    },
    { command: 'credence show b-7k2m --json', effect: 'The same as one JSON document, by the beginning of its id.' },
  ],
  async run({ args: { belief: reference }, options }, session) {
    const memory = await session.reading(options)
    const { belief, chain, revisions } = await memory.history(reference)
    return { document: { belief, chain }, text: (style) => fullText({ belief, chain, revisions }, style) }
  },
})

function fullText({ belief, chain, revisions }: History, style: Style): string {
  const rows = fieldsOf(belief).filter(([, value]) => value !== '')
  return [
    style.bold(harmless(belief.name)),
    indented(harmless(belief.content), 2, style.width),
    '',
    columns(
      [
        ...rows.map(([label, value]) => [label, harmless(value)]),
        ['changed', `${counted(revisions.length, 'time')}; see \`credence history ${belief.id}\``],
      ],
      {
        width: style.width,
      },
    ),
    ...(chain.length < 2 ? [] : ['', 'Line of supersession, oldest first:', chainText(chain, belief.id, style)]),
  ].join('\n')
}

/** The beliefs that replaced each other, the one that is meant marked. */
export const chainText = (chain: readonly Belief[], id: string, style: Style): string =>
  columns(
    chain.map((one) => [
      one.id === id ? '>' : ' ',
      minuteOf(one.createdAt),
      harmless(one.id),
      one.supersededBy === null ? 'holds' : 'superseded',
      short(one.content),
    ]),
    { width: style.width },
  )

const fieldsOf = (belief: Belief): readonly (readonly [string, string])[] => [
  ['why', belief.why],
  ['id', belief.id],
  ['type', belief.subtype === null ? belief.type : `${belief.type}, ${belief.subtype}`],
  ['also called', belief.aliases.join(', ')],
  ['scope', belief.scopes.join(', ')],
  ['status', belief.status],
  ['confidence', String(belief.confidence)],
  ['pinned', belief.pinned ? 'yes' : 'no'],
  ['agent', belief.agent ?? ''],
  ['relation', belief.relation ?? ''],
  ['connects', belief.participants.join(', ')],
  ['expertise', belief.expertise === null ? '' : `${belief.expertise.domain}, ${belief.expertise.depth}`],
  ['superseded by', belief.supersededBy ?? ''],
  ['proposed for', belief.proposedFor ?? ''],
  [
    'settled',
    belief.resolvedAt === null
      ? ''
      : `${minuteOf(belief.resolvedAt)}${belief.resolvedBy === null ? '' : ` by ${belief.resolvedBy}`}`,
  ],
  [
    'written by',
    `${belief.provenance.actor} through ${belief.provenance.origin}, ${minuteOf(belief.provenance.at)} UTC`,
  ],
  ['taken from', belief.provenance.sourceId ?? ''],
  ['model', belief.provenance.model ?? ''],
  ['edited', belief.editedByPerson ? 'by a person' : ''],
  [
    'confirmed',
    belief.reinforcement.count === 0
      ? ''
      : `${counted(belief.reinforcement.count, 'time')}, last ${minuteOf(belief.reinforcement.at)} UTC`,
  ],
]

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
