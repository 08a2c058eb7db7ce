import { z } from 'zod'
import { actorKinds, type Belief, beliefTypes, expertiseDepths, statuses } from './beliefs/belief.ts'
import { type BeliefFilter, beliefOrders, type EventPage } from './beliefs/belief-store.ts'
import { feedbackVerdicts } from './beliefs/recall-counts.ts'
import { turnRoles } from './beliefs/turn.ts'
import { didYouMean } from './did-you-mean.ts'
import { expectedError, invalid, type MemoryError } from './errors.ts'
import type { MemoryOptions, ShadowRecallOptions } from './library.ts'
import type { Edits } from './memory/change/edit.ts'
import type { HeardTurn } from './memory/conversation/hear.ts'
import { maxAround } from './memory/conversation/search-turns.ts'
import type { TurnSelection } from './memory/conversation/turns.ts'
import type { Extractor } from './memory/learn/extraction.ts'
import type * as api from './memory/memory.ts'
import type { Author } from './memory/ports.ts'
import type { Budget } from './memory/recall/context.ts'
import { searchPlaces } from './memory/recall/search.ts'
import { omitUndefined } from './omit-undefined.ts'
import type { Field, Fields, ValueOf } from './operations/field.ts'
import { fieldSchema } from './operations/schemas.ts'
import * as fields from './operations/shared-fields.ts'

type Argument = {
  readonly name: string
  /** A function if the schema depends on the value, so that an error is about the intended form. */
  readonly schema: z.ZodType | ((value: unknown) => z.ZodType)
}

/** A schema for every property of a type: an option that has none does not compile. */
type Shape<Options> = { readonly [Name in keyof Options]-?: z.ZodType<Exclude<Options[Name], undefined>> }

/**
 * An object with these properties and no others, all of them optional but those in `required`. Like the messages of the
 * custom schemas below, its error message lists the allowed properties.
 */
function object<Options>(shape: Shape<Options>, required: readonly (keyof Options)[] = []): z.ZodType<Options> {
  const properties = Object.entries<z.ZodType>(shape).map(([name, schema]) => {
    return [name, required.includes(name as keyof Options) ? schema : schema.optional()]
  })
  const known = Object.keys(shape).sort().join(', ')
  const error: z.core.$ZodErrorMap = ({ code }) => (code === 'unrecognized_keys' ? known : undefined)
  // `Shape` has made sure that the schemas are those of the type.
  return z.strictObject(Object.fromEntries(properties), { error }) as unknown as z.ZodType<Options>
}

type FieldSchemas<All> = { readonly [Name in keyof All]: z.ZodType<ValueOf<All[Name]>> }

/** The schemas of the fields of an operation. Only types are checked here; the memory itself checks the limits. */
const schemasOf = <All extends Fields>(all: All): FieldSchemas<All> =>
  // A schema for each of the fields.
  Object.fromEntries(
    Object.entries(all).map(([name, field]) => [name, fieldSchema(typeOf(field))]),
  ) as unknown as FieldSchemas<All>

const typeOf = ({ kind, choices, item, isNullable }: Field): Field => ({
  kind: kind === 'whole' ? 'number' : kind,
  presence: 'needed',
  ...omitUndefined({ choices, isNullable, item: item && typeOf(item) }),
})

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

const hasMethod = (value: unknown, name: string): boolean => isObject(value) && typeof value[name] === 'function'

const text = z.string()
const texts = z.array(text)
const flag = z.boolean()
const number = z.number()
const list = z.array(z.unknown())
const agent = text.nullable()
const wish = z.enum(['absent', 'present'])
const keptCase = z.strictObject({ id: z.string(), message: z.string(), scopes: texts, expect: texts, reject: texts })
const directory = z.custom<string>(
  (value) => typeof value === 'string' && value.trim() !== '',
  'the path of a directory',
)
const callback = z.custom<(value: unknown) => void>((value) => typeof value === 'function', 'a function')
const review = z.custom<NonNullable<api.UndoOptions['review']>>((value) => typeof value === 'function', 'a function')
const signal = z.custom<AbortSignal>((value) => value instanceof AbortSignal, 'an AbortSignal')
const openedMemory = z.custom<api.Memory>((value) => hasMethod(value, 'recall'), 'a memory')
const extractor = z.custom<Extractor>((value) => hasMethod(value, 'extract'), 'an extractor')

