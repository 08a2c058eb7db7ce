import type { z } from 'zod'
import type { ApiError } from './api-error.ts'
import type * as belief from './belief-shapes.ts'
import type * as evals from './eval-shapes.ts'
import type { DeepReadonly } from './route.ts'
import { beliefRoutes } from './routes/belief-routes.ts'
import { evalRoutes } from './routes/eval-routes.ts'
import { journalRoutes } from './routes/journal-routes.ts'
import { type Remedy as RemedyShape, recallRoutes } from './routes/recall-routes.ts'
import { systemRoutes } from './routes/system-routes.ts'
import { turnRoutes } from './routes/turn-routes.ts'

/**
 * Everything the API under `/api/v1` offers, as one value. `src/http/api/openapi.ts` makes `/api/openapi.json` of it, the
 * server routes and checks by it, and the dashboard takes its types from it.
 *
 * Every answer but 2xx is `ApiError`. A conflict over a belief carries the belief as it is now in `error.current`.
 * Writes with the cookie of the dashboard need the header `x-credence: 1`. `Idempotency-Key` makes a retry harmless.
 */
export const routes = {
  ...systemRoutes,
  ...beliefRoutes,
  ...turnRoutes,
  ...recallRoutes,
  ...journalRoutes,
  ...evalRoutes,
} as const

export const csrfHeader = { name: 'x-credence', value: '1' } as const

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
export type Quote = DeepReadonly<z.output<typeof belief.Quote>>
export type QuoteDecision = DeepReadonly<z.output<typeof belief.QuoteDecision>>
export type RecallContext = DeepReadonly<z.output<typeof belief.RecallContext>>
export type JournalEntry = DeepReadonly<z.output<typeof belief.JournalEntry>>
export type Revision = DeepReadonly<z.output<typeof belief.Revision>>
export type Remedy = DeepReadonly<z.output<typeof RemedyShape>>
export type ListedRun = DeepReadonly<z.output<typeof evals.ListedRun>>
export type ListedPack = DeepReadonly<z.output<typeof evals.ListedPack>>
export type ListedCase = DeepReadonly<z.output<typeof evals.ListedCase>>
export type CaseDiff = DeepReadonly<z.output<typeof evals.CaseDiff>>
export type FigureComparison = DeepReadonly<z.output<typeof evals.FigureComparison>>
export type ListedBaseline = DeepReadonly<z.output<typeof evals.ListedBaseline>>
export type ApiErrorBody = DeepReadonly<z.output<typeof ApiError>>
