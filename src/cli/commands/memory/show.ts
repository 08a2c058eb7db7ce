import type { Belief } from '../../../beliefs/belief.ts'
import type { History } from '../../../memory/explain/history.ts'
import { defineCommand, one } from '../../command.ts'
import { placeOptions, referenceOptions } from '../../common-options.ts'
import { minuteOf, short } from '../../describe-belief.ts'
import { harmless, type Style } from '../../output.ts'
import { columns, counted, indented } from '../../text-layout.ts'

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
