import type { Turn } from '../../../beliefs/turn.ts'
import { MemoryError } from '../../../errors.ts'
import type { Memory } from '../../../memory/memory.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import { defineCommand, one, text, wholeNumber } from '../../command/command.ts'
import { filterOptions, placeOptions, timeOptions } from '../../command/common-options.ts'
import { dayOf, minuteOf, short } from '../../text/beliefs.ts'
import { columns, counted, harmless, indented, type Style } from '../../text/output.ts'

const pageSize = 1_000

/** The id of a conversation, which may be shortened to a beginning that only one has. */
export async function findSession(memory: Memory, given: string): Promise<string> {
  if ((await memory.turns({ session: given, limit: 1 })).total > 0) return given
  const found: string[] = []
  for (let offset = 0; ; offset += pageSize) {
    const { items, total } = await memory.conversations({ limit: pageSize, offset })
    found.push(...items.map(({ session }) => session).filter((session) => session.startsWith(given)))
    if (offset + items.length >= total || items.length === 0) break
  }
  const [only, another] = found
  if (only === undefined || given.trim() === '')
    throw new MemoryError('not_found', `There is no conversation "${harmless(given.slice(0, 80))}".`, {
      hint: 'List conversations with `credence conversations`.',
    })
  if (another === undefined) return only
  throw new MemoryError('invalid', `${found.length} conversations begin with "${harmless(given.slice(0, 80))}".`, {
    hint: `Give more of the id, such as ${harmless(only)} or ${harmless(another)}.`,
  })
}

export const conversations = defineCommand({
  args: {},
  options: {
    ...timeOptions,
    limit: wholeNumber('How many to show.', { min: 1, max: 1_000, default: 50 }),
    offset: wholeNumber('How many to leave out at the beginning.', { min: 0, default: 0 }),
    ...filterOptions,
    scope: { ...filterOptions.scope, help: 'Only conversations of this scope. May be given several times.' },
    ...placeOptions,
  },
  description: 'The last one comes first. Each has its day, its id, its scope, how many turns it has and how it began.',
  examples: [
    { command: 'credence conversations --since 2026-05-01', effect: 'Lists the conversations since that day.' },
    {
      command: 'credence conversations show 3f2a',
      effect: 'Shows the conversation whose id begins with 3f2a.',
    },
  ],
  async run({ options }, session) {
    const { since, until, limit, offset = 0, scope } = options
    const memory = await session.reading(options)
    const page = await memory.conversations({
      ...omitUndefined({ since, until, limit, offset }),
      ...(scope.length === 0 ? {} : { scopes: scope }),
    })
    const more = page.total - offset - page.items.length
    const isFiltered = since !== undefined || until !== undefined || scope.length > 0 || offset > 0
    return {
      document: page,
      text: (style) => listText(page.items, style),
      notes: [
        ...(page.items.length > 0 ? [] : [isFiltered ? 'There are no such conversations.' : emptyText]),
        ...(more > 0
          ? [`${counted(more, 'more conversation')}; see them with --offset ${offset + page.items.length}.`]
          : []),
      ],
    }
  },
})

const emptyText =
  'No conversations are kept yet. `credence connect` sets up an agent, `credence hear` keeps a turn, and `credence import chats` keeps a file of them.'

type Item = {
  readonly session: string
  readonly turns: number
  readonly lastAt: string
  readonly scopes: readonly string[]
  readonly opening: string
}

/** One line for each, under its day. */
function listText(items: readonly Item[], style: Style): string {
  const days = [...new Set(items.map(({ lastAt }) => dayOf(lastAt)))]
  return days
    .map((day) => {
      const rows = items
        .filter(({ lastAt }) => dayOf(lastAt) === day)
        .map(({ session, scopes, turns, opening }) => [
          harmless(session),
          harmless(scopes.join(' ')),
          counted(turns, 'turn'),
          short(opening, 60),
        ])
      return `${style.bold(day)}\n${columns(rows, { width: style.width })}`
    })
    .join('\n')
}

/** So many turns before and after the one that is asked for. */
const surroundings = 10

export const conversationsShow = defineCommand({
  args: { session: one('The id of the conversation, or a beginning of it that no other has.') },
  options: {
    around: text('<turn>', `Only this turn, and the ${surroundings} turns before and after it.`),
    limit: wholeNumber('How many turns to show.', { min: 1, max: 1_000, default: 100 }),
    offset: wholeNumber('How many turns to leave out at the beginning.', { min: 0, default: 0 }),
    ...placeOptions,
  },
  examples: [
    { command: 'credence conversations show 3f2a', effect: 'Shows what was said, in order.' },
    {
      command: 'credence conversations show 3f2a --around t-7k2m9xq0v3bd',
      effect: 'Shows one turn, such as `credence search` names it, in its surroundings.',
    },
  ],
  async run({ args, options }, session) {
    const memory = await session.reading(options)
    const id = await findSession(memory, args.session)
    const centre = options.around === undefined ? null : await memory.turn(options.around)
    if (centre !== null && centre.session !== id)
      throw new MemoryError('invalid', `The turn ${centre.id} belongs to the conversation ${centre.session}.`, {
        hint: `Show it with \`credence conversations show ${centre.session} --around ${centre.id}\`.`,
      })
    const offset = centre === null ? (options.offset ?? 0) : Math.max(0, centre.index - surroundings)
    const limit = centre === null ? (options.limit ?? 100) : centre.index - offset + surroundings + 1
    const { items, total } = await memory.turns({ session: id, limit, offset })
    const more = total - offset - items.length
    return {
      document: { session: id, total, offset, turns: items },
      text: (style) => items.map((turn) => turnText(turn, turn.id === centre?.id, style)).join('\n'),
      notes: more > 0 ? [`${counted(more, 'more turn')}; see them with --offset ${offset + items.length}.`] : [],
    }
  },
})

function turnText({ id, at, speaker, role, text: words }: Turn, isCentre: boolean, style: Style): string {
  const who = speaker ?? (role === 'user' ? 'you' : role)
  return [
    `${isCentre ? '>' : ' '} ${style.bold(harmless(who))}  ${style.dim(`${minuteOf(at)}  ${harmless(id)}`)}`,
    indented(harmless(words), 4, style.width),
  ].join('\n')
}
