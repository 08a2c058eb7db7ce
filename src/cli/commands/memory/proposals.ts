import { type Belief, isCurrent } from '../../../beliefs/belief.ts'
import { isRemoval, type Proposal, type ReviewCandidate } from '../../../memory/change/proposals.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import { defineCommand, UsageError } from '../../command/command.ts'
import { changeOptions, optional, optionalChoice } from '../../command/options.ts'
import { called, headline, short } from '../../text/beliefs.ts'
import { harmless, lines, type Style } from '../../text/output.ts'

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
        text: () =>
          lines(
            `Rejected ${harmless(rejected.beliefId)}. \`credence undo ${rejected.event}\` brings it back.`,
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

function proposalText({ proposal, target }: Proposal, style: Style): string {
  const { actor, origin } = proposal.provenance
  const wish = isRemoval(proposal) ? 'retire it' : short(proposal.content)
  const made = `    Proposed by ${actor} ${harmless(origin)}: ${wish}`
  if (target === null) return lines(headline(proposal, style), made)
  const standing = isCurrent(target) ? 'In force' : 'For a belief that is no longer current'
  const current = `    ${standing}: ${short(target.content)} (${harmless(target.id)})`
  const changes = isRemoval(proposal) ? [] : smallerChanges(proposal, target)
  const others = changes.map((change) => change !== false && `    ${harmless(change)}`)
  return lines(headline(proposal, style), made, current, others)
}

/** Aliases that the words of the person gave are not listed. */
const candidateText = ({ belief, reason }: ReviewCandidate, style: Style): string =>
  lines(
    headline(belief, style),
    `    ${short(belief.content)}`,
    belief.provenance.actor !== 'person' &&
      belief.aliases.length > 0 &&
      `    ${harmless(`Aliases: ${belief.aliases.join(', ')}`)}`,
    `    ${harmless(reason)}`,
  )

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
