import { type Belief, isCurrent } from '../../../beliefs/belief.ts'
import type { Proposal, ReviewCandidate } from '../../../memory/change/proposals.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import { defineCommand, UsageError } from '../../command/command.ts'
import { changeOptions, optional, optionalChoice } from '../../command/options.ts'
import { called, headline, short } from '../../text/beliefs.ts'
import { harmless, lines, type Style } from '../../text/output.ts'

export const proposals = defineCommand({
  args: {
    decision: optionalChoice(['accept', 'reject'], 'What to decide; without it they are listed.'),
    proposal: optional('The id of a proposal or candidate, or the belief that a single proposal is meant for.'),
  },
  options: changeOptions,
  description:
    'Lists what waits for a person: proposals, made by an agent that contradicts a person or an imported document, and candidates, found in conversations and not recalled until they are accepted.',
  examples: {
    'credence proposals': 'Lists proposals beside the beliefs that hold now.',
    'credence proposals accept b-7k2m': 'Replaces the belief that it contradicts. A candidate becomes a belief.',
  },
  async run({ args: { decision, proposal }, options }, session) {
    if (decision === undefined) {
      const memory = await session.reading(options)
      const [waiting, found] = [await memory.proposals(), await memory.candidates()]
      return {
        document: { proposals: waiting, candidates: found },
        text: (style) =>
          lines(
            waiting.map((one) => proposalText(one, style)),
            found.length > 0 && style.bold('Candidates'),
            found.map((one) => candidateText(one, style)),
          ),
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
        lines(
          `${style.green('Accepted')} ${called(accepted.belief)}: ${short(accepted.belief.content)}`,
          accepted.replaced.map((old) => `  Before: ${short(old.content)} (${harmless(old.id)})`),
        ),
    }
  },
})

function proposalText({ proposal, target }: Proposal, style: Style): string {
  const { actor, origin } = proposal.provenance
  const made = `    Proposed by ${actor} ${harmless(origin)}: ${short(proposal.content)}`
  if (target === null) return lines(headline(proposal, style), made)
  const standing = isCurrent(target) ? 'In force' : 'Meant for a belief that no longer holds'
  const current = `    ${standing}: ${short(target.content)} (${harmless(target.id)})`
  const others = smallerChanges(proposal, target).map((change) => change !== false && `    ${harmless(change)}`)
  return lines(headline(proposal, style), made, current, others)
}

const candidateText = ({ belief, reason }: ReviewCandidate, style: Style): string =>
  lines(headline(belief, style), `    ${short(belief.content)}`, `    ${harmless(reason)}`)

/** The changes besides the statement. */
function smallerChanges(proposal: Belief, target: Belief): readonly (string | false)[] {
  const added = proposal.aliases.filter((alias) => !target.aliases.includes(alias))
  const removed = target.aliases.filter((alias) => !proposal.aliases.includes(alias))
  return [
    proposal.name !== target.name && `Name: ${proposal.name}`,
    proposal.why !== target.why && `Why: ${proposal.why === '' ? 'none' : short(proposal.why)}`,
    proposal.pinned !== target.pinned && (proposal.pinned ? 'Pinned' : 'No longer pinned'),
    added.length > 0 && `Aliases added: ${added.join(', ')}`,
    removed.length > 0 && `Aliases removed: ${removed.join(', ')}`,
  ]
}
