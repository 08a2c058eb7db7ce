/** Credence: memory for AI agents that can show it is right. See docs/api.md. */
export type { Belief, BeliefType, ExpertiseDepth, Provenance, Status, Subtype } from './beliefs/belief.ts'
export type { EventPage, Page } from './beliefs/belief-store.ts'
export type { BeliefRevision, EventKind, JournalEntry, JournalEvent } from './beliefs/journal.ts'
export type { Turn, TurnOrigin, TurnRole } from './beliefs/turn.ts'
export type { SessionSummary, TurnFilter } from './beliefs/turn-store.ts'
export { type ErrorCode, MemoryError } from './errors.ts'
export type { BeliefDraft } from './memory/change/draft.ts'
export type { Proposal, ReviewCandidate } from './memory/change/proposals.ts'
export type { Heard, HeardOutcome, HeardTurn } from './memory/conversation/hear.ts'
export type { EmbedRequest } from './memory/conversation/meaning.ts'
export type { QuoteHit } from './memory/conversation/search-turns.ts'
export type { ForgottenTurns, TurnSelection } from './memory/conversation/turns.ts'
export type { Finding, Refusal } from './memory/learn/extraction.ts'
export type { Learned, LearnOutcome, Taken } from './memory/learn/learn.ts'
export type { Memory } from './memory/memory.ts'
export type {
  Budget,
  Context,
  MatchedForm,
  NearMiss,
  NearMissReason,
  Quote,
  QuoteDecision,
  RelevantBelief,
} from './memory/recall/context.ts'
export { renderContext } from './memory/recall/render.ts'
export type { Highlight, SearchHit, SearchResult } from './memory/recall/search.ts'
export { type MemoryOptions, openMemory } from './open-memory.ts'
export type { Explanation } from './search/explanation.ts'
export type { Strength } from './search/turns/strength.ts'
export { type ShadowRecallOptions, shadowRecall } from './shadow-recall.ts'
