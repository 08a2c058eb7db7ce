import { z } from 'zod'
import { beliefTypes, statuses } from '../../../beliefs/belief.ts'
import * as shape from '../memory-shapes.ts'
import { beliefId, digits, flag, limit, listOf, paging, route, scopes, text, version } from '../route.ts'

const draft = z.strictObject({
  name: text(200).optional().describe('Default: derived from the content.'),
  content: text(20_000),
  scopes: scopes.min(1).optional().describe('Default: where the server was started; see `homeScopes` of health.'),
  type: shape.BeliefType.optional(),
  subtype: shape.Subtype.nullable().optional(),
  aliases: z.array(text(200)).max(200).optional(),
  why: text(4_000).optional(),
  status: z.enum(['active', 'inferred', 'exploratory']).optional(),
  confidence: z.number().min(0).max(1).optional(),
  pinned: z.boolean().optional(),
  participants: z.array(text(200)).max(100).optional(),
  relation: text(200).nullable().optional(),
})

/** Beliefs: reading and changing them. */
export const beliefRoutes = {
  scopes: route('GET', '/scopes', {
    summary: 'Every scope with the number of current beliefs in it.',
    answer: z.object({
      items: z.array(z.object({ scope: z.string(), beliefs: z.int() })),
      active: z.array(z.string()),
    }),
  }),
  listBeliefs: route('GET', '/beliefs', {
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
      z.object({
        belief: shape.Belief,
        hit: shape.SearchHit.omit({ belief: true }).nullable().describe('What matched, when there is a query.'),
      }),
    ),
  }),
  createBelief: route('POST', '/beliefs', {
    summary: 'Remember a statement; said again it is reinforced, said otherwise corrected.',
    body: draft,
    answer: shape.Changed.extend({ outcome: z.enum(['remembered', 'reinforced', 'corrected', 'proposed']) }),
    status: 201,
  }),
  getBelief: route('GET', '/beliefs/:id', {
    summary: 'One belief, by its id.',
    params: beliefId,
    answer: z.object({ belief: shape.Belief, proposals: z.array(shape.Belief).describe('What waits to replace it.') }),
  }),
  beliefHistory: route('GET', '/beliefs/:id/history', {
    summary: 'What happened to a belief, and its line of supersession.',
    params: beliefId,
    answer: z.object({
      belief: shape.Belief,
      revisions: z.array(shape.Revision).describe('Oldest first; the latest 200.'),
      revisionCount: z.int(),
      chain: z.array(shape.Belief).describe('Its versions by supersession, oldest first, with itself; at most 200.'),
    }),
  }),
  editBelief: route('PATCH', '/beliefs/:id', {
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
    answer: shape.Edited,
  }),
  correctBelief: route('POST', '/beliefs/:id/correct', {
    summary: 'Replace a belief by a newer one; the old one is kept and never recalled.',
    params: beliefId,
    body: draft
      .pick({ content: true, why: true, aliases: true, type: true, status: true, confidence: true })
      .extend({ name: text(200).optional(), expectedVersion: version.optional() }),
    answer: shape.Changed.extend({ outcome: z.enum(['corrected', 'proposed']) }),
  }),
  confirmBelief: route('POST', '/beliefs/:id/confirm', {
    summary: 'Make an unconfirmed belief the person’s own word, which agents can only propose to change.',
    params: beliefId,
    answer: shape.Edited,
  }),
  resolveBelief: route('POST', '/beliefs/:id/resolve', {
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
    answer: z.object({ question: shape.Belief, decision: shape.Belief.nullable(), event: z.int() }),
  }),
  forgetBelief: route('DELETE', '/beliefs/:id', {
    summary: 'Remove every text of a belief for good. It cannot be undone: a page that offers that must wait first.',
    params: beliefId,
    query: z.strictObject({
      wholeChain: flag.optional().describe('Also what it replaced and what replaced it.'),
      expectedVersion: digits.pipe(version).optional(),
    }),
    answer: z.object({ beliefIds: z.array(z.string()), event: z.int(), at: z.string(), hash: z.string() }),
  }),
}

/** Changes and candidates that wait for a person to decide. */
export const proposalRoutes = {
  listProposals: route('GET', '/proposals', {
    summary: 'What waits for a person to decide, newest first: proposals, and candidates found in conversations.',
    answer: listOf(z.object({ proposal: shape.Belief, target: shape.Belief.nullable() })).extend({
      candidates: listOf(z.object({ belief: shape.Belief, reason: z.string().describe('Why it waits.') })),
    }),
  }),
  acceptProposal: route('POST', '/proposals/:id/accept', {
    summary: 'Let a proposal take the place of what it contradicts, or a candidate become a belief.',
    params: beliefId,
    answer: shape.Changed,
  }),
  rejectProposal: route('POST', '/proposals/:id/reject', {
    summary: 'Set a proposal or a candidate aside; undo brings it back.',
    params: beliefId,
    answer: z.object({ beliefId: z.string(), event: z.int() }),
  }),
}

/** The journal of changes, and undo. */
export const journalRoutes = {
  journal: route('GET', '/journal', {
    summary: 'Recent changes, newest first.',
    query: z.strictObject({
      limit: limit(50),
      before: digits.pipe(z.int().positive()).optional().describe('Only changes with a lower number.'),
      hearing: flag.optional().describe('true: also changes that only kept what was said.'),
    }),
    answer: z.object({
      items: z.array(
        z.object({
          event: shape.JournalEntry,
          names: z
            .record(z.string(), z.string().nullable())
            .describe('Names of the first beliefs by id; null if gone.'),
        }),
      ),
      nextBefore: z.int().nullable().describe('For `before`, to see older ones; null when there are none.'),
    }),
  }),
  undo: route('POST', '/journal/:number/undo', {
    summary: 'Take back a change.',
    params: z.object({ number: digits.pipe(z.int().positive()) }),
    answer: z.object({
      undone: shape.JournalEntry,
      restored: z.array(shape.Belief).describe('The first 20.'),
      restoredCount: z.int(),
      withdrawn: z.array(z.string()).describe('The first 20.'),
      withdrawnCount: z.int(),
      event: z.int(),
    }),
  }),
}
