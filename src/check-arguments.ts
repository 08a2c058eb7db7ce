import { findNearestName } from './did-you-mean.ts'
import { expectedError, invalid, type MemoryError } from './errors.ts'
import { isObject } from './json.ts'
import signatures from './library-arguments.json' with { type: 'json' }
import type { Memory } from './memory/memory.ts'

/** The subset of JSON Schema that `npm run docs` generates from the library's types, extended by objects with methods. */
type Schema = {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  /** The name of a type with these methods. */
  readonly instance?: string
  readonly methods?: readonly string[]
}

type Argument = { readonly name: string; readonly isOptional?: true; readonly schema: Schema }
type Signatures = Readonly<Record<string, readonly Argument[]>>

/** Checks the argument types of a library function, and drops undefined options. */
export function checkArguments<Values extends readonly unknown[]>(name: string, values: Values): Values {
  const signature = (signatures as Signatures)[name] ?? []
  if (values.length > signature.length) {
    const takes = signature.length === 1 ? '1 argument' : `${signature.length} arguments`
    throw invalid(`${name} takes ${takes}; ${values.length} were given.`, seeDocs)
  }
  for (const [at, argument] of signature.entries()) {
    if (argument.isOptional && values[at] === undefined) continue
    // Error messages name an option alone, without the argument that contains it.
    const path = optionObjects.includes(argument.name) ? [] : [argument.name]
    checkValue(values[at], argument.schema, { name, path, argument: argument.name })
  }
  // Only optional properties can be undefined after the check, so the values still match their types.
  return values.map(withoutUndefined) as unknown as Values
}

/** The names of arguments that are objects of options. */
const optionObjects = ['options', 'statement', 'correction', 'edits', 'selection']

const seeDocs = 'docs/api.md lists the arguments and options of every method.'

type Place = { readonly name: string; readonly path: readonly string[]; readonly argument: string }

/** Throws a MemoryError `invalid` if a value does not match the type of a schema. The memory itself checks limits. */
function checkValue(value: unknown, schema: Schema, place: Place): void {
  const alternative = alternativeFor(value, schema)
  if (!hasKind(value, alternative)) throw wrongValue(value, schema, place)
  const within = (step: string): Place => ({ ...place, path: [...place.path, step] })
  if (Array.isArray(value))
    for (const [at, item] of value.entries()) checkValue(item, alternative.items ?? {}, within(String(at)))
  if (alternative.properties === undefined || !isObject(value)) return
  const { properties, required = [] } = alternative
  for (const [name, inner] of Object.entries(value)) {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (known === undefined) throw unknownOption(name, Object.keys(properties), within(name))
    if (inner !== undefined) checkValue(inner, known, within(name))
  }
  for (const name of required)
    if (value[name] === undefined) throw wrongValue(undefined, properties[name] ?? {}, within(name))
}

/** The alternative that was probably meant: it has the same kind as the value, and the most properties in common with it. */
function alternativeFor(value: unknown, schema: Schema): Schema {
  const known = ({ properties = {} }: Schema): number =>
    isObject(value) ? Object.keys(value).filter((name) => Object.hasOwn(properties, name)).length : 0
  const [nearest] = (schema.anyOf ?? []).filter((one) => hasKind(value, one)).sort((a, b) => known(b) - known(a))
  return nearest ?? schema
}

function hasKind(value: unknown, { type, enum: choices, const: only, anyOf, instance, methods = [] }: Schema): boolean {
  if (choices !== undefined) return choices.some((choice) => choice === value)
  if (only !== undefined) return value === only
  if (anyOf !== undefined) return anyOf.some((alternative) => hasKind(value, alternative))
  if (instance !== undefined)
    return (
      typeof value === 'object' &&
      value !== null &&
      methods.every((name) => typeof Reflect.get(value, name) === 'function')
    )
  if (type === 'array') return Array.isArray(value)
  if (type === 'null') return value === null
  if (type === 'object') return isObject(value)
  return type === undefined || (typeof value === type && !Number.isNaN(value))
}

function wrongValue(value: unknown, schema: Schema, { name, path, argument }: Place): MemoryError {
  const at = path.length === 0 ? argument : path.join('.')
  return invalid(`${name}: ${at} is ${formatValue(value)}; it must be ${kindText(schema)}.`, seeDocs)
}

function unknownOption(option: string, known: readonly string[], { name, path }: Place): MemoryError {
  const meant = findNearestName(option, known)
  const question = meant === undefined ? '' : ` Did you mean "${meant}"?`
  const hint = `The options are ${[...known].sort().join(', ')}.`
  return invalid(`${name} has no option "${path.join('.')}".${question}`, hint)
}

const kindNames: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  function: 'a function',
}

function kindText({ type = '', enum: choices, const: only, anyOf, instance }: Schema): string {
  if (choices !== undefined) return `one of ${choices.join(', ')}`
  if (instance !== undefined) return `${/^[AEIOU]/u.test(instance) ? 'an' : 'a'} ${instance}`
  if (anyOf !== undefined) return [...new Set(anyOf.map(kindText))].join(' or ')
  return only === undefined ? (kindNames[type] ?? type) : String(only)
}

/** Formats a wrong value for an error message. */
function formatValue(value: unknown): string {
  if (value === undefined) return 'missing'
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)
  if (typeof value === 'function') return 'a function'
  if (Array.isArray(value)) return 'a list'
  return isObject(value) ? 'an object' : String(value)
}

/** Removes undefined properties, which plain JavaScript often passes instead of omitting them. */
function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined)
  if (!isObject(value) || Object.getPrototypeOf(value) !== Object.prototype) return value
  const given = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return Object.fromEntries(given.map(([name, inner]) => [name, withoutUndefined(inner)]))
}

/**
 * Wraps a memory. Its methods refuse wrong types and unknown options with a MemoryError `invalid`, and report errors of the
 * file system as `unavailable`.
 */
export function checkMemoryCalls(memory: Memory): Memory {
  const calls = Object.keys(memory).map((name) => {
    const call = memory[name as keyof Memory] as (...values: readonly unknown[]) => unknown
    const check = (values: readonly unknown[]) => checkArguments(`memory.${name}`, values)
    const stream = (...values: readonly unknown[]) => {
      // Only the export methods use `stream`; they return an AsyncIterable.
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
  // Each wrapper calls the method of the same name with the same arguments.
  return Object.fromEntries(calls) as Memory
}
