import { z } from 'zod'
import { beliefTypes, statuses } from '../../beliefs/belief.ts'
import * as belief from './belief-shapes.ts'
import * as evals from './eval-shapes.ts'
import { type DeepReadonly, type Route, route } from './route.ts'

/**
 * Everything the API under `/api/v1` offers, as one value. `src/http/api/openapi.ts` makes `/api/openapi.json` of it, the
 * server routes and checks by it, and the dashboard takes its types from it.
 *
 * Every answer but 2xx is `ApiError`. A conflict over a belief carries the belief as it is now in `error.current`.
 * Writes with the cookie of the dashboard need the header `x-credence: 1`. `Idempotency-Key` makes a retry harmless.
 */

/** Longest list in one answer. */
export const mostItems = 200

export const csrfHeader = { name: 'x-credence', value: '1' } as const

const text = (most: number) => z.string().max(most)
const message = text(100_000).describe('What the person says to the agent.')
const scopes = z.array(text(200)).max(50)
const beliefId = z.object({ id: text(200) })
const version = z
  .int()
  .positive()
  .describe('The version that was looked at. If the belief has changed since, nothing is done: 409.')

const flag = z.stringbool({ truthy: ['true'], falsy: ['false'] })
const paging = (usual: number) => ({
  limit: z.coerce.number().int().min(1).max(mostItems).default(usual),
  offset: z.coerce.number().int().min(0).max(1_000_000_000).default(0),
})
const listOf = <Item extends z.ZodType>(item: Item) => z.object({ items: z.array(item), total: z.int() })

export const ApiError = z.object({
  error: z.object({
    code: z.enum([
      'invalid',
      'not_found',
      'conflict',
      'forbidden',
      'unavailable',
      'unauthorized',
      'too_large',
      'unsupported',
      'too_many',
      'not_allowed',
      'bug',
    ]),
    message: z.string(),
    hint: z.string().nullable(),
    current: belief.Belief.nullable().optional().describe('With a conflict over a belief: what it says now.'),
  }),
})

const Edited = z.object({
  outcome: z.enum(['edited', 'unchanged', 'proposed']),
  belief: belief.Belief,
  event: z.int().nullable().describe('The number of the change in the journal; undo takes it.'),
})

const Hit = z.object({
  match: z.enum(['exact', 'possible']),
  score: z.number(),
  highlights: z.array(belief.Highlight),
})

const Mirror = z.object({
  exists: z.boolean(),
  file: z.string().nullable(),
  isInSync: z.boolean().nullable(),
  items: z.int().nullable(),
  lastSyncAt: z.string().nullable(),
  problems: z.array(z.string()),
})

const Finding = z.object({ check: z.string(), ok: z.boolean(), detail: z.string() })

