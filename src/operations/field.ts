import { omitUndefined } from '../omit-undefined.ts'

/**
 * A field of the input of an operation, as plain data. HTTP and MCP derive a schema from it (schemas.ts), and the command line
 * derives an option, so that limits, default and help are defined once. This file must not import a schema library, which
 * hooks and a one-shot `recall` do not need.
 */
export type Field<Value = unknown, Presence extends 'needed' | 'optional' | 'default' = Presences> = {
  readonly kind: 'text' | 'whole' | 'number' | 'flag' | 'choice' | 'list' | 'object'
  readonly help?: string
  /** The limits for the length of a text or list, or the value of a number. */
  readonly min?: number
  readonly max?: number
  /** Whether the text must have more than white space. */
  readonly isNotBlank?: boolean
  readonly choices?: readonly string[]
  /** The items of a list. */
  readonly item?: Field
  /** The fields of an object. */
  readonly fields?: Fields
  readonly isNullable?: boolean
  readonly presence: Presence
  readonly default?: Value
  /**
   * What the value names. Agents may only name scopes and beliefs in view. `view` is a scope too, but if an agent names none, all
   * scopes in view are used.
   */
  readonly names?: 'scope' | 'view' | 'belief'
  /** Never set; only carries the type. */
  readonly value?: Value
}
type Presences = 'needed' | 'optional' | 'default'

export type Fields = Readonly<Record<string, Field>>

export type ValueOf<One> = One extends Field<infer Value> ? Value : never

type NamesWith<All, Presence extends Presences> = {
  [Name in keyof All]: All[Name] extends { readonly presence: Presence } ? Name : never
}[keyof All]

/** The values of fields as an operation receives them, with defaults filled in. */
export type InputOf<All> = {
  readonly [Name in NamesWith<All, 'needed' | 'default'>]: ValueOf<All[Name]>
} & { readonly [Name in NamesWith<All, 'optional'>]?: ValueOf<All[Name]> }

/** The values of fields as a client sends them. */
export type SentOf<All> = {
  readonly [Name in NamesWith<All, 'needed'>]: Loose<ValueOf<All[Name]>>
} & { readonly [Name in NamesWith<All, 'optional' | 'default'>]?: Loose<ValueOf<All[Name]>> | undefined }

/** The same type, but optional properties may also be undefined. */
type Loose<Value> = Value extends readonly (infer Item)[]
  ? readonly Loose<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: Loose<Value[Name]> | (object extends Pick<Value, Name> ? undefined : never) }
    : Value

type Needed<Value> = Field<Value, 'needed'>

type Given<Value> = { readonly [Name in keyof Omit<Field<Value>, 'presence'>]: Field<Value>[Name] | undefined }

/** Builds a required field, without undefined properties. */
const requiredField = <Value>(given: Given<Value> & Pick<Field, 'kind'>): Needed<Value> =>
  omitUndefined({ ...given, presence: 'needed' }) as Needed<Value>

type Limits = { readonly min?: number; readonly max?: number }

/** A text of at most `max` characters. Without `max`, the operation itself shortens or refuses long texts. */
export const text = (max?: number, help?: string, min?: number): Needed<string> =>
  requiredField({ kind: 'text', max, min, help })

export const choice = <const Value extends string>(choices: readonly Value[], help?: string): Needed<Value> =>
  requiredField({ kind: 'choice', choices, help })

export const whole = (limits: Limits & { readonly min: number }, help?: string): Needed<number> =>
  requiredField({ kind: 'whole', ...limits, help })

/** A number from 0 to 1. */
export const share = (help?: string): Needed<number> => requiredField({ kind: 'number', min: 0, max: 1, help })

export const flag = (help?: string): Needed<boolean> => requiredField({ kind: 'flag', help })

export const list = <Value>(item: Field<Value>, limits: Limits = {}, help?: string): Needed<readonly Value[]> =>
  requiredField({ kind: 'list', item, ...limits, help })

export const object = <const All extends Fields>(fields: All, help?: string): Needed<InputOf<All>> =>
  requiredField({ kind: 'object', fields, help })

export const optional = <Value>(field: Needed<Value>, help = field.help): Field<Value, 'optional'> =>
  // `omitUndefined` removes `help` if it is undefined.
  omitUndefined({ ...field, presence: 'optional', help }) as Field<Value, 'optional'>

/** Makes a field optional, with a default value. `help` replaces its description. */
export const withDefault = <Value>(field: Needed<Value>, value: Value, help = field.help): Field<Value, 'default'> =>
  omitUndefined({ ...field, presence: 'default', default: value, help }) as Field<Value, 'default'>

export const nullable = <Value>(field: Needed<Value>): Needed<Value | null> => ({ ...field, isNullable: true })

/** Max items of a list in one answer. */
export const maxItems = 200

export const paging = (defaultLimit: number) => ({
  limit: withDefault(whole({ min: 1, max: maxItems }), defaultLimit),
  offset: withDefault(whole({ min: 0, max: 1_000_000_000 }), 0),
})

const scope: Needed<string> = { ...text(200), names: 'scope' }
/** The scopes of an item, or the active scopes. */
export const scopes = (help: string): Needed<readonly string[]> => list(scope, { min: 1, max: 50 }, help)
export const oneScope = (help: string): Needed<string> => ({ ...scope, help })
/** A filter by scopes; for an agent, the default is all scopes in view. */
export const scopesInView = (help: string): Field<readonly string[], 'optional'> =>
  optional(list({ ...text(200), names: 'view' } as Needed<string>, { max: 50 }, help))
export const scopeFilter = optional(list(scope, { max: 50 }, 'Of any of these scopes.'))

/** The whole id of a belief. */
export const beliefId: Needed<string> = { ...text(200), names: 'belief' }
export const turnId = text(200)
export const version = whole(
  { min: 1 },
  'The version that was looked at. If the belief has changed since, nothing is done: 409.',
)
export const time = (help: string) => optional(text(40, help))
export const message = text(
  undefined,
  "The person's message to the agent. If it has more than 32,000 characters, only the first and last 16,000 are read.",
)
