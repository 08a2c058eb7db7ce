import { z } from 'zod'
import { roles, tokenKinds } from '../beliefs/access-store.ts'
import * as belief from '../beliefs/belief.ts'
import { eventKinds } from '../beliefs/journal.ts'
import type * as counts from '../beliefs/recall-counts.ts'
import * as turn from '../beliefs/turn.ts'
import type { SessionSummary } from '../beliefs/turn-store.ts'
import type { QuoteHit as TurnHit } from '../memory/conversation/search-turns.ts'
import { removals } from '../memory/explain/history.ts'
import type { Verdict as MemoryVerdict } from '../memory/explain/why.ts'
import type { WhyTurn as MemoryWhyTurn } from '../memory/explain/why-turn.ts'
import { learnOutcomes } from '../memory/learn/learn.ts'
import type * as context from '../memory/recall/context.ts'
import type { FeedbackItem as MemoryFeedbackItem } from '../memory/recall/feedback.ts'
import type { SearchHit as BeliefHit, Highlight as FieldHighlight } from '../memory/recall/search.ts'
import type * as explanation from '../search/explanation.ts'
import { strengths } from '../search/turns/strength.ts'
import type { DeepReadonly } from './operation.ts'

export { learnOutcomes, removals, z }

// Schemas of the values of the domain. `satisfies` checks that each one has the type it describes.

export const BeliefType = z.enum(belief.beliefTypes)
export const Status = z.enum(belief.statuses)
export const Subtype = z.enum(belief.subtypes)
export const ActorKind = z.enum(belief.actorKinds)
const Expertise = z.object({ domain: z.string(), depth: z.enum(belief.expertiseDepths) })

export const Belief = z.object({
  id: z.string(),
  user: z.string(),
  agent: z.string().nullable(),
  type: BeliefType,
  subtype: Subtype.nullable(),
  name: z.string(),
  aliases: z.array(z.string()),
  content: z.string(),
  why: z.string(),
  scopes: z.array(z.string()),
  status: Status,
  confidence: z.number(),
  pinned: z.boolean(),
  editedByPerson: z.boolean(),
  supersededBy: z.string().nullable(),
  proposedFor: z.string().nullable(),
  candidate: z.boolean().describe('Listed for review, and not recalled until a person confirms it.'),
  resolvedAt: z.string().nullable(),
  resolvedBy: z.string().nullable(),
  participants: z.array(z.string()),
  relation: z.string().nullable(),
  expertise: Expertise.nullable(),
  provenance: z.object({
    actor: ActorKind,
    origin: z.string(),
    sourceId: z.string().nullable(),
    model: z.string().nullable(),
    at: z.string(),
  }),
  reinforcement: z.object({ count: z.int(), at: z.string() }),
  createdAt: z.string(),
  updatedAt: z.string(),
  version: z.int(),
}) satisfies z.ZodType<belief.Belief>

export const Explanation: z.ZodType<explanation.Explanation> = z.object({
  value: z.number(),
  label: z.string(),
  op: z.enum(['leaf', 'sum', 'product']),
  parts: z.lazy(() => z.array(Explanation)),
})

const span = { text: z.string(), start: z.int(), end: z.int() }

export const MatchedWords = z.object({
  ...span,
  typo: z.object({ written: z.string(), meant: z.string() }).nullable(),
}) satisfies z.ZodType<context.MatchedWords>

export const MatchedForm = z.object({
  field: z.enum(['name', 'alias']),
  form: z.string(),
  words: z.array(MatchedWords),
  holders: z.int().describe('How many beliefs in view these words can mean.'),
  population: z.int().describe('How many beliefs are in view.'),
  explanation: Explanation,
}) satisfies z.ZodType<context.MatchedForm>

export const RelevantBelief = z.object({
  belief: Belief,
  score: z.number(),
  explanation: Explanation,
  matches: z.array(MatchedForm),
  through: z.string().nullable().describe('The relation that brought it, when the message does not name it itself.'),
}) satisfies z.ZodType<context.RelevantBelief>

