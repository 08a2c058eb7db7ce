import { z } from 'zod'
import { beliefTypes, statuses } from '../../../beliefs/belief.ts'
import { beliefOrders } from '../../../beliefs/belief-store.ts'
import { eventKinds } from '../../../beliefs/journal.ts'
import { removals } from '../../../memory/explain/history.ts'
import * as shape from '../memory-shapes.ts'
import { beliefId, digits, flag, forAgents, limit, listOf, paging, route, scopes, text, version } from '../route.ts'

const draft = z.strictObject({
  name: text(200).optional().describe('Default: derived from the content.'),
  content: text(10_000),
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

const forgetQuery = {
  wholeChain: flag.optional().describe('Also its earlier and later versions.'),
  keepTurns: flag.optional().describe('Keep the messages that state it. An agent always keeps them.'),
}

export const Proposal = z.object({
  proposal: shape.Belief,
  target: shape.Belief.nullable().describe('What holds now; null when nothing does.'),
  accepted: shape.Belief.describe('What would hold if it were accepted.'),
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
  listBeliefs: forAgents('GET', '/beliefs', {
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
      recalled: flag.optional().describe('true: only what was recalled at least once. false: only what never was.'),
      order: z.enum(beliefOrders).optional().describe('Default `updated`. A query is answered best first.'),
      ...paging(50),
    }),
    answer: listOf(
      z.object({
        belief: shape.Belief,
        hit: shape.SearchHit.omit({ belief: true }).nullable().describe('What matched, when there is a query.'),
        recalls: z.int().describe('How often it was recalled.'),
        recalledAt: z.string().nullable().describe('When it was last recalled; null if never.'),
      }),
    ).extend({ isCut: z.boolean().describe('More than `total` hold the words; the best were ranked.') }),
  }),
  createBelief: forAgents('POST', '/beliefs', {
    summary: 'Remember a statement; said again it is reinforced, said otherwise corrected.',
    body: draft,
    answer: shape.Changed.extend({
      outcome: z.enum(['remembered', 'reinforced', 'corrected', 'proposed']),
      otherValues: z
        .array(shape.Belief)
        .describe('Current beliefs in the same scopes that give another value of the same thing, newest first.'),
      refusedAliases: z
        .array(z.object({ alias: z.string(), reason: z.string(), instead: z.string() }))
        .describe('Aliases that an agent may not give, and better ones.'),
    }),
    status: 201,
  }),
  getBelief: forAgents('GET', '/beliefs/:id', {
    summary: 'One belief, by its id.',
    params: beliefId,
    answer: z.object({
      belief: shape.Belief,
      proposals: z.array(Proposal).describe('What waits to replace it; for a proposal, itself.'),
    }),
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
  beliefLinks: route('GET', '/beliefs/:id/links', {
    summary: 'What a belief is connected to, the message it came from, and how often it was recalled.',
    params: beliefId,
    answer: z.object({
      belief: shape.Belief,
      participants: z.array(z.object({ name: z.string(), belief: shape.Belief.nullable() })),
      relations: z.array(shape.Belief),
      settles: z.array(shape.Belief),
      settledBy: shape.Belief.nullable(),
      replaces: z.array(shape.Belief),
      replacedBy: shape.Belief.nullable(),
      turn: shape.Turn.nullable(),
      recalled: z.object({ count: z.int(), lastAt: z.string() }).nullable(),
    }),
  }),
  editBelief: forAgents('PATCH', '/beliefs/:id', {
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
  correctBelief: forAgents('POST', '/beliefs/:id/correct', {
    summary: 'Replace a belief with a newer one; the old one stays in the history and is never recalled.',
    params: beliefId,
    body: draft
      .pick({ content: true, why: true, aliases: true, type: true, status: true, confidence: true })
      .extend({ name: text(200).optional(), expectedVersion: version.optional() }),
    answer: shape.Changed.extend({
      outcome: z.enum(['corrected', 'proposed', 'unchanged']),
      event: z.int().nullable().describe('Null when nothing was written.'),
    }),
  }),
  confirmBelief: route('POST', '/beliefs/:id/confirm', {
    summary: 'Make an unconfirmed belief the person’s own word, which agents can only propose to change.',
    params: beliefId,
    answer: shape.Edited,
  }),
  resolveBelief: forAgents('POST', '/beliefs/:id/resolve', {
    summary: 'Close an open question, with or without the decision that settles it.',
    params: beliefId,
    body: z.strictObject({
      by: z
        .union([
          z.strictObject({ id: text(200) }),
          z.strictObject({ name: text(200), content: text(10_000), why: text(4_000).optional() }),
        ])
        .optional(),
    }),
    answer: z.object({ question: shape.Belief, decision: shape.Belief.nullable(), event: z.int() }),
  }),
  forgetBelief: forAgents('DELETE', '/beliefs/:id', {
    summary: 'Remove every text of a belief for good. It cannot be undone: a page that offers that must wait first.',
    params: beliefId,
    query: z.strictObject({
      ...forgetQuery,
      expectedVersion: digits.pipe(version).optional(),
    }),
    answer: z.object({
      beliefIds: z.array(z.string()),
      turns: z.int().describe('How many messages that state it were forgotten too.'),
      event: z.int(),
      at: z.string(),
      hash: z.string(),
    }),
  }),
  previewForget: route('GET', '/beliefs/:id/forget', {
    summary: 'The beliefs and messages that forgetting a belief would remove.',
    params: beliefId,
    query: z.strictObject(forgetQuery),
    answer: z.object({ beliefs: z.array(shape.Belief), turns: z.array(shape.Turn) }),
  }),
}

/** Changes and candidates that wait for a person to decide. */
export const proposalRoutes = {
  review: route('GET', '/review', {
    summary: 'Everything that waits for a person, what was said last first, beside what holds now.',
    query: z.strictObject(paging(50)),
    answer: listOf(
      Proposal.omit({ proposal: true }).extend({
        kind: z.enum(['statement', 'correction', 'removal']),
        belief: shape.Belief,
        reason: z.string().describe('Why it waits.'),
        turn: shape.Turn.nullable(),
        at: z.string(),
      }),
    ),
  }),
  listProposals: route('GET', '/proposals', {
    summary:
      'What waits for a person to decide, newest first: proposals, and candidates found in conversations or MEMORY.md. A proposal with `resolvedAt` would retire its target.',
    answer: listOf(Proposal).extend({
      candidates: listOf(z.object({ belief: shape.Belief, reason: z.string().describe('Why it waits.') })),
    }),
  }),
  acceptProposal: route('POST', '/proposals/:id/accept', {
    summary: 'Let a proposal take the place of what it contradicts, or retire it, or let a candidate become a belief.',
    params: beliefId,
    query: z.strictObject({
      over: text(200).optional().describe('Id of what holds now, where that is not what the proposal was made for.'),
    }),
    answer: shape.Changed,
  }),
  rejectProposal: route('POST', '/proposals/:id/reject', {
    summary: 'Set a proposal or a candidate aside; undo brings it back.',
    params: beliefId,
    answer: z.object({ beliefId: z.string(), event: z.int() }),
  }),
}

export const journalRoutes = {
  journal: route('GET', '/journal', {
    summary: 'Recent changes, newest first.',
    query: z.strictObject({
      limit: limit(50),
      before: digits.pipe(z.int().positive()).optional().describe('Only changes with a lower number.'),
      hearing: flag.optional().describe('true: also changes that only kept what was said.'),
      kind: z.array(z.enum(eventKinds)).optional().describe('Only changes of these kinds.'),
      actor: z.array(shape.ActorKind).optional().describe('Only changes by these authors.'),
    }),
    answer: z.object({
      items: z.array(
        z.object({
          event: shape.JournalEntry,
          names: z
            .record(z.string(), z.string().nullable())
            .describe('Names of the first beliefs by id; null if gone.'),
          gone: z
            .record(z.string(), z.enum(removals))
            .describe('How those without a name went: withdrawn by an undo, rejected by a person, or forgotten.'),
        }),
      ),
      nextBefore: z.int().nullable().describe('For `before`, to see older ones; null when there are none.'),
    }),
  }),
  journalEvent: route('GET', '/journal/:number', {
    summary: 'What one change did, belief by belief; the first 20.',
    params: z.object({ number: digits.pipe(z.int().positive()) }),
    answer: z.object({
      changes: z.array(
        z.object({
          beliefId: z.string(),
          before: shape.Belief.nullable(),
          after: shape.Belief.nullable(),
          target: shape.Belief.nullable().describe('For a proposal: the belief that it would change, as it was then.'),
        }),
      ),
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
