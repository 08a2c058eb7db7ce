/** The use cases that `memory.ts` loads together, when one of them is first called. A single recall does not load them. */

export { correct } from './change/correct.ts'
export { editBelief, reinforce } from './change/edit.ts'
export { forget, previewForget } from './change/forget.ts'
export {
  accept,
  confirm,
  listCandidates,
  listProposals,
  reject,
} from './change/proposals.ts'
export { remember } from './change/remember.ts'
export { resolve } from './change/resolve.ts'
export { reviewItems } from './change/review.ts'
export { undo } from './change/undo.ts'
export { findTurn, forgetTurns, listConversations, listTurns } from './conversation/turns.ts'
export { suggestAliases } from './explain/alias-candidates.ts'
export { history, listEvents } from './explain/history.ts'
export { learnedFromTurn } from './explain/links.ts'
export { remedies } from './explain/remedies.ts'
export { why } from './explain/why.ts'
export { whyTurn } from './explain/why-turn.ts'
export { findBelief } from './find-belief.ts'
export { findBeliefs, listBeliefs } from './list.ts'
export { giveFeedback, listFeedback } from './recall/feedback.ts'
export { search } from './recall/search.ts'
export { exportBeliefs, exportTurns } from './transfer/export.ts'
export { importBeliefs } from './transfer/import.ts'