export const NamedAnyway = z.object({
  beliefId: z.string(),
  matches: z.array(MatchedForm),
}) satisfies z.ZodType<context.NamedAnyway>

export const NearMissReason = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('other-scope'), scopes: z.array(z.string()) }),
  z.object({ kind: z.literal('superseded'), by: z.string().nullable() }),
  z.object({ kind: z.literal('resolved'), at: z.string() }),
  z.object({ kind: z.literal('open-question') }),
  z.object({ kind: z.literal('expertise') }),
  z.object({
    kind: z.literal('over-budget'),
    limit: z.enum(['maxBeliefs', 'maxPinned', 'maxFromAgents', 'maxQuestions', 'maxCharacters']),
  }),
  z.object({ kind: z.literal('other-agent'), agent: z.string() }),
  z.object({ kind: z.literal('proposed'), for: z.string() }),
  z.object({ kind: z.literal('candidate') }),
]) satisfies z.ZodType<context.NearMissReason>

export const NearMiss = z.object({
  belief: Belief,
  reason: NearMissReason,
  score: z.number().nullable(),
}) satisfies z.ZodType<context.NearMiss>

const UtcOffset = z
  .int()
  .nullable()
  .describe('The UTC offset that the time arrived with, in minutes; null for a time in UTC or without an offset.')

const QuotedText = z.object({
  text: z.string().describe('The sentences, word for word.'),
  turn: z.string().describe('Id of the turn.'),
  session: z.string(),
  speaker: z.string().nullable(),
  role: z.enum(turn.turnRoles),
  at: z.string(),
  utcOffset: UtcOffset,
  earlier: z.boolean().describe('Something newer about the same thing comes before it.'),
  correctedAt: z.string().nullable().describe('When the person corrected it; the correction is among the beliefs.'),
  score: z.number(),
  explanation: Explanation,
})

/** A quote in a recalled context. */
export const Quote = QuotedText.extend({
  level: z
    .enum(['sure', 'perhaps'])
    .describe('sure: very likely an answer, in the words of the person. perhaps: background that may be ignored.'),
  probability: z.number().describe('The probability that the turn helps with the message.'),
  perhapsPasted: z.boolean().describe('It stands where a person may have pasted it.'),
  shared: z.array(z.string()).describe('Words of the message that it holds.'),
  nearby: z.array(z.string()).describe('Words of the message that were said right beside it.'),
}) satisfies z.ZodType<context.Quote>

/** A quote that a search found. */
export const QuoteHit = QuotedText.extend({
  index: z.int(),
  origin: ActorKind.describe('Whose words these are: document for what a person pasted.'),
  scope: z.string(),
  strength: z.enum(strengths),
  correction: Belief.nullable().describe('The statement that holds now in place of an outdated quote.'),
  found: z.array(z.string()).describe('Words of the question that it holds.'),
  around: z
    .array(
      z.object({
        id: z.string(),
        role: z.enum(turn.turnRoles),
        speaker: z.string().nullable(),
        at: z.string(),
        utcOffset: UtcOffset,
        text: z.string(),
      }),
    )
    .optional()
    .describe('Turns before and after it, oldest first, if they were asked for.'),
}) satisfies z.ZodType<TurnHit>

const QuoteLevels = z
  .object({ sure: z.number(), perhaps: z.number() })
  .describe('The least probability for sure quotes, and for those that may help.')

export const QuoteDecision = z.object({
  asked: z.array(z.string()).describe('The words of the message that a quote is looked for by.'),
  unknown: z.array(z.string()).describe('Those of them that no turn has.'),
  probability: z.number().describe('The probability that one of the best turns helps.'),
  levels: QuoteLevels,
  best: Quote.nullable().describe('The best one there was, shown or not.'),
  unclear: z.array(z.string()).describe('Turns that are left out because too many newer ones may have changed them.'),
}) satisfies z.ZodType<context.QuoteDecision>