const key = { key: text }
const version = { expectedVersion: number }
const paging = { limit: number, offset: number }
const origin = { sourceId: text, model: text }
const period = { since: text, until: text }
const turnFilter = { scopes: texts, speaker: text, roles: z.array(z.enum(turnRoles)), ...period, containing: text }
const beliefFilter: Shape<Omit<BeliefFilter, 'user'>> = {
  scopes: texts,
  types: z.array(z.enum(beliefTypes)),
  statuses: z.array(z.enum(statuses)),
  pinned: flag,
  current: flag,
  proposals: flag,
  candidates: flag,
  recalled: flag,
}
const budget = object<Partial<Budget>>(schemasOf(fields.budget))
const recall: Shape<api.RecallOptions> = {
  scopes: texts,
  agent,
  budget,
  nearMisses: flag,
  asOf: text,
  editedPins: z.enum(['in-scope', 'everywhere']),
}
const depth = z.enum(expertiseDepths)
const expertise = object<NonNullable<Belief['expertise']>>({ domain: text, depth }, ['domain', 'depth'])
const turn = object<HeardTurn>(schemasOf(fields.heardTurn), ['text'])
const decision = object<Extract<api.ResolvedBy, { name: string }>>({ name: text, content: text, why: text }, [
  'name',
  'content',
])
const existing = object<{ readonly reference: string }>({ reference: text }, ['reference'])

const argument = (name: string, schema: Argument['schema'] = text): Argument => ({ name, schema })
const options = <Options>(shape: Shape<Options>): Argument => argument('options', object<Options>(shape).optional())
/** An argument that is an object and must be given, with those of its properties that must be given too. */
const requiredArgument = <Options>(
  name: string,
  required: readonly (keyof Options)[],
  shape: Shape<Options>,
): Argument => argument(name, object<Options>(shape, required))
const message = argument('message')
const query = argument('query')
const reference = argument('reference')
const keyed = options<api.KeyOption>(key)
const extent = { wholeChain: flag, keepTurns: flag }
const scoped = options<api.ScopeOption>({ scopes: texts })

const functions = {
  openMemory: [
    requiredArgument<MemoryOptions>('options', ['dir'], {
      dir: directory,
      store: text,
      user: text,
      scopes: texts,
      agent,
      author: object<Author>({ actor: z.enum(actorKinds), origin: text }, ['actor', 'origin']),
      busyTimeoutMs: number,
      mirror: flag,
      mirrorAuthority: z.enum(['document', 'person']),
      semantic: text,
      semanticModel: text,
      agentShare: number,
      recallBoldness: z.enum(['normal', 'quiet', 'eager']),
      onMirrorProblem: callback,
    }),
  ],
  renderContext: [
    argument('context', z.looseObject({ pinned: list, relevant: list, questions: list, quotes: list, perhaps: list })),
  ],
  shadowRecall: [
    argument('memory', openedMemory),
    requiredArgument<ShadowRecallOptions>('options', ['dir'], {
      dir: directory,
      evalStoreDir: directory,
      sessionKey: text,
      onProblem: callback,
    }),
  ],
} as const

