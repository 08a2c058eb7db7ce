import { beliefTypes, statuses } from '../../../beliefs/belief.ts'
import type { QuoteHit } from '../../../memory/conversation/search-turns.ts'
import { type Highlight, type SearchHit, searchPlaces } from '../../../memory/recall/search.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import type { Strength } from '../../../search/turns/strength.ts'
import { choice, choices, defineCommand, flag, text, wholeNumber, words } from '../../command.ts'
import { filterOptions, placeOptions, readerOptions } from '../../common-options.ts'
import { dayOf, marksOf } from '../../describe-belief.ts'
import { explanationTree } from '../../describe-recall.ts'
import { harmless, type Style } from '../../output.ts'
import { counted, indented } from '../../text-layout.ts'

export const search = defineCommand({
  args: { query: words('A question, or the words to look for.') },
  options: {
    in: { ...choice('<where>', searchPlaces, 'Search beliefs, what was said, or both.'), default: 'both' },
    since: text('<date>', 'Only what was said on this day or later.'),
    until: text('<date>', 'Only what was said up to this day.'),
    speaker: text('<name>', 'Only what this person said.'),
    session: text('<id>', 'Only what was said in this conversation.'),
    asOf: text('<date>', 'What was known on this day.'),
    type: choices('<type>', beliefTypes, 'Only beliefs of this type.'),
    status: choices('<status>', statuses, 'Only beliefs of this status.'),
    retired: flag('Also superseded, settled and proposed beliefs.'),
    explain: flag('Show how each quote was ranked.'),
    limit: wholeNumber('How many beliefs and how many quotes to show.', { min: 1, max: 100, default: 10 }),
    offset: wholeNumber('How many to leave out at the beginning.', { min: 0, default: 0 }),
    ...filterOptions,
    ...readerOptions,
    ...placeOptions,
  },
  description:
    'Unlike recall it always answers with its best, in every scope, and says how strong each hit is: exact hits are named like the question, strong ones hold most of its telling words, possible ones only some.',
  examples: [
    { command: 'credence search "Where did I rent the kayak?"', effect: 'Shows what you said about it, newest first.' },
    {
      command: 'credence search "port number" --in beliefs --retired --type decision',
      effect: 'Searches decisions, including those that no longer hold.',
    },
  ],
  async run({ args: { query }, options }, session) {
    const { type, status, retired, limit, offset, scope, in: place, since, until, speaker, asOf } = options
    const memory = await session.reading(options)
    const found = await memory.search(query, {
      ...omitUndefined({ limit, offset, in: place, since, until, speaker, session: options.session, asOf }),
      ...(type.length === 0 ? {} : { types: type }),
      ...(status.length === 0 ? {} : { statuses: status }),
      ...(scope.length === 0 ? {} : { scopes: scope }),
      includeRetired: retired || status.includes('superseded'),
    })
    const more = found.total - (offset ?? 0) - found.beliefs.length
    const isEmpty = found.beliefs.length + found.quotes.length === 0
    return {
      document: found,
      text: (style) =>
        [
          ...found.beliefs.map((hit) => beliefBlock(hit, style)),
          ...found.quotes.map((hit) => quoteBlock(hit, options.explain, style)),
        ].join('\n'),
      notes: [
        ...(isEmpty ? [`Nothing was found for "${query.trim()}".`] : []),
        ...(more > 0
          ? [`${counted(more, 'more belief')}; see them with --offset ${(offset ?? 0) + found.beliefs.length}.`]
          : []),
      ],
    }
  },
})

const strengthText = (strength: Strength, style: Style): string => {
  const padded = strength.padEnd('possible'.length)
  return strength === 'possible' ? style.yellow(padded) : style.green(padded)
}

function beliefBlock({ strength, belief, highlights }: SearchHit, style: Style): string {
  const field = (name: Highlight['field'], text: string): string =>
    highlighted(
      text,
      highlights.filter((one) => one.field === name && text.slice(one.start, one.end) === one.text),
      style,
    )
  const aliases = belief.aliases.map((alias) => field('alias', alias)).join(', ')
  const marks = style.dim(`${harmless(belief.id)}  ${marksOf(belief).join(', ')}`)
  return [
    `${strengthText(strength, style)}  ${field('name', belief.name)}  ${marks}`,
    indented(field('content', belief.content), 4),
    ...(belief.why === '' ? [] : [indented(`Why: ${field('why', belief.why)}`, 4)]),
    ...(aliases === '' ? [] : [indented(`Also called: ${aliases}`, 4)]),
  ].join('\n')
}

function quoteBlock(
  { strength, text, speaker, role, at, turn, earlier, explanation }: QuoteHit,
  explain: boolean,
  style: Style,
): string {
  const who = speaker ?? (role === 'user' ? 'you' : role)
  const when = `${earlier ? 'earlier, ' : ''}${dayOf(at)}`
  return [
    `${strengthText(strength, style)}  ${when}, ${harmless(who)} said  ${style.dim(harmless(turn))}`,
    indented(harmless(text), 4, style.width),
    ...(explain ? explanationTree(explanation).map((line) => indented(line, 4)) : []),
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
