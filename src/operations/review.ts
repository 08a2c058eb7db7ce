import type { Belief } from '../beliefs/belief.ts'
import { beliefId, maxItems, optional, paging, text, whole } from './field.ts'
import { operation, requireBelief } from './operation.ts'
import { tool } from './tool.ts'
import { notice } from './tool-answers.ts'
import { isInView } from './view.ts'

const defaultLimit = 20

/** Changes and candidates that wait for a person to decide. */
export const review = {
  review: operation({
    summary: 'Everything that waits for a person, what was said last first, beside what holds now.',
    http: 'GET /review',
    input: paging(50),
    run: ({ memory }, page) => memory.review(page),
  }),
  listProposals: operation({
    summary:
      'What waits for a person to decide, newest first: proposals, and candidates found in conversations or MEMORY.md. A proposal with `resolvedAt` would retire its target.',
    http: 'GET /proposals',
    input: {},
    run: async ({ memory }) => {
      const firstOf = <Item>(items: readonly Item[]) => ({ items: items.slice(0, maxItems), total: items.length })
      return { ...firstOf(await memory.proposals()), candidates: firstOf(await memory.candidates()) }
    },
    tool: tool({
      name: 'memory_proposals',
      title: 'List proposals',
      description:
        'List what waits for the person to decide: changes to what they said, and candidates that were found in conversations. ' +
        'Use it when the person asks what is waiting, or after memory_correct or memory_remember answered "proposed", to show them. ' +
        'It only lists: no tool can accept or reject them, the person does so with `credence review`.',
      input: {
        limit: optional(whole({ min: 1, max: 100 }), `How many to return, newest first. Default ${defaultLimit}.`),
      },
      async run({ memory, view }, { limit = defaultLimit }) {
        const isOpen = (belief: Belief): boolean => isInView(belief, view.scopes, view.agent)
        const inView = (await memory.proposals()).filter(({ proposal }) => isOpen(proposal))
        const candidates = (await memory.candidates()).filter(({ belief }) => isOpen(belief))
        return {
          proposals: inView.slice(0, limit).map(({ proposal, target }) => {
            const { id, name, content: proposed, why, createdAt: at, provenance } = proposal
            const inForce = target === null ? null : { id: target.id, content: target.content }
            return {
              id,
              name,
              proposed,
              why,
              at,
              /** True if it proposes to retire the current belief. */
              removes: proposal.resolvedAt !== null,
              /** The current belief that it would replace. */
              inForce,
              by: `${provenance.actor}:${provenance.origin}`,
            }
          }),
          /** Not recalled until the person accepts them. */
          candidates: candidates
            .slice(0, limit)
            .map(({ belief: { id, content, createdAt }, reason }) => ({ id, content, reason, at: createdAt })),
          leftOut: Math.max(0, inView.length - limit) + Math.max(0, candidates.length - limit),
          decide: 'credence review accept ID, or credence review reject ID',
          notice,
        }
      },
    }),
  }),
  acceptProposal: operation({
    summary: 'Let a proposal take the place of what it contradicts, or retire it, or let a candidate become a belief.',
    http: 'POST /proposals/:id/accept',
    query: ['over'],
    input: {
      id: beliefId,
      over: optional(text(200, 'Id of what holds now, where that is not what the proposal was made for.')),
    },
    run: async (call, { id, ...over }) =>
      call.memory.accept(await requireBelief(call, id), { ...over, ...call.idempotency }),
  }),
  rejectProposal: operation({
    summary: 'Set a proposal or a candidate aside; undo brings it back.',
    http: 'POST /proposals/:id/reject',
    input: { id: beliefId },
    run: async (call, { id }) => call.memory.reject(await requireBelief(call, id), call.idempotency),
  }),
}
