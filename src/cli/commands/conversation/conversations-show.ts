import type { Turn } from '../../../beliefs/turn.ts'
import { MemoryError } from '../../../errors.ts'
import { defineCommand, one, text, wholeNumber } from '../../command.ts'
import { placeOptions } from '../../common-options.ts'
import { minuteOf } from '../../describe-belief.ts'
import { findSession } from '../../find-session.ts'
import { harmless, type Style } from '../../output.ts'
import { counted, indented } from '../../text-layout.ts'

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
