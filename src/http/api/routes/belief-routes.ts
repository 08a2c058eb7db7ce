import { z } from 'zod'
import { beliefTypes, statuses } from '../../../beliefs/belief.ts'
import { strengths } from '../../../search/turns/strength.ts'
import * as belief from '../belief-shapes.ts'
import { Edited } from '../belief-shapes.ts'
import { beliefId, digits, flag, listOf, paging, scopes, text, version } from '../request-shapes.ts'
import { type Route, route } from '../route.ts'

const Hit = z.object({
  strength: z.enum(strengths),
  score: z.number(),
  highlights: z.array(belief.Highlight),
})

const draft = z.strictObject({
  name: text(200).optional().describe('Default: derived from the content.'),
  content: text(20_000),
  scopes: scopes.min(1).optional().describe('Default: where the server was started; see `homeScopes` of health.'),
  type: belief.BeliefType.optional(),
  subtype: belief.Subtype.nullable().optional(),
  aliases: z.array(text(200)).max(200).optional(),
  why: text(4_000).optional(),
  status: z.enum(['active', 'inferred', 'exploratory']).optional(),
  confidence: z.number().min(0).max(1).optional(),
  pinned: z.boolean().optional(),
  participants: z.array(text(200)).max(100).optional(),
  relation: text(200).nullable().optional(),
})

