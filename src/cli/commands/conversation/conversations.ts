import type { Turn } from '../../../beliefs/turn.ts'
import { invalid, notFound, nullIfNotFound } from '../../../errors.ts'
import { localDay, localMinute } from '../../../local-time.ts'
import type { Memory } from '../../../memory/memory.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import {
  type CommandAnswer,
  type DefaultAnswer,
  defineCommand,
  UsageError,
  type ValuesOf,
} from '../../command/command.ts'
import { filterOptions, memoryOptions, optional, timeOptions, wholeNumber } from '../../command/options.ts'
import { shortenText } from '../../text/beliefs.ts'
import { indentText, moreNote, type Style } from '../../text/output.ts'
import { speakerOf } from '../../text/recall.ts'

/** The number of turns shown before and after a named turn. */
const neighbours = 10

const options = {
  ...timeOptions,
  limit: wholeNumber('How many to show. Default: 50 conversations, or 100 turns of one.', { min: 1, max: 1_000 }),
  offset: wholeNumber('How many to skip.', { min: 0, default: 0 }),
  scope: { ...filterOptions.scope, help: 'Only conversations of this scope. May be given several times.' },
  ...memoryOptions,
}

type Options = ValuesOf<typeof options>

export const conversations = defineCommand({
  args: {
    session: optional(
      'The conversation to show: its id, or the beginning of its id. Or the id of a turn in it. Default: list all.',
    ),
  },
  options,
  description:
    'Lists conversations newest first, each with its id, scope, number of turns and first words; or shows the turns of one, in order.',
  examples: {
    'credence conversations --since 2026-05-01': 'Lists the conversations since that day.',
    'credence conversations 3f2a': 'Shows the conversation whose id begins with 3f2a.',
    'credence conversations t-7k2m9xq0v3bd': 'Shows a turn that `credence search` found, with the turns around it.',
  },
  async run({ args, options }, session) {
    const memory = await session.memories.reading(options)
    if (args.session === undefined) return listSessions(memory, options)
    const isFiltered = options.since !== undefined || options.until !== undefined || options.scope.length > 0
    if (isFiltered)
      throw new UsageError('--since, --until and --scope are for the list.', 'Leave them out to show a conversation.')
    return showSession(memory, args.session, options)
  },
})

async function listSessions(
  memory: Memory,
  { since, until, limit, offset = 0, scope }: Options,
): Promise<DefaultAnswer> {
  const page = await memory.conversations({
    ...omitUndefined({ since, until, limit, offset }),
    ...(scope.length === 0 ? {} : { scopes: scope }),
  })
  const isFiltered = since !== undefined || until !== undefined || scope.length > 0 || offset > 0
  return {
    document: page,
    shown: page.items.map(({ session, scopes, turns, lastAt, utcOffset, opening }) => {
      return { day: localDay(lastAt, utcOffset), session, scopes, turns, 'first words': shortenText(opening, 60) }
    }),
    notes: [
      ...(page.items.length > 0 ? [] : [isFiltered ? 'No conversation matches.' : emptyText]),
      ...moreNote('conversation', page.total, offset + page.items.length),
    ],
  }
}

async function showSession(memory: Memory, reference: string, options: Options): Promise<CommandAnswer> {
  const centre = await findTurn(memory, reference)
  const id = centre?.session ?? (await findSession(memory, reference))
  const offset = centre === null ? (options.offset ?? 0) : Math.max(0, centre.index - neighbours)
  const limit = centre === null ? (options.limit ?? 100) : centre.index - offset + neighbours + 1
  const { items, total } = await memory.turns({ session: id, limit, offset })
  return {
    document: { session: id, total, offset, ...(centre !== null && { around: centre.id }), turns: items },
    text: (style) => items.map((turn) => turnText(turn, turn.id === centre?.id, style)).join('\n'),
    notes: moreNote('turn', total, offset + items.length),
  }
}

const emptyText =
  'There are no conversations yet. `credence connect` connects an agent, `credence hear` stores a message, and `credence import chats` imports a file.'

/** The turn that a reference names; null for a conversation, and for a text that cannot be the id of a turn. */
async function findTurn(memory: Memory, reference: string): Promise<Turn | null> {
  if (!reference.startsWith('t-') || (await nullIfNotFound(() => findSession(memory, reference))) !== null) return null
  const turn = await nullIfNotFound(() => memory.turn(reference))
  if (turn !== null) return turn
  throw notFound(
    `There is no conversation or turn "${reference.slice(0, 80)}".`,
    'List conversations with `credence conversations`, or look for words with `credence search`.',
  )
}

const turnText = (turn: Turn, isCentre: boolean, style: Style): string =>
  [
    `${isCentre ? '>' : ' '} ${style.bold(speakerOf(turn))}  ${style.dim(`${localMinute(turn.at, turn.utcOffset)}  ${turn.id}`)}`,
    indentText(turn.text, 4, style.width),
  ].join('\n')

const pageSize = 1_000

/** The id of a conversation, found by the whole id or by a unique prefix of it. */
export async function findSession(memory: Memory, given: string): Promise<string> {
  if ((await memory.turns({ session: given, limit: 1 })).total > 0) return given
  const found: string[] = []
  for (let offset = 0; ; offset += pageSize) {
    const { items, total } = await memory.conversations({ limit: pageSize, offset })
    found.push(...items.map(({ session }) => session).filter((session) => session.startsWith(given)))
    if (offset + items.length >= total || items.length === 0) break
  }
  const [only, another] = found
  const shown = given.slice(0, 80)
  if (only === undefined || given.trim() === '')
    throw notFound(`There is no conversation "${shown}".`, 'List conversations with `credence conversations`.')
  if (another === undefined) return only
  throw invalid(
    `${found.length} conversations begin with "${shown}".`,
    `Give more of the id, such as ${only} or ${another}.`,
  )
}
