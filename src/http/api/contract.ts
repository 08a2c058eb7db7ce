import type { ErrorCode } from '../../errors.ts'
import type * as evals from '../../operations/eval-answers.ts'
import type { SentOf } from '../../operations/field.ts'
import type * as shape from '../../operations/shapes.ts'
import type { Shaped } from '../../operations/shapes.ts'
import type { AnswerOf, OperationName, Operations } from '../../operations/table.ts'

export type { OperationName as RouteName }

// The types of requests and answers, for typed clients such as the dashboard. Nothing here is loaded.

export const csrfHeader = { name: 'x-credence', value: '1' } as const

type Http<Name extends OperationName> = Operations[Name]['http']
type MethodOf<Line> = Line extends `${infer Method} ${string}` ? Method : never
type PathOf<Line> = Line extends `${string} ${infer Path}` ? Path : never
type NamesInPath<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | NamesInPath<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never
type NamesInQuery<Name extends OperationName> = Operations[Name] extends { readonly query: readonly (infer Names)[] }
  ? Names
  : never

/** The verb and the path of each route. */
export type Routes = {
  readonly [Name in OperationName]: { readonly method: MethodOf<Http<Name>>; readonly path: PathOf<Http<Name>> }
}

type Sent<Name extends OperationName> = Omit<SentOf<Operations[Name]['input']>, NamesInPath<PathOf<Http<Name>>>>

/** The answer of a route: `RouteAnswer<'recall'>`. */
export type RouteAnswer<Name extends OperationName> = AnswerOf<Name>

type NoneIfEmpty<Value> = keyof Value extends never ? undefined : Value

export type Body<Name extends OperationName> =
  MethodOf<Http<Name>> extends 'GET' | 'DELETE' ? undefined : NoneIfEmpty<Omit<Sent<Name>, NamesInQuery<Name> & string>>

/** Query parameters; a list is sent as the same parameter several times. */
export type Query<Name extends OperationName> =
  MethodOf<Http<Name>> extends 'GET' | 'DELETE'
    ? Partial<Sent<Name>>
    : Partial<Pick<Sent<Name>, NamesInQuery<Name> & keyof Sent<Name>>>

/** The body of every answer but 2xx. */
export type ApiErrorBody = {
  readonly error: {
    readonly code: ErrorCode | (typeof httpErrors)[number]
    readonly message: string
    readonly hint: string | null
    /** With a conflict over a belief: its current state. */
    readonly current?: ApiBelief | null | undefined
  }
}

export const httpErrors = ['unauthorized', 'too_large', 'unsupported', 'too_many', 'not_allowed', 'bug'] as const

export type ApiBelief = Shaped<typeof shape.Belief>
export type ApiExplanation = Shaped<typeof shape.Explanation>
export type ApiPerhapsBelief = Shaped<typeof shape.PerhapsBelief>
export type ApiRelevantBelief = Shaped<typeof shape.RelevantBelief>
export type ApiMatchedForm = Shaped<typeof shape.MatchedForm>
export type ApiNearMiss = Shaped<typeof shape.NearMiss>
export type ApiNearMissReason = Shaped<typeof shape.NearMissReason>
export type ApiQuote = Shaped<typeof shape.Quote>
export type ApiJournalEntry = Shaped<typeof shape.JournalEntry>
export type Revision = Shaped<typeof shape.Revision>
export type ApiProposal = Shaped<typeof shape.Proposal>
export type ApiRemedy = Shaped<typeof shape.Remedy>
export type ListedRun = Shaped<typeof evals.ListedRun>
export type ListedPack = Shaped<typeof evals.ListedPack>
export type ListedCase = Shaped<typeof evals.ListedCase>
export type ApiFigureComparison = Shaped<typeof evals.FigureComparison>
export type ListedBaseline = Shaped<typeof evals.ListedBaseline>
