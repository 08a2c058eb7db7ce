/** Credence: memory for AI agents, with evidence that it is right. See docs/api.md. */
export type { ActorKind, Belief, BeliefType, ExpertiseDepth, Provenance, Status, Subtype } from './beliefs/belief.ts'
export type { BeliefFilter, EventPage, Page } from './beliefs/belief-store.ts'
export type { BeliefRevision, EventKind, JournalEntry, JournalEvent } from './beliefs/journal.ts'
export type { FeedbackCount, FeedbackVerdict } from './beliefs/recall-counts.ts'
export type { Turn, TurnOrigin, TurnRole } from './beliefs/turn.ts'
export type { ExportedTurn, SessionSummary, TurnFilter } from './beliefs/turn-store.ts'
export { type ErrorCode, MemoryError } from './errors.ts'
export { type MemoryOptions, openMemory, renderContext, type ShadowRecallOptions, shadowRecall } from './library.ts'
export type { CorrectResult } from './memory/change/correct.ts'
export type { BeliefDraft } from './memory/change/draft.ts'
export type { EditResult, Edits } from './memory/change/edit.ts'
export type { ForgetPreview, Receipt } from './memory/change/forget.ts'
export type { Proposal, ReviewCandidate } from './memory/change/proposals.ts'
export type { RememberResult } from './memory/change/remember.ts'
export type { ResolveResult } from './memory/change/resolve.ts'
export type { ReviewItem, ReviewKind } from './memory/change/review.ts'
export type { UndoResult, UndoTarget } from './memory/change/undo.ts'
export type { HeardOutcome, HeardTurn, HearResult } from './memory/conversation/hear.ts'
export type { QuoteHit } from './memory/conversation/search-turns.ts'
export type { ForgottenTurns, TurnSelection } from './memory/conversation/turns.ts'
export type { History } from './memory/explain/history.ts'
export type { Remedies, Remedy } from './memory/explain/remedies.ts'
export type { Verdict, Why } from './memory/explain/why.ts'
export type { WhyTurn } from './memory/explain/why-turn.ts'
export type { Extraction, Extractor, Finding, Refusal } from './memory/learn/extraction.ts'
export type { LearnedStatement, LearnOutcome, LearnResult } from './memory/learn/learn.ts'
export type {
  Accepted,
  BeliefListOptions,
  Correction,
  EditOptions,
  EmbedOptions,
  FindOptions,
  ForgetExtent,
  ForgetOptions,
  ForgetTurnsOptions,
  HearOptions,
  ImportOptions,
  KeyOption,
  LearnOptions,
  MeaningStatus,
  Memory,
  RecallOptions,
  Rejected,
  RemedyOptions,
  ResolvedBy,
  ReviewOptions,
  ScopeCount,
  ScopeOption,
  SearchOptions,
  Statement,
  TurnListOptions,
  UndoOptions,
} from './memory/memory.ts'
export type { Author } from './memory/ports.ts'
export type {
  Budget,
  Context,
  MatchedForm,
  MatchedWords,
  NearMiss,
  NearMissReason,
  PerhapsBelief,
  Prelude,
  Quote,
  QuoteDecision,
  RelevantBelief,
} from './memory/recall/context.ts'
export type { FeedbackItem } from './memory/recall/feedback.ts'
export type { Highlight, SearchHit, SearchResult } from './memory/recall/search.ts'
export type { ImportResult } from './memory/transfer/import.ts'
export type { Explanation } from './search/explanation.ts'
export type { Strength } from './search/turns/strength.ts'
