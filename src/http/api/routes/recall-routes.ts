import { z } from 'zod'
import * as shape from '../memory-shapes.ts'
import { forAgents, forInstallation, message, mostItems, route, scopes, text, time, version } from '../route.ts'

const budget = z.strictObject({
  maxBeliefs: z.int().min(0).max(mostItems).optional(),
  maxPinned: z.int().min(0).max(mostItems).optional(),
  maxFromAgents: z.int().min(0).max(mostItems).optional(),
  maxQuestions: z.int().min(0).max(mostItems).optional(),
  maxCharacters: z.int().min(0).max(1_000_000).optional(),
  maxPrelude: z.int().min(0).max(100_000).optional(),
  maxQuotes: z.int().min(0).max(3).optional(),
})

const asked = {
  message,
  scopes: scopes.min(1).optional().describe('The active scopes; default those of health.'),
  budget: budget.optional(),
}

/** The change that a remedy makes to a belief. */
const RemedyChange = z.strictObject({
  addAliases: z.array(text(200)).max(20).optional(),
  removeAliases: z.array(text(200)).max(200).optional(),
  scopes: scopes.min(1).optional().describe('The scopes it would have.'),
  pinned: z.boolean().optional(),
})

export const Remedy = z.object({
  kind: z
    .enum(['add-alias', 'drop-alias', 'scopes', 'pin', 'unpin', 'accept', 'correct', 'ask', 'see'])
    .describe(
      '`accept`: accept the proposal it is. `correct`: say what is true now. `ask`: the question would have to be another one. `see`: another belief is the one to look at.',
    ),
  summary: z.string().describe('One sentence for a person.'),
  change: RemedyChange.nullable().describe('For POST recall/remedies/apply; null when there is nothing to write.'),
  ask: z.object({ scopes: z.array(z.string()).optional(), budget: budget.optional() }).nullable(),
  see: z.string().nullable().describe('The id of the belief to look at.'),
  achieves: z.boolean().describe('A dry run fulfils the wish.'),
  appearing: z.array(z.string()).describe('Ids of other beliefs that would be recalled for this message too.'),
  disappearing: z.array(z.string()).describe('Ids of other beliefs that would no longer be recalled for it.'),
  caution: z.string().nullable().describe('What else it would do, such as match an everyday word.'),
  effects: z
    .object({
      cases: z.int().describe('How many kept cases it was tried on.'),
      prompts: z.int().describe('How many of the last prompts it was tried on.'),
      breaks: z.array(z.string()).describe('Kept cases that it would break.'),
      appearsIn: z.array(z.string()).describe('Prompts that would bring the belief and do not today.'),
      leaves: z.array(z.string()).describe('Prompts that bring the belief today and would not any more.'),
    })
    .nullable()
    .describe('What it would do to other messages; null where nothing is written.'),
})

const wish = z.enum(['absent', 'present'])

const Captured = z.object({
  caseId: z.string(),
  description: z.string(),
  beliefsCopied: z.int(),
  passesNow: z.boolean(),
  failures: z.array(z.string()),
  isFaithful: z.boolean().describe('Whether the copy answers as the memory does.'),
})

export const recallRoutes = {
  recall: forAgents('POST', '/recall', {
    summary: 'What an agent would get for a message, why, and what was left out.',
    body: z.strictObject({
      ...asked,
      asOf: time
        .optional()
        .describe('What was known at this time; a day alone means its end, in the time zone of the server.'),
      leftOut: z.boolean().default(true).describe('Whether to look for what was left out too, which takes longer.'),
    }),
    answer: z.object({
      context: shape.RecallContext,
      rendered: z.string().describe('The block for a prompt; empty when there is nothing to say.'),
      highlights: z
        .array(shape.MatchedWords.extend({ beliefIds: z.array(z.string()) }))
        .describe('Spans of the message that named something, in order, without overlap.'),
      namedAnyway: z
        .array(shape.NamedAnyway)
        .describe('What is always in the context and named by the message too; empty without `leftOut`.'),
      leftOut: z.array(shape.NearMiss).describe('Mentioned, or belonging here, but left out; at most 50.'),
      quoteDecision: shape.QuoteDecision.nullable().describe('Why there are these quotes; null without `leftOut`.'),
      durationMs: z.number(),
    }),
    isReading: true,
  }),
  why: forAgents('POST', '/recall/why', {
    summary: 'Why one belief is recalled for a message, or why it is not.',
    body: z.strictObject({ ...asked, beliefId: text(200) }),
    answer: z.object({ belief: shape.Belief, verdict: shape.WhyVerdict }),
    isReading: true,
  }),
  remedies: route('POST', '/recall/remedies', {
    summary: 'What would make a belief appear for a message, or stay away; each tried out without changing anything.',
    body: z.strictObject({
      ...asked,
      beliefId: text(200),
      wish,
      aliases: z.array(text(200)).max(10).optional().describe("Also try these, in somebody's own words."),
    }),
    answer: z.object({
      belief: shape.Belief,
      isFulfilled: z.boolean().describe('It is like that already.'),
      remedies: z.array(Remedy).describe('Those that achieve the wish first. Harmful ones are withheld.'),
      withheld: z.array(z.object({ summary: z.string(), reason: z.string() })),
    }),
    isReading: true,
  }),
  applyRemedy: route('POST', '/recall/remedies/apply', {
    summary: 'Make the change of a remedy and, unless told otherwise, keep the recall as a case of `my-cases`.',
    body: z.strictObject({
      ...asked,
      beliefId: text(200),
      wish,
      change: RemedyChange,
      expectedVersion: version.optional(),
      capture: z.boolean().default(true),
    }),
    answer: z.object({
      edited: shape.Edited,
      isFulfilled: z.boolean().describe('Whether recall now does what was wished for.'),
      captured: Captured.nullable(),
      captureProblem: z.string().nullable().describe('Why there is no case, when one was asked for.'),
    }),
  }),
  capture: forInstallation('POST', '/recall/capture', {
    summary: 'Make a recall that was wrong, or right and precious, a case of `my-cases`.',
    body: z.strictObject({
      message,
      scopes: asked.scopes,
      expect: z.array(text(200)).max(mostItems).default([]).describe('Ids that must come back.'),
      reject: z.array(text(200)).max(mostItems).default([]).describe('Ids that must not.'),
      exactly: z.boolean().default(false).describe('Nothing but what is expected may be found.'),
      asIs: z.boolean().default(false).describe('Take the present answer for the right one.'),
      note: text(2_000).optional(),
    }),
    answer: Captured,
    status: 201,
  }),
}