/** A belief that the message does not name, found by the meaning of its content. */
export const PerhapsBelief = z.object({
  belief: Belief,
  cosine: z.number().describe('Of its content with the message.'),
  minCosine: z.number().describe('The least cosine that is shown.'),
}) satisfies z.ZodType<context.PerhapsBelief>

export const RecallContext = z.object({
  user: z.string(),
  agent: z.string().nullable(),
  scopes: z.array(z.string()).describe('The active scopes; beliefs of their ancestors are in view too.'),
  prelude: z.object({ text: z.string(), beliefIds: z.array(z.string()) }).nullable(),
  pinned: z.array(Belief),
  relevant: z.array(RelevantBelief).describe('Best first.'),
  questions: z.array(Belief),
  quotes: z
    .array(Quote)
    .describe(
      'Earlier words that help with the message: the sure ones first, and a newer one before the older one that it may update.',
    ),
  perhaps: z
    .array(PerhapsBelief)
    .describe('Beliefs near to the message in meaning, the nearest first; the agent may ignore them.'),
  isMessageCut: z
    .boolean()
    .describe('The message has more than 32,000 characters: only its first and last 16,000 were read.'),
}) satisfies z.ZodType<context.Context>

export const WhyVerdict = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('relevant'), rank: z.int(), relevant: RelevantBelief }),
  z.object({ kind: z.literal('pinned'), rank: z.int() }),
  z.object({ kind: z.literal('question'), rank: z.int() }),
  PerhapsBelief.omit({ belief: true }).extend({ kind: z.literal('perhaps'), rank: z.int() }),
  z.object({ kind: z.literal('left-out'), reason: NearMissReason, inPrelude: z.boolean() }),
  z.object({
    kind: z.literal('not-mentioned'),
    forms: z.array(z.object({ form: z.string(), present: z.array(z.string()), missing: z.array(z.string()) })),
    inPrelude: z.boolean(),
    meaning: PerhapsBelief.omit({ belief: true }).nullable().describe('Null if it is not among the nearest.'),
  }),
]) satisfies z.ZodType<MemoryVerdict>

export const Highlight = z.object({
  field: z.enum(['name', 'alias', 'content', 'why']),
  ...span,
}) satisfies z.ZodType<FieldHighlight>

/** A belief that a search found. */
export const SearchHit = z.object({
  belief: Belief,
  strength: z.enum(strengths),
  score: z.number(),
  cosine: z.number().nullable().describe('Of its content with the query, if it was found by meaning and not by words.'),
  highlights: z.array(Highlight),
}) satisfies z.ZodType<BeliefHit>

export const Turn = z.object({
  id: z.string(),
  user: z.string(),
  session: z.string(),
  index: z.int().describe('Its place in the conversation, from 0.'),
  role: z.enum(turn.turnRoles),
  speaker: z.string().nullable(),
  at: z.string().describe('When it was said, in UTC.'),
  utcOffset: UtcOffset,
  scope: z.string(),
  host: z.string().describe('The program it came through.'),
  origin: z.enum(belief.actorKinds).describe('Whose words they are.'),
  text: z.string().describe('As it was said, with secrets masked.'),
  doubtful: z
    .array(z.tuple([z.int(), z.int()]))
    .nullable()
    .describe('Start and end of each statement in it that may be pasted; null if not looked for yet.'),
}) satisfies z.ZodType<turn.Turn>

export const FeedbackCount = z.object({
  id: z.string().describe('Of the belief or turn.'),
  useful: z.int().describe('How often the person called it useful.'),
  notUseful: z.int(),
  lastAt: z.string(),
}) satisfies z.ZodType<counts.FeedbackCount>

export const FeedbackItem = z.union([
  FeedbackCount.extend({ belief: Belief }),
  FeedbackCount.extend({ turn: Turn }),
]) satisfies z.ZodType<MemoryFeedbackItem>

