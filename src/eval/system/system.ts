import type { TurnRole } from '../../beliefs/turn.ts'
import type { Budget, MatchedForm } from '../../memory/recall/context.ts'
import type { RecallRequest } from '../../memory/recall/recall.ts'
import type { BeliefRecord } from '../../memory/transfer/belief-record.ts'

/** The options of recall that a pack or the command line may set. */
export type SystemRecallOptions = Pick<RecallRequest, 'editedPins'>

/** One question to a system. The system sees nothing else of a case. */
export type SystemQuery = {
  readonly user: string
  readonly scopes: readonly string[]
  readonly message: string
  readonly budget: Partial<Budget>
  readonly recall: SystemRecallOptions
  readonly at?: string
  /** The total amount of text, if the pack contains only a part of it. */
  readonly saidInAll?: SaidInAll | undefined
  /** Requests the optional parts of the answer that explain it. */
  readonly explain?: boolean
}

/** The amount of text in the scopes of a question. The threshold for quotes grows with this amount. A long turn has several units. */
export type SaidInAll = { readonly units: number; readonly words: number }

/** A message of a conversation, or a step of a tool, verbatim. */
export type SystemTurn = {
  readonly id: string
  readonly user: string
  readonly scope: string
  readonly session: string
  /** The position in the session, from 0. */
  readonly index: number
  readonly role: TurnRole
  readonly speaker?: string
  readonly at: string
  /** `document`: the words are not the speaker's own. */
  readonly origin?: 'document'
  readonly text: string
}

/** A belief that is added to the corpus between two questions, or that replaces the belief with the same id. */
export type BeliefUpdate = { readonly kind: 'create' | 'replace'; readonly belief: BeliefRecord }

/** The contribution of one matched form to a score. The clauses of a hit add up to its score. */
export type AnswerClause = {
  readonly path: 'canonical_name' | 'aliases'
  readonly term: string
  readonly score: number
}

export type AnswerHit = {
  /** The belief, turn or session that was found. */
  readonly id: string
  /** Null for a system that does not score. */
  readonly score: number | null
  /** Absent for a system whose scores have no parts, such as a cosine. */
  readonly clauses?: readonly AnswerClause[]
  /** The length of the passage, if one is shown in place of the whole turn. */
  readonly characters?: number
  /** For people: the words of the message that matched each clause. */
  readonly matches?: readonly Pick<MatchedForm, 'form' | 'words' | 'explanation'>[]
}

/** A quote without a level counts as `sure`. */
export type AnswerQuote = {
  readonly turn: string
  readonly text: string
  readonly level?: 'sure' | 'perhaps'
  /** Whether the quote is marked as outdated, or as older than another quote about the same thing. */
  readonly isEarlier?: boolean
}

/** The context that a system assembles for one message. */
export type SystemAnswer = {
  readonly prelude: string | null
  readonly pinned: readonly string[]
  /** Best first. */
  readonly relevant: readonly AnswerHit[]
  readonly questions: readonly string[]
  /** Quotes of turns that are shown unasked, in order. Absent for a system that only searches. */
  readonly quotes?: readonly AnswerQuote[]
  /** The system's confidence that the quotes help, on any scale. The push curve hides the quotes below each threshold. */
  readonly confidence?: number
  readonly nearMisses?: readonly { readonly id: string; readonly reason: string }[]
}

export const emptyAnswer: SystemAnswer = { prelude: null, pinned: [], relevant: [], questions: [] }

/** Optional capabilities of a memory. Cases about a capability that a memory does not offer are skipped, not failed. */
export const capabilities = ['scopes', 'users', 'supersession', 'updates'] as const
export type Capability = (typeof capabilities)[number]

/**
 * A memory under evaluation. It sees only beliefs, turns and messages: never a case, a label or an expectation, and ids only in an
 * opaque form. Every method may reject; that is counted as an error.
 */
export type System = {
  readonly name: string
  readonly version: string
  readonly description: string
  /** `relevant`: the system finds only relevant beliefs; the harness adds prelude, pins and questions from Credence's own recall. */
  readonly tiers: 'all' | 'relevant'
  /** The capabilities that the system offers. Default all. */
  readonly offers?: readonly Capability[]
  /** Remarks for readers of the system's figures, such as the protocol of the run. */
  readonly notes?: readonly string[]

  reset(): Promise<void>
  /** Stores a whole corpus. Returns a sentence for each belief that it could not store unchanged. */
  ingest(beliefs: readonly BeliefRecord[]): Promise<readonly string[]>
  /** Appends turns of conversations, in order, before any belief is stored. Absent if the system stores only beliefs. */
  hear?(turns: readonly SystemTurn[]): Promise<void>
  update(update: BeliefUpdate): Promise<void>
  recall(query: SystemQuery): Promise<SystemAnswer>
  close(): Promise<void>
}

/** A memory that can store conversations. */
export type HearingSystem = System & Required<Pick<System, 'hear'>>

const comparedSystems = ['bm25', 'vector', 'vector-calibrated'] as const
/** Controls show how much of a result is due to the cases instead of a memory. Every table shows them, and they are never gated. */
export const controlSystems = ['none', 'everything', 'exact', 'oracle'] as const
export const systemNames = [...comparedSystems, ...controlSystems] as const
/** Also those that are only run by name. `credence-vectors` answers as a memory with vectors, which is the default. */
export const ownSystemNames = [...systemNames, 'credence-vectors'] as const
export type OwnSystemName = (typeof ownSystemNames)[number]

/** The controls of red-team packs: one believes everything, the other nothing. */
export const redTeamControls = ['defenceless', 'refusing'] as const

/** Whether a system or extractor of a run is a control. */
export const isControlName = (name: string): boolean =>
  ['chance', 'nearest-steps'].includes(name) ||
  name.endsWith('-times') ||
  redTeamControls.some((control) => name === control) ||
  controlSystems.some((control) => name === control || name === `learn:${control}`)

/** Our own memories for conversation packs. Those after the first three are for comparison. */
export const turnSystemNames = [
  'credence',
  'credence-vectors',
  'credence-eager',
  'credence-shuffled-times',
  'credence-reversed-times',
  'bm25-turns',
  'bm25-sessions',
  'grep',
  'vectors',
  'nearest-steps',
  'everything',
  'chance',
  'none',
] as const
export type TurnSystemName = (typeof turnSystemNames)[number]

/** The baselines that a run on a public suite adds, unless only our own systems are named. All of them are fast. */
export const turnBaselines = (suite: string | undefined): readonly TurnSystemName[] => [
  'bm25-turns',
  'bm25-sessions',
  ...(suite === 'ama-bench' ? (['nearest-steps'] as const) : []),
  ...(suite === 'life' ? (['credence-eager', 'grep'] as const) : []),
  'everything',
  'chance',
  'none',
]

/** Whether a system is a fixed baseline that public suites are always compared with. */
export const isBaselineName = (name: string): boolean => turnBaselines('ama-bench').some((known) => known === name)
