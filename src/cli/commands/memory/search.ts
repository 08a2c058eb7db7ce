import { isCurrent } from '../../../beliefs/belief.ts'
import { visibleScopes } from '../../../beliefs/scope.ts'
import { reporterOf } from '../../../beliefs/turn.ts'
import { localDay, localMinute } from '../../../local-time.ts'
import { maxAround, type NearbyTurn, type QuoteHit } from '../../../memory/conversation/search-turns.ts'
import { correctionMark } from '../../../memory/recall/context.ts'
import { agesOf } from '../../../memory/recall/render.ts'
import { type Highlight, type SearchHit, searchPlaces } from '../../../memory/recall/search.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import { beliefFilter, said } from '../../../operations/shared-fields.ts'
import type { Explanation } from '../../../search/explanation.ts'
import { cutNote } from '../../../search/message.ts'
import { type Strength, strengths } from '../../../search/turns/strength.ts'
import { defineCommand } from '../../command/command.ts'
import {
  choice,
  date,
  fieldOptions,
  filterOptions,
  flag,
  memoryOptions,
  readerOptions,
  timeOptions,
  wholeNumber,
  words,
} from '../../command/options.ts'
import { waitingNotes } from '../../new-vectors.ts'
import { marksOf } from '../../text/beliefs.ts'
import { indentText, lines, moreNote, type Style } from '../../text/output.ts'
import { explanationTree, speakerOf } from '../../text/recall.ts'
import { filterOf } from './beliefs.ts'

export const search = defineCommand({
  args: { query: words('A question, or the words to look for.') },
  options: {
    in: choice('<where>', searchPlaces, 'Search beliefs, turns, or both.', 'both'),
    ...timeOptions,
    ...fieldOptions(said, 'speaker', 'session'),
    asOf: date('<date>', 'Use only what was stored by this day.'),
    ...fieldOptions(beliefFilter, 'type', 'status'),
    retired: flag('Include superseded, settled and proposed beliefs.'),
    explain: flag('Show how each quote was ranked.'),
    limit: wholeNumber('How many beliefs and how many quotes to show.', { min: 1, max: 100, default: 10 }),
    offset: wholeNumber('How many to skip.', { min: 0, default: 0 }),
    around: wholeNumber('Show this many turns before and after each quote.', { min: 0, max: maxAround, default: 0 }),
    ...filterOptions,
    ...readerOptions,
    ...memoryOptions,
  },
  description:
    'Unlike recall, it always shows the best hits, in every scope. Each hit has a strength: exact if the question names or quotes it, strong if it contains most distinctive words of the question, possible if it contains some of them, if only a turn next to it does, or if it is among the nearest by meaning alone, which may be far away (in a memory with vectors). A single word never makes a strong hit.',
  examples: {
    'credence search "Where did I rent the kayak?"': 'Shows what you said about it, the newest first.',
    'credence search "port number" --in beliefs --retired --type decision':
      'Searches decisions, including superseded ones.',
  },
  async run({ args: { query }, options }, session) {
    const { status, retired, limit, offset, in: place, since, until, speaker, asOf, explain, around } = options
    const memory = await session.memories.reading({ ...options, waitsForModel: true })
    const found = await memory.search(query, {
      ...omitUndefined({ limit, offset, in: place, since, until, speaker, session: options.session, asOf, around }),
      ...filterOf(options),
      includeRetired: retired || status.includes('superseded'),
    })
    const { beliefs, quotes, total, isQueryCut } = found
    const active = visibleScopes(session.places.locate(options).scopes)
    const current = beliefs.filter(({ belief }) => isCurrent(belief))
    const ages = agesOf({ pinned: [], relevant: current, perhaps: [], quotes: [] })
    return {
      document: found,
      text: (style) =>
        lines(
          ...sortByStrength(
            beliefs.map((hit) => [hit.strength, beliefBlock(hit, ages.get(hit.belief.id) ?? [], style)]),
            quotes.map((hit) => [hit.strength, quoteBlock(hit, { explain, active }, style)]),
          ),
        ),
      notes: [
        ...(isQueryCut ? [cutNote] : []),
        ...(beliefs.length + quotes.length === 0 ? [`Nothing was found for "${query.trim()}".`] : []),
        ...(await waitingNotes(memory)),
        ...moreNote('belief', total, (offset ?? 0) + beliefs.length),
      ],
    }
  },
})

