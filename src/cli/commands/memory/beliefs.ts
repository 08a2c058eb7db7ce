import { beliefTypes, statuses } from '../../../beliefs/belief.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import { choices, defineCommand, flag, wholeNumber } from '../../command.ts'
import { filterOptions, placeOptions } from '../../common-options.ts'
import { beliefBlock } from '../../describe-belief.ts'
import { harmless } from '../../output.ts'
import { columns, counted } from '../../text-layout.ts'
import { UsageError } from '../../usage-error.ts'

export const beliefs = defineCommand({
  args: {},
  options: {
    type: choices('<type>', beliefTypes, 'Only beliefs of this type.'),
    status: choices('<status>', statuses, 'Only beliefs of this status.'),
    pinned: flag('Only pinned beliefs.'),
    all: flag('Also superseded, settled and proposed beliefs.'),
    limit: wholeNumber('How many to show.', { min: 1, max: 1_000, default: 50 }),
    offset: wholeNumber('How many to leave out at the beginning.', { min: 0, default: 0 }),
    scopes: flag('List the scopes instead, with the number of beliefs in each.'),
    ...filterOptions,
    ...placeOptions,
  },
  description: 'Most recently changed first.',
  examples: [
    {
      command: 'credence beliefs --pinned --scope user:universal',
      effect: 'Lists what is recalled everywhere, whatever the message says.',
    },
    { command: 'credence beliefs --scopes', effect: 'Lists the scopes there are.' },
  ],
  async run({ options }, session) {
    const { type, status, pinned, all, limit, offset = 0, scopes: wantsScopes, scope } = options
    if (wantsScopes && (type.length + status.length + scope.length > 0 || pinned || all)) {
      throw new UsageError('--scopes lists all scopes.', 'Leave out the options that choose beliefs.')
    }
    const memory = await session.reading(options)
    if (wantsScopes) {
      const scopes = await memory.scopes()
      return {
        document: { scopes },
        text: () =>
          columns(
            scopes.map((one) => [harmless(one.scope), counted(one.beliefs, 'belief')]),
            { indent: 0 },
          ),
        notes: scopes.length === 0 ? ['There are no beliefs yet.'] : [],
      }
    }
    const isCurrentOnly = !all && !status.includes('superseded')
    const page = await memory.list({
      ...omitUndefined({ limit, offset }),
      ...(type.length === 0 ? {} : { types: type }),
      ...(status.length === 0 ? {} : { statuses: status }),
      ...(scope.length === 0 ? {} : { scopes: scope }),
      ...(pinned ? { pinned } : {}),
      ...(isCurrentOnly ? { current: true } : {}),
    })
    const more = page.total - offset - page.items.length
    return {
      document: page,
      text: (style) => page.items.map((belief) => beliefBlock(belief, style)).join('\n'),
      notes: [
        ...(page.items.length === 0 ? ['There are no such beliefs.'] : []),
        ...(more > 0 ? [`${counted(more, 'more belief')}; see them with --offset ${offset + page.items.length}.`] : []),
      ],
    }
  },
})