const methods: { readonly [Name in keyof api.Memory]: readonly Argument[] } = {
  remember: [
    requiredArgument<api.Statement>('statement', ['content'], {
      ...schemasOf(fields.draft),
      ...origin,
      ...key,
      agent,
      expertise: expertise.nullable(),
      replace: flag,
    }),
  ],
  learn: [
    argument('text'),
    options<api.LearnOptions>({
      scopes: texts,
      saidAt: text,
      earlier: texts,
      sourceId: text,
      dryRun: flag,
      extractor,
      signal,
    }),
  ],
  hear: [
    argument('turns', (value) => (Array.isArray(value) ? z.array(turn) : turn)),
    options<api.HearOptions>({
      scopes: texts,
      learn: z.enum(['beliefs', 'review', 'nothing']),
      maxTurnCharacters: number,
      dryRun: flag,
      onProgress: callback,
      signal,
    }),
  ],
  turns: [options<api.TurnListOptions>({ session: text, ...turnFilter, ...paging })],
  turn: [reference],
  learnedFrom: [argument('turn')],
  conversations: [options<Omit<api.TurnListOptions, 'session'>>({ ...turnFilter, ...paging })],
  embedTexts: [options<api.EmbedOptions>({ limit: number, signal, onProgress: callback })],
  meaningStatus: [],
  forgetTurns: [
    requiredArgument<TurnSelection>('selection', [], { turn: text, session: text, ...period, containing: text }),
    options<api.ForgetTurnsOptions>({ ...key, dryRun: flag }),
  ],
  recall: [message, options(recall)],
  search: [
    query,
    options<api.SearchOptions>({
      in: z.enum(searchPlaces),
      scopes: texts,
      agent,
      types: beliefFilter.types,
      statuses: beliefFilter.statuses,
      isUnfinished: flag,
      includeRetired: flag,
      speaker: text,
      session: text,
      roles: turnFilter.roles,
      ...period,
      asOf: text,
      around: z.int().min(0).max(maxAround),
      ...paging,
    }),
  ],
  why: [message, reference, options(recall)],
  suggestAliases: [message, reference],
  whyTurn: [message, argument('turn'), options(recall)],
  giveFeedback: [reference, argument('verdict', z.enum(feedbackVerdicts))],
  feedback: [],
  remedies: [
    message,
    reference,
    requiredArgument<api.RemedyOptions>('options', ['wish'], {
      ...recall,
      wish,
      aliases: texts,
      cases: z.array(keptCase),
    }),
  ],
  correct: [
    reference,
    requiredArgument<api.Correction>('correction', ['content'], {
      ...schemasOf(fields.correction),
      ...origin,
      ...key,
      ...version,
      scopes: texts,
    }),
  ],
  reinforce: [reference, keyed],
  confirm: [reference, keyed],
  pin: [reference, keyed],
  unpin: [reference, keyed],
  addAliases: [reference, argument('aliases', texts), keyed],
  removeAliases: [reference, argument('aliases', texts), keyed],
  setWhy: [reference, argument('why'), keyed],
  edit: [
    reference,
    requiredArgument<Edits>('edits', [], {
      why: text,
      pinned: flag,
      addAliases: texts,
      removeAliases: texts,
      scopes: texts,
    }),
    options<api.EditOptions>({ ...key, ...version }),
  ],
  resolve: [
    argument('question'),
    argument('by', (value) => (isObject(value) && 'reference' in value ? existing : decision).optional()),
    keyed,
  ],
  forget: [reference, options<api.ForgetOptions>({ ...key, ...version, ...extent })],
  previewForget: [reference, options<api.ForgetExtent>(extent)],
  undo: [argument('event', number.optional()), options<api.UndoOptions>({ ...key, review })],
  get: [reference, scoped],
  list: [options<api.BeliefListOptions>({ ...beliefFilter, ...paging, order: z.enum(beliefOrders) })],
  find: [query, options<api.FindOptions>({ ...beliefFilter, ...paging })],
  history: [reference],
  events: [options<Partial<EventPage>>({ limit: number, before: number, hearing: flag })],
  scopes: [],
  proposals: [],
  candidates: [],
  review: [options<api.ReviewOptions>({ scopes: texts, ...paging })],
  accept: [argument('proposal'), options<api.KeyOption & { readonly over?: string }>({ ...key, over: text })],
  reject: [argument('proposal'), keyed],
  import: [
    argument('text'),
    options<api.ImportOptions>({
      source: text,
      scopes: texts,
      format: z.enum(['records', 'markdown']),
      trusted: flag,
      dryRun: flag,
    }),
  ],
  export: [options(beliefFilter)],
  exportTurns: [scoped],
  close: [],
}