export const WhyTurn = z.object({
  turn: Turn,
  isInView: z.boolean().describe('False: it was said in another scope; the rest is judged as if that were active.'),
  quote: Quote.nullable().describe('As the context has it; null if it is not quoted.'),
  best: Quote.nullable().describe('Its best sentence with the score, quoted or not.'),
  probability: z.number().describe('The probability that one of the best turns helps.'),
  levels: QuoteLevels,
  unmet: z
    .enum([
      ...(['a shared word', "the person's own words", 'better turns', 'probability'] as const),
      ...(['other quotes', 'a belief', 'the newest word'] as const),
    ])
    .nullable()
    .describe(
      'Why it is not quoted; other quotes or a belief: these are shown instead; the newest word: too many newer turns may have changed it.',
    ),
  feedback: FeedbackCount.nullable().describe('Null without feedback.'),
  saidInAll: z.object({ units: z.int(), words: z.int() }).describe('How much was said in the scopes.'),
  asked: z.array(z.string()).describe('The words of the message that a quote is looked for by.'),
  unknown: z.array(z.string()).describe('Those of them that no turn has.'),
}) satisfies z.ZodType<MemoryWhyTurn>

export const Conversation = z.object({
  session: z.string(),
  turns: z.int(),
  firstAt: z.string(),
  lastAt: z.string(),
  utcOffset: UtcOffset.describe('Of its last turn.'),
  scopes: z.array(z.string()),
  hosts: z.array(z.string()),
  opening: z.string().describe('The beginning of the first words of a person.'),
}) satisfies z.ZodType<SessionSummary>

/** An entry of the journal. An import may touch a hundred thousand beliefs, so only the first few ids are listed. */
export const JournalEntry = z.object({
  number: z.int(),
  kind: z.enum(eventKinds),
  actor: ActorKind,
  origin: z.string(),
  at: z.string(),
  undoes: z.int().nullable(),
  undoneBy: z.int().nullable(),
  beliefIds: z.array(z.string()).describe('The first 20.'),
  beliefCount: z.int(),
  turnCount: z.int().describe('How many turns it kept or forgot.'),
  hash: z.string(),
})

export const Revision = z.object({
  event: JournalEntry,
  beliefId: z.string(),
  version: z.int(),
  outcome: z.enum(['present', 'absent', 'erased']),
  belief: Belief.nullable(),
})

/** The result of a change. */
export const Changed = z.object({ belief: Belief, replaced: z.array(Belief), event: z.int() })

export const EditResult = z.object({
  outcome: z.enum(['edited', 'unchanged', 'proposed']),
  belief: Belief,
  event: z.int().nullable().describe('The number of the change in the journal; undo takes it.'),
})

export const Proposal = z.object({
  proposal: Belief,
  target: Belief.nullable().describe('What holds now; null when nothing does.'),
  accepted: Belief.describe('What would hold if it were accepted.'),
})

export const Done = z.object({ ok: z.literal(true) })

export const Person = z.object({ name: z.string(), createdAt: z.string() })
export const Token = z.object({
  id: z.string(),
  kind: z.enum(tokenKinds),
  person: z.string().nullable().describe('Whose memory it opens; null for an administrator.'),
  scopes: z.array(z.string()).describe('Of an agent: the scopes it is held to.'),
  label: z.string(),
  createdAt: z.string(),
  lastUsedAt: z.string().nullable().describe('When it was last used, to within ten minutes; null if never.'),
  revokedAt: z.string().nullable().describe('When it was revoked; null while it is valid.'),
})
export const Team = z.object({
  name: z.string(),
  createdAt: z.string(),
  members: z.array(z.object({ person: z.string(), role: z.enum(roles) })),
})

export const listOf = <Item extends z.ZodType>(item: Item) => z.object({ items: z.array(item), total: z.int() })

/** A belief as agents get it over MCP. */
export const ToolBelief = z.object({
  id: z.string(),
  name: z.string(),
  content: z.string().describe('What is true.'),
  why: z.string().describe('What to do about it; may be empty.'),
  aliases: z.array(z.string()),
  type: BeliefType,
  subtype: Subtype.nullable(),
  status: Status,
  scopes: z.array(z.string()),
  pinned: z.boolean(),
  confidence: z.number(),
  author: ActorKind.describe('Who wrote it. Only a person can change what a person said.'),
  origin: z.string().describe('The program or document it came from.'),
  updatedAt: z.string(),
})

