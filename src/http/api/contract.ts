import type { Belief } from '../../beliefs/belief.ts'
import type { ErrorCode } from '../../errors.ts'
import type { SentOf } from '../../operations/field.ts'
import type { AnswerOf, OperationName, Operations } from '../../operations/table.ts'

export type { OperationName as RouteName }

// The types of requests and responses, for typed clients such as the dashboard. They have no code at runtime.

export const csrfHeader = { name: 'x-credence', value: '1' } as const

type Http<Name extends OperationName> = Operations[Name]['http']
type MethodOf<Line> = Line extends `${infer Method} ${string}` ? Method : never
type PathOf<Line> = Line extends `${string} ${infer Path}` ? Path : never
/** The names of the parameters in a path. */
export type NamesInPath<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | NamesInPath<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never
type NamesInQuery<Name extends OperationName> = Operations[Name] extends { readonly query: readonly (infer Names)[] }
  ? Names
  : never

/** The HTTP method and the path of each route. */
export type Routes = {
  readonly [Name in OperationName]: { readonly method: MethodOf<Http<Name>>; readonly path: PathOf<Http<Name>> }
}

type Sent<Name extends OperationName> = Omit<SentOf<Operations[Name]['input']>, NamesInPath<PathOf<Http<Name>>>>

/** The response of a route: `RouteAnswer<'recall'>`. */
export type RouteAnswer<Name extends OperationName> = AnswerOf<Name>

type NoneIfEmpty<Value> = keyof Value extends never ? undefined : Value

export type Body<Name extends OperationName> =
  MethodOf<Http<Name>> extends 'GET' | 'DELETE' ? undefined : NoneIfEmpty<Omit<Sent<Name>, NamesInQuery<Name> & string>>

/** Query parameters; a list is sent as the same parameter several times. */
export type Query<Name extends OperationName> =
  MethodOf<Http<Name>> extends 'GET' | 'DELETE'
    ? Partial<Sent<Name>>
    : Partial<Pick<Sent<Name>, NamesInQuery<Name> & keyof Sent<Name>>>

/** The body of every response other than 2xx. */
export type ApiErrorBody = {
  readonly error: {
    readonly code: ErrorCode | (typeof httpErrors)[number]
    readonly message: string
    readonly hint: string | null
    /** For a conflict over a belief: its current state. */
    readonly current?: Belief | null | undefined
  }
}

export const httpErrors = ['unauthorized', 'too_large', 'unsupported', 'too_many', 'not_allowed', 'bug'] as const

export type { Belief as ApiBelief } from '../../beliefs/belief.ts'
export type { Proposal as ApiProposal } from '../../memory/change/proposals.ts'
export type { Remedy as ApiRemedy } from '../../memory/explain/remedies.ts'
export type {
  MatchedForm as ApiMatchedForm,
  NearMiss as ApiNearMiss,
  NearMissReason as ApiNearMissReason,
  PerhapsBelief as ApiPerhapsBelief,
  Quote as ApiQuote,
  RelevantBelief as ApiRelevantBelief,
} from '../../memory/recall/context.ts'
export type { Explanation as ApiExplanation } from '../../search/explanation.ts'

export type ApiJournalEntry = RouteAnswer<'undo'>['undone']
export type Revision = RouteAnswer<'beliefHistory'>['revisions'][number]
export type ListedRun = RouteAnswer<'runs'>['items'][number]
export type ListedPack = RouteAnswer<'packs'>['items'][number]
export type ListedCase = RouteAnswer<'cases'>['items'][number]
export type ListedBaseline = RouteAnswer<'baselines'>['items'][number]
export type ApiFigureComparison = RouteAnswer<'compareRuns'>['figures'][number]
