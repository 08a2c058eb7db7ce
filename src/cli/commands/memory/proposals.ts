import { omitUndefined } from '../../../omit-undefined.ts'
import { defineCommand, UsageError } from '../../command/command.ts'
import { changeOptions, optional, optionalChoice } from '../../command/options.ts'
import { called, short } from '../../text/beliefs.ts'
import { harmless, lines } from '../../text/output.ts'
import { itemText, usualLimit } from './review.ts'

export const proposals = defineCommand({
  args: {
    decision: optionalChoice(['accept', 'reject'], 'The decision. Default: list them.'),
    proposal: optional('The id of a proposal or candidate, or a belief with a single proposal.'),
  },
  options: changeOptions,
  description:
    'A proposal is a change by an agent or an edit of MEMORY.md that contradicts another author. A candidate was found in conversations or MEMORY.md; it is not recalled until you accept it.',
  examples: {
    'credence proposals': 'Lists proposals next to the current beliefs.',
    'credence proposals accept b-7k2m':
      'Replaces the belief that the proposal contradicts. A candidate becomes a belief.',
  },
  async run({ args: { decision, proposal }, options }, session) {
    if (decision === undefined) {
      const memory = await session.reading(options)
      const { items } = await memory.review({ limit: usualLimit })
      return {
        document: { proposals: await memory.proposals(), candidates: await memory.candidates() },
        text: (style) => lines(items.map((item) => itemText(item, style))),
        notes: items.length === 0 ? ['Nothing waits for a decision.'] : [],
      }
    }
    if (proposal === undefined)
      throw new UsageError(`No proposal to ${decision} was given.`, 'List them with `credence proposals`.')
    const memory = await session.memory(options)
    const key = omitUndefined({ key: options.key })
    if (decision === 'reject') {
      const waiting = [
        ...(await memory.proposals()).map((one) => one.proposal),
        ...(await memory.candidates()).map(({ belief }) => belief),
      ]
      const rejected = await memory.reject(proposal, key)
      const { origin } = waiting.find(({ id }) => id === rejected.beliefId)?.provenance ?? {}
      return {
        document: rejected,
        text: (style) =>
          lines(
            `Rejected ${harmless(rejected.beliefId)}. \`${style.command} undo ${rejected.event}\` brings it back.`,
            origin === 'file' && '  It was an edit of MEMORY.md, which gets the stored text back.',
          ),
      }
    }
    const accepted = await memory.accept(proposal, key)
    return {
      document: accepted,
      text: (style) =>
        lines(
          accepted.belief.resolvedAt === null
            ? `${style.green('Accepted')} ${called(accepted.belief)}: ${short(accepted.belief.content)}`
            : `${style.green('Retired')} "${harmless(accepted.belief.name)}": it is no longer recalled.`,
          accepted.replaced.map((old) => `  Before: ${short(old.content)} (${harmless(old.id)})`),
        ),
    }
  },
})
