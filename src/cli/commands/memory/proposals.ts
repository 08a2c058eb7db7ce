import { type Belief, isCurrent } from '../../../beliefs/belief.ts'
import type { Proposal, ReviewCandidate } from '../../../memory/change/proposals.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import { defineCommand, optional, optionalChoice } from '../../command.ts'
import { authorOptions, keyOptions, placeOptions, referenceOptions } from '../../common-options.ts'
import { called, headline, short } from '../../describe-belief.ts'
import { harmless, type Style } from '../../output.ts'
import { UsageError } from '../../usage-error.ts'

export const proposals = defineCommand({
  args: {
    decision: optionalChoice(['accept', 'reject'], 'What to decide; without it they are listed.'),
    proposal: optional('The id of a proposal or candidate, or the belief that a single proposal is meant for.'),
  },
  options: { ...referenceOptions, ...placeOptions, ...authorOptions, ...keyOptions },
  description:
    'Lists what waits for a person: proposals, made by an agent that contradicts a person or an imported document, and candidates, found in conversations and not recalled until they are accepted.',
  examples: [
    { command: 'credence proposals', effect: 'Lists what waits, beside what holds now.' },
    {
      command: 'credence proposals accept b-7k2m',
      effect: 'Lets it take the place of what it contradicts. A candidate becomes a belief.',
    },
  ],
  async run({ args: { decision, proposal }, options }, session) {
    if (decision === undefined) {
      const memory = await session.reading(options)
      const [waiting, found] = [await memory.proposals(), await memory.candidates()]
      return {
        document: { proposals: waiting, candidates: found },
        text: (style) =>
          [
            ...waiting.map((one) => proposalText(one, style)),
            ...(found.length === 0 ? [] : [style.bold('Candidates')]),
            ...found.map((one) => candidateText(one, style)),
          ].join('\n'),
        notes: waiting.length + found.length === 0 ? ['Nothing waits for a decision.'] : [],
      }
    }
    if (proposal === undefined)
      throw new UsageError(`Which proposal is to be ${decision}ed?`, 'List them with `credence proposals`.')
    const memory = await session.memory(options)
    const key = omitUndefined({ key: options.key })
    if (decision === 'reject') {
      const rejected = await memory.reject(proposal, key)
      return {
        document: rejected,
        text: () => `Rejected ${harmless(rejected.beliefId)}. \`credence undo ${rejected.event}\` brings it back.`,
      }
    }
    const accepted = await memory.accept(proposal, key)
    return {
      document: accepted,
      text: (style) =>
        [
          `${style.green('Accepted')} ${called(accepted.belief)}: ${short(accepted.belief.content)}`,
          ...accepted.replaced.map((old) => `  Before: ${short(old.content)} (${harmless(old.id)})`),
        ].join('\n'),
    }
  },
})

function proposalText({ proposal, target }: Proposal, style: Style): string {
  const { actor, origin } = proposal.provenance
  return [
    headline(proposal, style),
    `    Proposed by ${actor} ${harmless(origin)}: ${short(proposal.content)}`,
    ...(target === null ? [] : [`    ${standingOf(target)}: ${short(target.content)} (${harmless(target.id)})`]),
    ...(target === null ? [] : smallerChanges(proposal, target).map((change) => `    ${harmless(change)}`)),
  ].join('\n')
}

const candidateText = ({ belief, reason }: ReviewCandidate, style: Style): string =>
  [headline(belief, style), `    ${short(belief.content)}`, `    ${harmless(reason)}`].join('\n')

const standingOf = (target: Belief): string => (isCurrent(target) ? 'In force' : 'Meant for what no longer holds')

/** What would change besides the statement. */
function smallerChanges(proposal: Belief, target: Belief): readonly string[] {
  const added = proposal.aliases.filter((alias) => !target.aliases.includes(alias))
  const removed = target.aliases.filter((alias) => !proposal.aliases.includes(alias))
  return [
    ...(proposal.name === target.name ? [] : [`Name: ${proposal.name}`]),
    ...(proposal.why === target.why ? [] : [`Why: ${proposal.why === '' ? 'none' : short(proposal.why)}`]),
    ...(proposal.pinned === target.pinned ? [] : [proposal.pinned ? 'Pinned' : 'No longer pinned']),
    ...(added.length === 0 ? [] : [`Aliases added: ${added.join(', ')}`]),
    ...(removed.length === 0 ? [] : [`Aliases removed: ${removed.join(', ')}`]),
  ]
}