export const Notice = z.string().describe('How to take what is remembered.')

const recallBudget = z.strictObject({
  maxBeliefs: z.int().optional(),
  maxPinned: z.int().optional(),
  maxFromAgents: z.int().optional(),
  maxQuestions: z.int().optional(),
  maxCharacters: z.int().optional(),
  maxPrelude: z.int().optional(),
  maxQuotes: z.int().optional(),
})

const remedyChange = z.strictObject({
  addAliases: z.array(z.string()).optional(),
  removeAliases: z.array(z.string()).optional(),
  scopes: z.array(z.string()).optional().describe('The scopes it would have.'),
  pinned: z.boolean().optional(),
})

export const Remedy = z.object({
  kind: z
    .enum(['add-alias', 'drop-alias', 'scopes', 'pin', 'unpin', 'accept', 'correct', 'ask', 'see'])
    .describe(
      '`accept`: accept the proposal it is. `correct`: say what is true now. `ask`: the question would have to be another one. `see`: another belief is the one to look at.',
    ),
  summary: z.string().describe('One sentence for a person.'),
  change: remedyChange.nullable().describe('For POST recall/remedies/apply; null when there is nothing to write.'),
  ask: z.object({ scopes: z.array(z.string()).optional(), budget: recallBudget.optional() }).nullable(),
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

/** A recall that was made a case of `my-cases`. */
export const CapturedCase = z.object({
  caseId: z.string(),
  description: z.string(),
  beliefsCopied: z.int(),
  passesNow: z.boolean(),
  failures: z.array(z.string()),
  isFaithful: z.boolean().describe('Whether the copy answers as the memory does.'),
})

/** The state of MEMORY.md. */
export const Mirror = z.object({
  exists: z.boolean(),
  file: z.string().nullable(),
  isInSync: z.boolean().nullable(),
  items: z.int().nullable(),
  lastSyncAt: z.string().nullable(),
  conflicts: z.int().describe('Files that keep saves of MEMORY.md which could not be merged.'),
  isHeld: z.boolean().describe('Whether an edit that removes many lines waits for a person.'),
  problems: z.array(z.string()),
})

export const Finding = z.object({ check: z.string(), ok: z.boolean(), detail: z.string() })

const HookSeen = z.object({ at: z.string(), event: z.string(), outcome: z.string() })

/** A program that can be connected to the memory. */
export const Host = z.object({
  host: z.string(),
  connected: z.enum(['yes', 'partly', 'no']),
  detected: z.boolean().describe('A file of the user’s own configuration of the program exists.'),
  levels: z.array(z.string()),
  files: z.array(z.object({ path: z.string(), connected: z.boolean(), problem: z.string().nullable() })),
  version: z.object({ at: z.string(), version: z.string() }).nullable(),
  lastHook: HookSeen.extend({
    prompts: z.int().optional(),
    late: z.int().describe('Prompts that were answered too late for the program.').optional(),
    lastPrompt: z.string().nullable().optional(),
    lastLines: z
      .object({ at: z.string(), lines: z.int() })
      .nullable()
      .describe('The last time that a hook gave lines to the program.')
      .optional(),
    lastFailure: HookSeen.nullable().optional(),
    failing: z.object({ event: z.string(), since: z.string() }).nullable().optional(),
  }).nullable(),
  lastCall: z.object({ at: z.string(), tool: z.string() }).nullable(),
})

export const Counts = z.object({
  current: z.int(),
  retired: z.int(),
  proposals: z.int(),
  candidates: z.int(),
  pinned: z.int(),
  questions: z.int(),
  scopes: z.int(),
})

/** The value that a shape describes. */
export type Shaped<Shape extends z.ZodType> = DeepReadonly<z.output<Shape>>
