import { z } from 'zod'
import type { Belief } from '../../beliefs/belief.ts'
import { isInView } from '../call-context.ts'
import * as field from '../fields.ts'
import { defineTool } from '../tool.ts'

const defaultLimit = 20

export const proposalsTool = defineTool({
  name: 'memory_proposals',
  title: 'List proposals',
  description:
    'List what waits for the person to decide: changes to what they said, and candidates that were found in conversations. ' +
    'Use it when the person asks what is waiting, or after memory_correct or memory_remember answered "proposed", to show them. ' +
    'It only lists: no tool can accept or reject them, the person does so with `credence review`.',
  input: z.strictObject({
    limit: z.int().min(1).max(100).optional().describe(`How many to return, newest first. Default ${defaultLimit}.`),
  }),
  output: z.object({
    proposals: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        proposed: z.string(),
        removes: z.boolean().describe('It proposes that what is in force no longer holds.'),
        why: z.string(),
        inForce: z.object({ id: z.string(), content: z.string() }).nullable().describe('What it would replace.'),
        by: z.string(),
        at: z.string(),
      }),
    ),
    candidates: z
      .array(z.object({ id: z.string(), content: z.string(), reason: z.string(), at: z.string() }))
      .describe('Not recalled until the person accepts them.'),
    leftOut: z.int(),
    decide: z.string().describe('How the person decides.'),
    notice: field.noticeField,
  }),
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  async run({ limit = defaultLimit }, { memory, view }) {
    const isOpen = (belief: Belief): boolean => isInView(belief, view.scopes, view.agent)
    const inView = (await memory.proposals()).filter(({ proposal }) => isOpen(proposal))
    const candidates = (await memory.candidates()).filter(({ belief }) => isOpen(belief))
    return {
      proposals: inView.slice(0, limit).map(({ proposal, target }) => {
        const { id, name, content: proposed, why, createdAt: at, provenance } = proposal
        const inForce = target === null ? null : { id: target.id, content: target.content }
        const removes = proposal.resolvedAt !== null
        return { id, name, proposed, removes, why, inForce, by: `${provenance.actor}:${provenance.origin}`, at }
      }),
      candidates: candidates
        .slice(0, limit)
        .map(({ belief: { id, content, createdAt }, reason }) => ({ id, content, reason, at: createdAt })),
      leftOut: Math.max(0, inView.length - limit) + Math.max(0, candidates.length - limit),
      decide: 'credence review accept ID, or credence review reject ID',
      notice: field.notice,
    }
  },
})