/** Checks the arguments of a function of the library, and drops options that are undefined. */
export const checkedArguments = <Values extends readonly unknown[]>(
  name: keyof typeof functions,
  values: Values,
): Values => checkValues(name, functions[name], values)

/**
 * The same memory, whose methods refuse wrong types and unknown options with a MemoryError `invalid`, and report a file that
 * the system refused as `unavailable`.
 */
export function checkedMemory(memory: api.Memory): api.Memory {
  const calls = Object.entries(methods).map(([name, signature]) => {
    const call = memory[name as keyof api.Memory] as (...values: readonly unknown[]) => unknown
    const check = (values: readonly unknown[]) => checkValues(`memory.${name}`, signature, values)
    const stream = (...values: readonly unknown[]) => {
      // The methods that export return an AsyncIterable.
      const items = call(...check(values)) as AsyncIterable<unknown>
      return (async function* () {
        try {
          yield* items
        } catch (error) {
          throw expectedError(error) ?? error
        }
      })()
    }
    const promise = async (...values: readonly unknown[]) => {
      try {
        return await call(...check(values))
      } catch (error) {
        throw expectedError(error) ?? error
      }
    }
    return [name, name.startsWith('export') ? stream : promise]
  })
  // Each method calls the one of the same name with the same arguments.
  return Object.fromEntries(calls) as api.Memory
}

function checkValues<Values extends readonly unknown[]>(
  name: string,
  signature: readonly Argument[],
  values: Values,
): Values {
  if (values.length > signature.length) {
    const takes = signature.length === 1 ? '1 argument' : `${signature.length} arguments`
    throw invalid(`${name} takes ${takes}; ${values.length} were given.`, seeDocs)
  }
  for (const [at, { name: argumentName, schema }] of signature.entries()) {
    const result = (typeof schema === 'function' ? schema(values[at]) : schema).safeParse(values[at])
    const [issue] = result.error?.issues ?? []
    if (issue !== undefined) throw issueError(name, argumentName, issue, values[at])
  }
  // Only properties that are undefined are dropped, which the types allow.
  return values.map(withoutUndefined) as unknown as Values
}

const seeDocs = 'docs/api.md lists the arguments and options of every method.'

/** The names of arguments whose properties are the options of a method; an error names the property alone. */
const optionObjects = ['options', 'statement', 'correction', 'edits', 'selection']

function issueError(name: string, argumentName: string, issue: z.core.$ZodIssue, value: unknown): MemoryError {
  const placeOf = (path: readonly string[]): string =>
    (optionObjects.includes(argumentName) && path.length > 0 ? path : [argumentName, ...path]).join('.')
  const path = issue.path.map(String)
  if (issue.code === 'unrecognized_keys') {
    const [unknown = ''] = issue.keys
    const meant = didYouMean(unknown, issue.message.split(', '))
    const question = meant === undefined ? '' : ` Did you mean "${meant}"?`
    const message = `${name} has no option "${placeOf([...path, unknown])}".${question}`
    return invalid(message, `The options are ${issue.message}.`)
  }
  const wrong = path.reduce((inner: unknown, step) => (isObject(inner) ? inner[step] : undefined), value)
  return invalid(`${name}: ${placeOf(path)} is ${formatValue(wrong)}; it must be ${allowedBy(issue)}.`, seeDocs)
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
}

function allowedBy(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type') return typeNames[issue.expected] ?? issue.expected
  if (issue.code !== 'invalid_value') return issue.message
  return `${issue.values.length === 1 ? '' : 'one of '}${issue.values.join(', ')}`
}

/** A wrong value as an error message shows it. */
function formatValue(value: unknown): string {
  if (value === undefined) return 'missing'
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)
  if (typeof value === 'function') return 'a function'
  if (Array.isArray(value)) return 'a list'
  return isObject(value) ? 'an object' : String(value)
}

/** The same value without properties that are undefined, which plain JavaScript often passes for absent ones. */
function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined)
  if (!isObject(value) || Object.getPrototypeOf(value) !== Object.prototype) return value
  const given = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return Object.fromEntries(given.map(([name, inner]) => [name, withoutUndefined(inner)]))
}
