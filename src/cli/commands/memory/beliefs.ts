import { omitUndefined } from '../../../omit-undefined.ts'
import { beliefFilter } from '../../../operations/shared-fields.ts'
import { defineCommand, UsageError } from '../../command/command.ts'
import { fieldOptions, filterOptions, flag, memoryOptions, wholeNumber } from '../../command/options.ts'
import { beliefBlock } from '../../text/beliefs.ts'
import { moreNote } from '../../text/output.ts'
import { listTeams } from '../people/people.ts'

const noBeliefs = 'There are no beliefs yet; `credence remember` adds one.'

export const beliefs = defineCommand({
  args: {},
  options: {
    ...fieldOptions(beliefFilter, 'type', 'status', 'pinned'),
    all: flag('Include superseded, settled and proposed beliefs.'),
    limit: wholeNumber('How many to show.', { min: 1, max: 1_000, default: 50 }),
    offset: wholeNumber('How many to skip.', { min: 0, default: 0 }),
    scopes: flag('List the scopes instead, with the number of beliefs in each.'),
    ...filterOptions,
    ...memoryOptions,
  },
  description: 'Most recently changed first.',
  examples: {
    'credence beliefs --pinned --scope user:universal': 'Lists the beliefs that are recalled for every message.',
    'credence beliefs --scopes': 'Lists all scopes.',
  },
  async run({ options }, session) {
    const { type, status, pinned, all, limit, offset = 0, scopes: wantsScopes, scope } = options
    if (wantsScopes && (type.length + status.length + scope.length > 0 || pinned || all))
      throw new UsageError('--scopes lists all scopes.', 'Leave out the options that choose beliefs.')
    const memory = await session.memories.reading(options)
    if (wantsScopes) {
      const scopes = await memory.scopes()
      return {
        document: { scopes },
        shown: scopes,
        notes: scopes.length === 0 ? [noBeliefs] : [],
      }
    }
    const page = await memory.list({
      ...omitUndefined({ limit, offset }),
      ...filterOf({ type, status, scope }),
      ...(pinned ? { pinned } : {}),
      ...(all || status.includes('superseded') ? {} : { current: true }),
    })
    const isFiltered = type.length + status.length + scope.length > 0 || pinned || offset > 0
    const teams = isFiltered ? [] : await listTeams(session, options)
    return {
      document: page,
      text: (style) => page.items.map((belief) => beliefBlock(belief, style)).join('\n'),
      notes: [
        ...(page.items.length > 0 ? [] : [isFiltered ? 'No belief matches.' : noBeliefs]),
        ...teams.map(({ team }) => `The team ${team} has its own: \`credence beliefs --scope team:${team}\``),
        ...moreNote('belief', page.total, offset + page.items.length),
      ],
    }
  },
})

export const filterOf = <Type, Status>(given: {
  readonly type: readonly Type[]
  readonly status: readonly Status[]
  readonly scope: readonly string[]
}) => ({
  ...(given.type.length === 0 ? {} : { types: given.type }),
  ...(given.status.length === 0 ? {} : { statuses: given.status }),
  ...(given.scope.length === 0 ? {} : { scopes: given.scope }),
})