/** Beliefs, and what waits to become one. */
export const beliefRoutes = {
  scopes: route({
    method: 'GET',
    path: '/scopes',
    tag: 'beliefs',
    summary: 'Every scope with the number of current beliefs in it.',
    answer: z.object({
      items: z.array(z.object({ scope: z.string(), beliefs: z.int() })),
      active: z.array(z.string()),
    }),
  }),
  listBeliefs: route({
    method: 'GET',
    path: '/beliefs',
    tag: 'beliefs',
    summary: 'Beliefs, latest changed first; with a query those that hold its words, best first.',
    query: z.strictObject({
      query: text(2_000).optional().describe('The last word may be the beginning of one.'),
      scope: z.array(text(200)).max(50).optional().describe('Of any of these scopes.'),
      type: z.array(z.enum(beliefTypes)).optional(),
      status: z.array(z.enum(statuses)).optional(),
      pinned: flag.optional(),
      current: flag.optional().describe('true: only what recall may return. false: only what it may not.'),
      proposals: flag.optional().describe('true: only proposals. false: none of them.'),
      candidates: flag.optional().describe('true: only candidates. false: none of them.'),
      ...paging(50),
    }),
    answer: listOf(
      z.object({ belief: belief.Belief, hit: Hit.nullable().describe('What matched, when there is a query.') }),
    ),
  }),
  createBelief: route({
    method: 'POST',
    path: '/beliefs',
    tag: 'beliefs',
    summary: 'Remember a statement; said again it is reinforced, said otherwise corrected.',
    body: draft,
    answer: z.object({
      outcome: z.enum(['remembered', 'reinforced', 'corrected', 'proposed']),
      belief: belief.Belief,
      replaced: z.array(belief.Belief),
      event: z.int(),
    }),
    status: 201,
  }),
  getBelief: route({
    method: 'GET',
    path: '/beliefs/:id',
    tag: 'beliefs',
    summary: 'One belief, by its id.',
    params: beliefId,
    answer: z.object({
      belief: belief.Belief,
      proposals: z.array(belief.Belief).describe('What waits to replace it.'),
    }),
  }),
  beliefHistory: route({
    method: 'GET',
    path: '/beliefs/:id/history',
    tag: 'beliefs',
    summary: 'What happened to a belief, and its line of supersession.',
    params: beliefId,
    answer: z.object({
      belief: belief.Belief,
      revisions: z.array(belief.Revision).describe('Oldest first; the latest 200.'),
      revisionCount: z.int(),
      chain: z
        .array(belief.Belief)
        .describe('What it replaced and what replaced it, oldest first, itself among them; at most 200.'),
    }),
  }),
  editBelief: route({
    method: 'PATCH',
    path: '/beliefs/:id',
    tag: 'beliefs',
    summary: 'Change what can be changed without another statement, as one change.',
    params: beliefId,
    body: z.strictObject({
      why: text(4_000).optional(),
      pinned: z.boolean().optional(),
      addAliases: z.array(text(200)).max(200).optional(),
      removeAliases: z.array(text(200)).max(200).optional(),
      scopes: scopes.min(1).optional().describe('All the scopes it is to have.'),
      expectedVersion: version.optional(),
    }),
    answer: Edited,
  }),
  correctBelief: route({
    method: 'POST',
    path: '/beliefs/:id/correct',
    tag: 'beliefs',
    summary: 'Replace a belief by a newer one; the old one is kept and never recalled.',
    params: beliefId,
    body: z.strictObject({
      content: text(20_000),
      name: text(200).optional(),
      why: text(4_000).optional(),
      aliases: z.array(text(200)).max(200).optional(),
      type: belief.BeliefType.optional(),
      status: z.enum(['active', 'inferred', 'exploratory']).optional(),
      confidence: z.number().min(0).max(1).optional(),
      expectedVersion: version.optional(),
    }),
    answer: z.object({
      outcome: z.enum(['corrected', 'proposed']),
      belief: belief.Belief,
      replaced: z.array(belief.Belief),
      event: z.int(),
    }),
  }),
  confirmBelief: route({
    method: 'POST',
    path: '/beliefs/:id/confirm',
    tag: 'beliefs',
    summary:
      'Make an unconfirmed belief the person’s own word: it is settled, and agents can only propose to change it.',
    params: beliefId,
    answer: Edited,
  }),
  resolveBelief: route({
    method: 'POST',
    path: '/beliefs/:id/resolve',
    tag: 'beliefs',
    summary: 'Close an open question, with or without the decision that settles it.',
    params: beliefId,
    body: z.strictObject({
      by: z
        .union([
          z.strictObject({ id: text(200) }),
          z.strictObject({ name: text(200), content: text(20_000), why: text(4_000).optional() }),
        ])
        .optional(),
    }),
    answer: z.object({ question: belief.Belief, decision: belief.Belief.nullable(), event: z.int() }),
  }),
  forgetBelief: route({
    method: 'DELETE',
    path: '/beliefs/:id',
    tag: 'beliefs',
    summary: 'Remove every text of a belief for good. It cannot be undone: a page that offers that must wait first.',
    params: beliefId,
    query: z.strictObject({
      wholeChain: flag.optional().describe('Also what it replaced and what replaced it.'),
      expectedVersion: digits.pipe(version).optional(),
    }),
    answer: z.object({ beliefIds: z.array(z.string()), event: z.int(), at: z.string(), hash: z.string() }),
  }),
  listProposals: route({
    method: 'GET',
    path: '/proposals',
    tag: 'proposals',
    summary: 'What waits for a person to decide, newest first: proposals, and candidates found in conversations.',
    answer: listOf(z.object({ proposal: belief.Belief, target: belief.Belief.nullable() })).extend({
      candidates: listOf(z.object({ belief: belief.Belief, reason: z.string().describe('Why it waits.') })),
    }),
  }),
  acceptProposal: route({
    method: 'POST',
    path: '/proposals/:id/accept',
    tag: 'proposals',
    summary: 'Let a proposal take the place of what it contradicts, or a candidate become a belief.',
    params: beliefId,
    answer: z.object({ belief: belief.Belief, replaced: z.array(belief.Belief), event: z.int() }),
  }),
  rejectProposal: route({
    method: 'POST',
    path: '/proposals/:id/reject',
    tag: 'proposals',
    summary: 'Set a proposal or a candidate aside; undo brings it back.',
    params: beliefId,
    answer: z.object({ beliefId: z.string(), event: z.int() }),
  }),
} as const satisfies Readonly<Record<string, Route>>
