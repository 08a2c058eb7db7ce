import { beliefTypes, statuses } from '../../beliefs/belief.ts'
import { given } from '../../given.ts'
import type { Highlight, SearchHit } from '../../memory/search.ts'
import { choices, defineCommand, flag, wholeNumber, words } from '../command.ts'
import { filterOptions, placeOptions, readerOptions } from '../common-options.ts'
import { marksOf } from '../describe-belief.ts'
import { harmless, type Style } from '../output.ts'
import { counted, indented } from '../text-layout.ts'

export const search = defineCommand({
  args: { query: words('The words to look for.') },
  options: {
    type: choices('<type>', beliefTypes, 'Only beliefs of this type.'),
    status: choices('<status>', statuses, 'Only beliefs of this status.'),
    retired: flag('Also superseded, settled and proposed beliefs.'),
    limit: wholeNumber('How many to show.', { min: 1, max: 100, default: 10 }),
    offset: wholeNumber('How many to leave out at the beginning.', { min: 0, default: 0 }),
    ...filterOptions,
    ...readerOptions,
    ...placeOptions,
  },
  description: 'Unlike recall it also looks into statements and reasons, and in every scope.',
  examples: [
    {
      command: 'credence search invoice',
      effect: 'Exact hits are named like that; possible ones have the word somewhere.',
    },
    {
      command: 'credence search "port number" --retired --type decision',
      effect: 'Looks among decisions, those that no longer hold too.',
    },
  ],
  async run({ args: { query }, options }, session) {
    const { type, status, retired, limit, offset, scope } = options
    const memory = await session.reading(options)
    const found = await memory.search(query, {
      ...given({ limit, offset }),
      ...(type.length === 0 ? {} : { types: type }),
      ...(status.length === 0 ? {} : { statuses: status }),
      ...(scope.length === 0 ? {} : { scopes: scope }),
      includeRetired: retired || status.includes('superseded'),
    })
    const more = found.total - (offset ?? 0) - found.hits.length
    return {
      document: found,
      text: (style) => found.hits.map((hit) => hitBlock(hit, style)).join('\n'),
      notes: [
        ...(found.hits.length === 0 ? [`Nothing was found for "${query.trim()}".`] : []),
        ...(more > 0
          ? [`${counted(more, 'more hit')}; see them with --offset ${(offset ?? 0) + found.hits.length}.`]
          : []),
      ],
    }
  },
})

function hitBlock({ match, belief, highlights }: SearchHit, style: Style): string {
  const field = (name: Highlight['field'], text: string): string =>
    highlighted(
      text,
      highlights.filter((one) => one.field === name && text.slice(one.start, one.end) === one.text),
      style,
    )
  const aliases = belief.aliases.map((alias) => field('alias', alias)).join(', ')
  const kind = match === 'exact' ? style.green('exact   ') : style.yellow('possible')
  return [
    `${kind}  ${field('name', belief.name)}  ${style.dim(`${harmless(belief.id)}  ${marksOf(belief).join(', ')}`)}`,
    indented(field('content', belief.content), 4),
    ...(belief.why === '' ? [] : [indented(`Why: ${field('why', belief.why)}`, 4)]),
    ...(aliases === '' ? [] : [indented(`Also called: ${aliases}`, 4)]),
  ].join('\n')
}

/** The text with the words that were found made to stand out, where there is a way to. */
function highlighted(text: string, highlights: readonly Highlight[], style: Style): string {
  let end = 0
  const parts: string[] = []
  for (const highlight of [...highlights].sort((one, other) => one.start - other.start)) {
    if (highlight.start < end) continue
    parts.push(harmless(text.slice(end, highlight.start)), style.bold(style.underline(harmless(highlight.text))))
    end = highlight.end
  }
  return [...parts, harmless(text.slice(end))].join('')
}
