import { z } from 'zod'
import type { ErrorCode } from '../../errors.ts'
import * as shape from './memory-shapes.ts'
import type { DeepReadonly, Route } from './route.ts'
import { accessRoutes } from './routes/access-routes.ts'
import { beliefRoutes, journalRoutes, type Proposal as ProposalShape, proposalRoutes } from './routes/belief-routes.ts'
import * as evals from './routes/eval-routes.ts'
import { type Remedy as RemedyShape, recallRoutes } from './routes/recall-routes.ts'
import { systemRoutes } from './routes/system-routes.ts'
import { turnRoutes } from './routes/turn-routes.ts'

/** The routes by the tag they have in the OpenAPI document. */
export const routeGroups = {
  system: systemRoutes,
  beliefs: beliefRoutes,
  proposals: proposalRoutes,
  turns: turnRoutes,
  recall: recallRoutes,
  journal: journalRoutes,
  evals: evals.evalRoutes,
  people: accessRoutes,
} as const

/**
 * Every route of the API under `/api/v1`. `openapi.ts` makes `/api/openapi.json` from this table, the server routes and
 * validates by it, and the dashboard takes its types from it.
 *
 * Every answer but 2xx is an `ApiError`. Writes with the cookie of the dashboard need the header `x-credence: 1`.
 * A retry with the same `Idempotency-Key` has one effect.
 */
export const routes = {
  ...systemRoutes,
  ...beliefRoutes,
  ...proposalRoutes,
  ...turnRoutes,
  ...recallRoutes,
  ...journalRoutes,
  ...evals.evalRoutes,
  ...accessRoutes,
} as const

/** Whether a route exists for the memory of a team too, below `/api/v1/teams/:team`. A team has no conversations. */
export const isOfTeams = (name: string, { access }: Route): boolean =>
  (access === 'agents' || access === 'person') &&
  (name === 'search' || ![accessRoutes, systemRoutes, turnRoutes].some((group) => Object.hasOwn(group, name)))

export const csrfHeader = { name: 'x-credence', value: '1' } as const

const memoryErrors = ['invalid', 'not_found', 'conflict', 'forbidden', 'unavailable'] as const satisfies ErrorCode[]
const httpErrors = ['unauthorized', 'too_large', 'unsupported', 'too_many', 'not_allowed', 'bug'] as const

/** The body of every answer but 2xx. */
export const ApiError = z.object({
  error: z.object({
    code: z.enum([...memoryErrors, ...httpErrors]),
    message: z.string(),
    hint: z.string().nullable(),
    current: shape.Belief.nullable().optional().describe('With a conflict over a belief: what it says now.'),
  }),
})

export type Routes = typeof routes
export type RouteName = keyof Routes

/** What a client sends and receives, for typed calls: `Answer<'recall'>`. */
export type RouteAnswer<Name extends RouteName> = DeepReadonly<z.output<Routes[Name]['answer']>>
export type Body<Name extends RouteName> = Routes[Name]['body'] extends z.ZodType
  ? DeepReadonly<z.input<Routes[Name]['body']>>
  : undefined
/** Query parameters; a list is sent as the same parameter several times. */
export type Query<Name extends RouteName> = {
  readonly [Key in keyof z.output<Routes[Name]['query']>]?: z.output<Routes[Name]['query']>[Key]
}

type Of<Shape extends z.ZodType> = DeepReadonly<z.output<Shape>>
export type ApiBelief = Of<typeof shape.Belief>
export type ApiExplanation = Of<typeof shape.Explanation>
export type ApiRelevantBelief = Of<typeof shape.RelevantBelief>
export type ApiMatchedForm = Of<typeof shape.MatchedForm>
export type ApiNearMiss = Of<typeof shape.NearMiss>
export type ApiNearMissReason = Of<typeof shape.NearMissReason>
export type ApiQuote = Of<typeof shape.Quote>
export type ApiJournalEntry = Of<typeof shape.JournalEntry>
export type Revision = Of<typeof shape.Revision>
export type ApiProposal = Of<typeof ProposalShape>
export type ApiRemedy = Of<typeof RemedyShape>
export type ListedRun = Of<typeof evals.ListedRun>
export type ListedPack = Of<typeof evals.ListedPack>
export type ListedCase = Of<typeof evals.ListedCase>
export type ApiFigureComparison = Of<typeof evals.FigureComparison>
export type ListedBaseline = Of<typeof evals.ListedBaseline>
export type ApiErrorBody = Of<typeof ApiError>