const draft = z.strictObject({
  name: text(200),
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

const budget = z.strictObject({
  maxBeliefs: z.int().min(0).max(mostItems).optional(),
  maxPinned: z.int().min(0).max(mostItems).optional(),
  maxQuestions: z.int().min(0).max(mostItems).optional(),
  maxCharacters: z.int().min(0).max(1_000_000).optional(),
  maxPrelude: z.int().min(0).max(100_000).optional(),
})

const asked = {
  message,
  scopes: scopes.min(1).optional().describe('The active scopes; default those of health.'),
  budget: budget.optional(),
}

/** What would be changed about a belief. */
const RemedyChange = z.strictObject({
  addAliases: z.array(text(200)).max(20).optional(),
  removeAliases: z.array(text(200)).max(200).optional(),
  scopes: scopes.min(1).optional().describe('The scopes it would have.'),
  pinned: z.boolean().optional(),
})

const Remedy = z.object({
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

export const routes = {
  login: route({
    method: 'POST',
    path: '/login',
    tag: 'system',
    summary: 'Exchange the token of the login link for a cookie.',
    body: z.strictObject({ token: text(200) }),
    answer: z.object({ ok: z.literal(true) }),
    access: 'anybody',
  }),
  logout: route({
    method: 'POST',
    path: '/logout',
    tag: 'system',
    summary: 'Take the cookie back.',
    answer: z.object({ ok: z.literal(true) }),
  }),
  health: route({
    method: 'GET',
    path: '/health',
    tag: 'system',
    summary: 'Which memory this is, and how much is in it.',
    answer: z.object({
      version: z.string(),
      dir: z.string(),
      user: z.string(),
      scopes: z.array(z.string()).describe('Active where a request names none.'),
      homeScopes: z.array(z.string()).describe('Where something new goes.'),
      isDemo: z.boolean().describe('Whether all of it is gone when the server ends.'),
      counts: z.object({
        current: z.int(),
        retired: z.int(),
        proposals: z.int(),
        pinned: z.int(),
        questions: z.int(),
        scopes: z.int(),
      }),
      journalHead: z.int().describe('The number of the newest change; 0 when there is none.'),
      mirror: Mirror,
      store: z.object({ file: z.string(), bytes: z.int(), logBytes: z.int() }),
      evals: z.object({ root: z.string(), running: z.string().nullable().describe('The pack that is being run.') }),
    }),
  }),
  doctor: route({
    method: 'GET',
    path: '/doctor',
    tag: 'system',
    summary: 'Check that the memory is sound. A large store takes a while; the answer is kept for a minute.',
    answer: z.object({ ok: z.boolean(), checkedAt: z.string(), findings: z.array(Finding) }),
  }),
  events: route({
    method: 'GET',
    path: '/events',
    tag: 'system',
    summary:
      'Server-sent events: `hello` at once, `journal` when anybody changed the memory, `evals` when runs changed. Data is JSON.',
    answer: z.object({
      journalHead: z.int(),
      evalsStamp: z.string().describe('Changes when a run, a pack or a baseline does.'),
    }),
    form: 'stream',
  }),

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
      query: text(2_000).optional(),
      scope: z.array(text(200)).max(50).optional().describe('Of any of these scopes.'),
      type: z.array(z.enum(beliefTypes)).optional(),
      status: z.array(z.enum(statuses)).optional(),
      pinned: flag.optional(),
      current: flag.optional().describe('true: only what recall may return. false: only what it may not.'),
      proposals: flag.optional().describe('true: only proposals. false: none of them.'),
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
    summary: 'Say that it still holds: it counts as said once more, now.',
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
      expectedVersion: z.coerce.number().int().positive().optional(),
    }),
    answer: z.object({ beliefIds: z.array(z.string()), event: z.int(), at: z.string(), hash: z.string() }),
  }),

  listProposals: route({
    method: 'GET',
    path: '/proposals',
    tag: 'proposals',
    summary: 'What waits for a person to decide, newest first.',
    answer: listOf(z.object({ proposal: belief.Belief, target: belief.Belief.nullable() })),
  }),
  acceptProposal: route({
    method: 'POST',
    path: '/proposals/:id/accept',
    tag: 'proposals',
    summary: 'Let a proposal take the place of what it contradicts.',
    params: beliefId,
    answer: z.object({ belief: belief.Belief, replaced: z.array(belief.Belief), event: z.int() }),
  }),
  rejectProposal: route({
    method: 'POST',
    path: '/proposals/:id/reject',
    tag: 'proposals',
    summary: 'Set a proposal aside; undo brings it back.',
    params: beliefId,
    answer: z.object({ beliefId: z.string(), event: z.int() }),
  }),

  recall: route({
    method: 'POST',
    path: '/recall',
    tag: 'recall',
    summary: 'What an agent would get for a message, why, and what was left out.',
    body: z.strictObject({
      ...asked,
      leftOut: z.boolean().default(true).describe('Whether to look for what was left out too, which takes longer.'),
    }),
    answer: z.object({
      context: belief.RecallContext,
      rendered: z.string().describe('The block for a prompt; empty when there is nothing to say.'),
      highlights: z
        .array(
          z.object({
            start: z.int(),
            end: z.int(),
            text: z.string(),
            typo: z.object({ written: z.string(), meant: z.string() }).nullable(),
            beliefIds: z.array(z.string()),
          }),
        )
        .describe('Stretches of the message that named something, in order, without overlap.'),
      leftOut: z.array(belief.NearMiss).describe('Mentioned, or belonging here, but left out; at most 50.'),
      durationMs: z.number(),
    }),
    isReading: true,
  }),
  why: route({
    method: 'POST',
    path: '/recall/why',
    tag: 'recall',
    summary: 'Why one belief is recalled for a message, or why it is not.',
    body: z.strictObject({ ...asked, beliefId: text(200) }),
    answer: z.object({ belief: belief.Belief, verdict: belief.WhyVerdict }),
    isReading: true,
  }),
  remedies: route({
    method: 'POST',
    path: '/recall/remedies',
    tag: 'recall',
    summary: 'What would make a belief appear for a message, or stay away; each tried out without changing anything.',
    body: z.strictObject({
      ...asked,
      beliefId: text(200),
      wish,
      aliases: z.array(text(200)).max(10).optional().describe("Also try these, in somebody's own words."),
    }),
    answer: z.object({
      belief: belief.Belief,
      isFulfilled: z.boolean().describe('It is like that already.'),
      remedies: z.array(Remedy).describe('Those that achieve the wish first.'),
    }),
    isReading: true,
  }),
  applyRemedy: route({
    method: 'POST',
    path: '/recall/remedies/apply',
    tag: 'recall',
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
      edited: Edited,
      isFulfilled: z.boolean().describe('Whether recall now does what was wished for.'),
      captured: Captured.nullable(),
      captureProblem: z.string().nullable().describe('Why there is no case, when one was asked for.'),
    }),
  }),
  capture: route({
    method: 'POST',
    path: '/recall/capture',
    tag: 'recall',
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

  journal: route({
    method: 'GET',
    path: '/journal',
    tag: 'journal',
    summary: 'Recent changes, newest first.',
    query: z.strictObject({
      limit: z.coerce.number().int().min(1).max(mostItems).default(50),
      before: z.coerce.number().int().positive().optional().describe('Only changes with a lower number.'),
    }),
    answer: z.object({
      items: z.array(
        z.object({
          event: belief.JournalEntry,
          names: z
            .record(z.string(), z.string().nullable())
            .describe('What the first few beliefs are called now, by id; null for what is gone.'),
        }),
      ),
      nextBefore: z.int().nullable().describe('For `before`, to see older ones; null when there are none.'),
    }),
  }),
  undo: route({
    method: 'POST',
    path: '/journal/:number/undo',
    tag: 'journal',
    summary: 'Take back a change.',
    params: z.object({ number: z.coerce.number().int().positive() }),
    answer: z.object({
      undone: belief.JournalEntry,
      restored: z.array(belief.Belief).describe('The first 20.'),
      restoredCount: z.int(),
      withdrawn: z.array(z.string()).describe('The first 20.'),
      withdrawnCount: z.int(),
      event: z.int(),
    }),
  }),
  mirror: route({
    method: 'GET',
    path: '/mirror',
    tag: 'system',
    summary: 'How MEMORY.md and the store stand to each other.',
    answer: Mirror,
  }),
  syncMirror: route({
    method: 'POST',
    path: '/mirror/sync',
    tag: 'system',
    summary: 'Bring MEMORY.md and the store into line.',
    answer: Mirror,
  }),

  packs: route({
    method: 'GET',
    path: '/evals/packs',
    tag: 'evals',
    summary: 'The packs in the eval store and those that ship, with the verdict of their latest run.',
    answer: z.object({ items: z.array(evals.ListedPack) }),
  }),
  runs: route({
    method: 'GET',
    path: '/evals/runs',
    tag: 'evals',
    summary: 'Runs, newest first.',
    query: z.strictObject({
      benchmark: text(200).optional(),
      system: text(200).optional(),
      status: z.array(z.enum(['running', 'completed', 'failed', 'partial'])).optional(),
      ...paging(50),
    }),
    answer: listOf(evals.ListedRun),
  }),
  startRun: route({
    method: 'POST',
    path: '/evals/run',
    tag: 'evals',
    summary: 'Run a pack on our own recall, in the background. One at a time.',
    body: z.strictObject({ pack: text(200) }),
    answer: z.object({ runId: z.string() }),
    status: 202,
  }),
  run: route({
    method: 'GET',
    path: '/evals/runs/:id',
    tag: 'evals',
    summary: 'One run, and the completed ones of the same pack and system.',
    params: beliefId,
    answer: evals.ListedRun.extend({
      environment: evals.Environment.nullable(),
      verdicts: z.record(z.string(), z.int()).describe('How many case records have each verdict.'),
      problems: z.array(z.string()).describe('What is wrong with its case records.'),
      history: z.array(evals.ListedRun).describe('Oldest first, at most 50, this one among them if it is completed.'),
    }),
  }),
  cases: route({
    method: 'GET',
    path: '/evals/runs/:id/cases',
    tag: 'evals',
    summary: 'The case records of a run, those that did not pass first.',
    params: beliefId,
    query: z.strictObject({
      verdict: z.array(z.enum(['pass', 'fail', 'error', 'skipped', 'unjudged'])).optional(),
      text: text(200).optional().describe('In the id, the prompt, a failure or a returned id.'),
      ...paging(50),
    }),
    answer: listOf(evals.ListedCase),
  }),
  case: route({
    method: 'GET',
    path: '/evals/runs/:id/cases/:caseId',
    tag: 'evals',
    summary: 'One case of a run with every repeat and its explanation.',
    params: z.object({ id: text(200), caseId: text(200) }),
    answer: z.object({
      run: evals.RunSummary,
      prompt: z.string().nullable(),
      expectedSignals: z.array(z.string()),
      notes: z.string().nullable(),
      records: z.array(evals.CaseRecord),
    }),
  }),
  compareRuns: route({
    method: 'GET',
    path: '/evals/compare',
    tag: 'evals',
    summary: 'Two runs of a pack beside each other, case by case.',
    query: z.strictObject({ before: text(200), after: text(200) }),
    answer: z.object({
      before: evals.ListedRun,
      after: evals.ListedRun,
      notes: z.array(z.string()).describe('What to know before trusting the rest.'),
      figures: z.array(evals.FigureComparison),
      broken: z.array(evals.CaseDiff),
      fixed: z.array(evals.CaseDiff),
      stillFailing: z.array(evals.CaseDiff),
      changed: z.array(evals.CaseDiff).describe('Passed in both, with another answer.'),
      newCases: z.array(z.string()),
      removedCases: z.array(z.string()),
      flaky: z.array(z.string()),
      unchanged: z.int(),
      counts: z
        .object({ broken: z.int(), fixed: z.int(), stillFailing: z.int(), changed: z.int() })
        .describe('Lists are cut at 200; these are not.'),
    }),
  }),
  baselines: route({
    method: 'GET',
    path: '/evals/baselines',
    tag: 'evals',
    summary: 'Accepted figures, newest first.',
    answer: z.object({ items: z.array(evals.ListedBaseline) }),
  }),
  shadow: route({
    method: 'GET',
    path: '/evals/shadow',
    tag: 'evals',
    summary: 'What live recalls were like, day by day. Empty unless evalShadowModeEnabled is on.',
    answer: evals.ShadowReport.extend({ isRecording: z.boolean() }),
  }),
} as const satisfies Readonly<Record<string, Route>>

export type Routes = typeof routes
export type RouteName = keyof Routes

/** What a client sends and gets, for typed calls: `Answer<'recall'>`. */
export type Answer<Name extends RouteName> = DeepReadonly<z.output<Routes[Name]['answer']>>
export type Body<Name extends RouteName> = Routes[Name]['body'] extends z.ZodType
  ? DeepReadonly<z.input<Routes[Name]['body']>>
  : undefined
/** As written in an address; lists are given several times. */
export type Query<Name extends RouteName> = {
  readonly [Key in keyof z.output<Routes[Name]['query']>]?: z.output<Routes[Name]['query']>[Key]
}

export type Belief = DeepReadonly<z.output<typeof belief.Belief>>
export type Explanation = DeepReadonly<z.output<typeof belief.Explanation>>
export type RelevantBelief = DeepReadonly<z.output<typeof belief.RelevantBelief>>
export type NearMiss = DeepReadonly<z.output<typeof belief.NearMiss>>
export type NearMissReason = DeepReadonly<z.output<typeof belief.NearMissReason>>
export type RecallContext = DeepReadonly<z.output<typeof belief.RecallContext>>
export type JournalEntry = DeepReadonly<z.output<typeof belief.JournalEntry>>
export type Revision = DeepReadonly<z.output<typeof belief.Revision>>
export type Remedy = DeepReadonly<z.output<typeof Remedy>>
export type ListedRun = DeepReadonly<z.output<typeof evals.ListedRun>>
export type ListedPack = DeepReadonly<z.output<typeof evals.ListedPack>>
export type ListedCase = DeepReadonly<z.output<typeof evals.ListedCase>>
export type CaseDiff = DeepReadonly<z.output<typeof evals.CaseDiff>>
export type FigureComparison = DeepReadonly<z.output<typeof evals.FigureComparison>>
export type ListedBaseline = DeepReadonly<z.output<typeof evals.ListedBaseline>>
export type ApiErrorBody = DeepReadonly<z.output<typeof ApiError>>
