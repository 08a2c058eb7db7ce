import { omitUndefined } from '../../../omit-undefined.ts'
import { defineCommand, wholeNumber } from '../../command.ts'
import { filterOptions, placeOptions, timeOptions } from '../../common-options.ts'
import { dayOf, short } from '../../describe-belief.ts'
import { harmless, type Style } from '../../output.ts'
import { columns, counted } from '../../text-layout.ts'

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
