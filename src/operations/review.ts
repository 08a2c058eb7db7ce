import type { Belief } from '../beliefs/belief.ts'
import { beliefId, maxItems, optional, paging, text, whole } from './field.ts'
import { operation, requireBelief, tool } from './operation.ts'
import { notice } from './tool-answers.ts'
import { isInView } from './view.ts'

const defaultLimit = 20

/** Changes and candidates that wait for a person to decide. */
export const review = {
  review: operation({
    summary: 'Everything that waits for a person, newest turn first, each with the current belief.',
    http: 'GET /review',
    input: paging(50),
    run: ({ memory }, page) => memory.review(page),
  }),
  listProposals: operation({
    summary:
      "The items that wait for a person's decision, newest first: proposals, and candidates found in conversations or MEMORY.md. A proposal with `resolvedAt` would retire its target.",
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
        "List the items that wait for the person's decision: proposed changes of their statements, and candidates found in conversations. " +
        'Use it when the person asks what is waiting, or to show the result after memory_correct or memory_remember answered "proposed". ' +
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
    summary: 'Accept a proposal, which replaces or retires its target, or a candidate, which becomes a belief.',
    http: 'POST /proposals/:id/accept',
    query: ['over'],
    input: {
      id: beliefId,
      over: optional(text(200, 'Id of the current belief, if it is not the one that the proposal was made for.')),
    },
    run: async (call, { id, ...over }) =>
      call.memory.accept(await requireBelief(call, id), { ...over, ...call.idempotency }),
  }),
  rejectProposal: operation({
    summary: 'Reject a proposal or a candidate; undo brings it back.',
    http: 'POST /proposals/:id/reject',
    input: { id: beliefId },
    run: async (call, { id }) => call.memory.reject(await requireBelief(call, id), call.idempotency),
  }),
}
