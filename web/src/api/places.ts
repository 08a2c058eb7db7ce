import type { RouteName, Routes } from '../../../src/http/api/contract.ts'

/**
 * The verb and the path of everything that can be asked for. The contract itself would bring its schemas into the
 * bundle; its types make sure that this says the same.
 */
export const places = {
  login: ['POST', '/login'],
  logout: ['POST', '/logout'],
  health: ['GET', '/health'],
  doctor: ['GET', '/doctor'],
  events: ['GET', '/events'],
  scopes: ['GET', '/scopes'],
  listBeliefs: ['GET', '/beliefs'],
  createBelief: ['POST', '/beliefs'],
  getBelief: ['GET', '/beliefs/:id'],
  beliefHistory: ['GET', '/beliefs/:id/history'],
  editBelief: ['PATCH', '/beliefs/:id'],
  correctBelief: ['POST', '/beliefs/:id/correct'],
  confirmBelief: ['POST', '/beliefs/:id/confirm'],
  resolveBelief: ['POST', '/beliefs/:id/resolve'],
  forgetBelief: ['DELETE', '/beliefs/:id'],
  listProposals: ['GET', '/proposals'],
  acceptProposal: ['POST', '/proposals/:id/accept'],
  rejectProposal: ['POST', '/proposals/:id/reject'],
  hear: ['POST', '/turns'],
  listTurns: ['GET', '/turns'],
  getTurn: ['GET', '/turns/:id'],
  forgetTurns: ['DELETE', '/turns'],
  listConversations: ['GET', '/conversations'],
  getConversation: ['GET', '/conversations/:session'],
  search: ['GET', '/search'],
  recall: ['POST', '/recall'],
  why: ['POST', '/recall/why'],
  remedies: ['POST', '/recall/remedies'],
  applyRemedy: ['POST', '/recall/remedies/apply'],
  capture: ['POST', '/recall/capture'],
  journal: ['GET', '/journal'],
  undo: ['POST', '/journal/:number/undo'],
  mirror: ['GET', '/mirror'],
  syncMirror: ['POST', '/mirror/sync'],
  packs: ['GET', '/evals/packs'],
  runs: ['GET', '/evals/runs'],
  startRun: ['POST', '/evals/run'],
  run: ['GET', '/evals/runs/:id'],
  cases: ['GET', '/evals/runs/:id/cases'],
  case: ['GET', '/evals/runs/:id/cases/:caseId'],
  compareRuns: ['GET', '/evals/compare'],
  baselines: ['GET', '/evals/baselines'],
  shadow: ['GET', '/evals/shadow'],
} as const satisfies {
  readonly [Name in RouteName]: readonly [Routes[Name]['method'], Routes[Name]['path']]
}