type Block = readonly [strength: Strength, text: string]

/** Puts the list with the strongest hit first; on a tie, the beliefs. Each list keeps its order, which is finer than strength. */
function sortByStrength(beliefs: readonly Block[], quotes: readonly Block[]): readonly string[] {
  const bestOf = (blocks: readonly Block[]): number =>
    Math.min(...blocks.map(([strength]) => strengths.indexOf(strength)), strengths.length)
  const inOrder = bestOf(quotes) < bestOf(beliefs) ? [...quotes, ...beliefs] : [...beliefs, ...quotes]
  return inOrder.map(([, text]) => text)
}

const strengthText = (strength: Strength, style: Style): string => {
  const padded = strength.padEnd('possible'.length)
  return strength === 'possible' ? style.yellow(padded) : style.green(padded)
}

function beliefBlock(
  { strength, belief, highlights, cosine }: SearchHit,
  age: readonly string[],
  style: Style,
): string {
  const field = (name: Highlight['field'], given: string): string => {
    const own = highlights.filter((one) => one.field === name && given.slice(one.start, one.end) === one.text)
    return highlightText(given, own, style)
  }
  const aliases = belief.aliases.map((alias) => field('alias', alias)).join(', ')
  const marks = style.dim(`${belief.id}  ${[...marksOf(belief), ...age].join(', ')}`)
  return lines(
    `${strengthText(strength, style)}  ${field('name', belief.name)}  ${marks}`,
    indentText(field('content', belief.content), 4),
    belief.why !== '' && indentText(`Why: ${field('why', belief.why)}`, 4),
    aliases !== '' && indentText(`Also called: ${aliases}`, 4),
    cosine !== null && indentText(style.dim(nearInMeaning), 4),
  )
}

type QuoteView = { readonly explain: boolean; readonly active: readonly string[] }

function quoteBlock(hit: QuoteHit, { explain, active }: QuoteView, style: Style): string {
  const when = `${hit.earlier && hit.correctedAt === null ? 'earlier, ' : ''}${localDay(hit.at, hit.utcOffset)}`
  const verb = hit.role === 'user' && hit.origin === 'document' ? ' pasted' : ' said'
  const did = reporterOf(hit) === null ? verb : ''
  // The scope is shown if it is not active, because recall would not quote such a turn here.
  const marks = [hit.turn, ...(active.includes(hit.scope) ? [] : [hit.scope])]
  return lines(
    `${strengthText(hit.strength, style)}  ${when}, ${speakerOf(hit)}${did}${correctionMark(hit.correctedAt)}  ${style.dim(marks.join('  '))}`,
    indentText(hit.text, 4, style.width),
    hit.correction !== null && indentText(`Now: ${hit.correction.content}`, 4, style.width),
    hit.found.length === 0 && indentText(style.dim(findingReason(hit.explanation)), 4),
    (hit.around ?? []).map((turn) => indentText(style.dim(nearbyText(turn)), 6, style.width)),
    explain && explanationTree(hit.explanation).map((line) => indentText(line, 4)),
  )
}

const nearbyText = (turn: NearbyTurn): string =>
  `${localMinute(turn.at, turn.utcOffset)}, ${speakerOf(turn)}: ${turn.text}`

const nearInMeaning = 'It shares no word with the question, but is among the nearest in meaning.'

/** Why a turn without any word of the query is found. */
const findingReason = (explanation: Explanation): string =>
  isFoundByNeighbour(explanation) ? 'A turn next to it has the words.' : nearInMeaning

const isFoundByNeighbour = ({ parts }: Explanation): boolean => parts.some(({ label }) => label.startsWith('around: '))

/** The text with the matched words in bold and underlined, if the terminal supports it. */
function highlightText(given: string, highlights: readonly Highlight[], style: Style): string {
  let end = 0
  const parts: string[] = []
  for (const highlight of [...highlights].sort((a, b) => a.start - b.start)) {
    if (highlight.start < end) continue
    parts.push(given.slice(end, highlight.start), style.bold(style.underline(highlight.text)))
    end = highlight.end
  }
  return [...parts, given.slice(end)].join('')
}
