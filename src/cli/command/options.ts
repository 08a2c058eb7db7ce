import { actorKinds } from '../../beliefs/belief.ts'
import { parseScopes } from '../../beliefs/scope.ts'
import { findNearestName } from '../../did-you-mean.ts'
import { parseTime } from '../../local-time.ts'
import type { Author } from '../../memory/ports.ts'
import type { Field, Fields } from '../../operations/field.ts'
import { type Argument, type Option, UsageError } from './command.ts'

export const flag = (help: string): Option<boolean> => ({
  help,
  value: null,
  isRepeatable: false,
  read: (texts) => texts.length > 0,
})

export const text = (value: string, help: string, otherwise?: string): Option<string | undefined> =>
  option(value, help, (given) => given, otherwise)

/** An option that may be given several times. */
export const texts = (value: string, help: string, otherwise?: string): Option<readonly string[]> => ({
  help,
  value,
  default: otherwise,
  isRepeatable: true,
  read: (given) => given,
})

/**
 * An option whose text is parsed. `read` throws a UsageError or a MemoryError `invalid` if the text is invalid; `otherwise`
 * is the default as shown in the help.
 */
export const option = <Value>(
  value: string,
  help: string,
  read: (text: string) => Value,
  otherwise?: string,
): Option<Value | undefined> => ({
  help,
  value,
  default: otherwise,
  isRepeatable: false,
  read: ([given]) => (given === undefined ? undefined : read(given)),
})

export const choice = <const Value extends string>(
  value: string,
  allowed: readonly Value[],
  help: string,
  otherwise?: string,
): Option<Value | undefined> =>
  option(value, `${help} One of ${allowed.join(', ')}.`, (given) => oneOf(allowed, given), otherwise)

type Range = { readonly min?: number; readonly max?: number }

export const wholeNumber = (help: string, range: Range & { readonly default?: number }): Option<number | undefined> =>
  option('<number>', help, (given) => readWholeNumber(given, range), range.default?.toString())

export function readWholeNumber(given: string, { min = 0, max = Number.MAX_SAFE_INTEGER }: Range): number {
  const number = /^\d+$/.test(given) ? Number(given) : Number.NaN
  if (number >= min && number <= max) return number
  const allowed = max === Number.MAX_SAFE_INTEGER ? `of ${min} or more` : `from ${min} to ${max}`
  throw new UsageError(`"${given}" is not a whole number ${allowed}.`)
}

export const share = (value: string, help: string, otherwise: string): Option<number | undefined> =>
  option(value, help, readShare, otherwise)

function readShare(given: string): number {
  const number = Number(given.trim() || Number.NaN)
  if (number >= 0 && number <= 1) return number
  throw new UsageError(`"${given}" is not a number from 0 to 1.`)
}

export function oneOf<Value extends string>(allowed: readonly Value[], given: string): Value {
  const found = allowed.find((value) => value === given)
  if (found !== undefined) return found
  const meant = findNearestName(given, allowed)
  throw new UsageError(
    `"${given}" is not one of ${allowed.join(', ')}.`,
    meant === undefined ? undefined : `Did you mean ${meant}?`,
  )
}

type FieldValue<Value, Presence> = Value extends boolean
  ? boolean
  : Value extends readonly unknown[]
    ? Value
    : Value | (Presence extends 'default' ? never : undefined)
type FieldOption<One> =
  One extends Field<infer Value, infer Presence> ? Option<FieldValue<Exclude<Value, null>, Presence>> : never

/** Options for fields of an operation, with the help, choices, limits and default of each field. */
export const fieldOptions = <All extends Fields, Name extends keyof All & string>(fields: All, ...names: Name[]) =>
  Object.fromEntries(
    names.map((name) => [name, fieldOption(fields[name] as All[Name], placeholderOf(name, fields))]),
  ) as {
    readonly [One in Name]: FieldOption<All[One]>
  }

const placeholderOf = (name: string, fields: Fields): string => (fields[name]?.kind === 'text' ? '<text>' : `<${name}>`)

/** The option for a field of an operation; repeatable if the field is a list. `value`: the placeholder in the help. */
export function fieldOption<One extends Field>(field: One, value = ''): FieldOption<One> {
  const { kind, help = '', choices = field.item?.choices, default: otherwise } = field
  const readOne = (given: string): unknown => {
    if (choices !== undefined) return oneOf(choices, given)
    if (kind === 'whole') return readWholeNumber(given, field)
    return kind === 'number' ? readShare(given) : given
  }
  const read = (given: readonly string[]): unknown => {
    if (kind === 'flag') return given.length > 0
    if (kind === 'list') return given.map(readOne)
    return given[0] === undefined ? otherwise : readOne(given[0])
  }
  const isNumber = kind === 'whole' || kind === 'number'
  const allowed = choices === undefined ? '' : ` One of ${choices.join(', ')}.`
  const described: Option = {
    help: `${help}${allowed}${kind === 'list' ? ' May be given several times.' : ''}`,
    value: kind === 'flag' ? null : isNumber ? '<number>' : value,
    isRepeatable: kind === 'list',
    default: kind === 'flag' ? undefined : otherwise?.toString(),
    read,
  }
  // `read` returns values of the field's kind.
  return described as FieldOption<One>
}

const argument =
  <Value>(count: Argument['count'], read: Argument<Value>['read']) =>
  (help: string): Argument<Value> => ({ help, count, takesStdin: false, read })

export const one = argument('one', ([given]) => given as string)
export const optional = argument('optional', ([given]) => given)
export const rest = argument('rest', (given) => given)

/** `-` reads the argument from standard input. */
const orStdin = (base: Argument<string>): Argument<string> => ({
  ...base,
  help: `${base.help} - reads it from standard input.`,
  takesStdin: true,
})

export const oneText = (help: string): Argument<string> => orStdin(one(help))
/**
 * An argument whose text is stored as the person's statement. Rejects U+FFFD, with which Node replaces bytes that are not
 * UTF-8.
 */
export const stated = (base: Argument<string>): Argument<string> => ({
  ...base,
  read: (given) => {
    const text = base.read(given)
    if (!text.includes('\uFFFD')) return text
    throw new UsageError('The text is not UTF-8.', 'Convert it, for example with iconv, and pass it on standard input.')
  },
})

/** All remaining words as one text, so that quotes are not needed. */
export const words = (help: string): Argument<string> => orStdin(argument('words', (given) => given.join(' '))(help))

export const optionalChoice = <const Value extends string>(
  allowed: readonly Value[],
  help: string,
): Argument<Value | undefined> => ({
  ...argument('optional', ([given]) => (given === undefined ? undefined : oneOf(allowed, given)))(help),
  choices: allowed,
})

export const beliefHelp = 'The belief: its id, the beginning of its id, its name or an alias.'
export const belief = one(beliefHelp)
export const optionalBelief = (more = ''): Argument<string | undefined> => optional(`${beliefHelp}${more}`)

export const memoryOptions = {
  dir: text(
    '<directory>',
    'The memory directory.',
    "CREDENCE_DIR, else ./memory if it is trusted, else credence in the user's data directory",
  ),
  store: text(
    '<address>',
    'The PostgreSQL store, postgres://user:password@host/database.',
    'CREDENCE_STORE, else SQLite in the memory directory',
  ),
  user: text('<name>', 'The user whose memory is used.', 'CREDENCE_USER, else the setting `user`, else local'),
}

export const scopes = (help: string, otherwise: string): { readonly scope: Option<readonly string[]> } => ({
  scope: {
    ...texts('<scope>', `${help} May be given several times.`, otherwise),
    read: (given) => (given.length === 0 ? [] : parseScopes(given)),
  },
})
const activeScopes = 'the project of the working directory, and user:universal'

/** The scopes that a recall searches. */
export const viewOptions = scopes(
  'A scope to recall from, such as project:ledger/api; the scopes that contain it (project:ledger) are included.',
  activeScopes,
)
/** Limits a list of beliefs to scopes. */
export const filterOptions = scopes('Only beliefs of this scope.', 'every scope')
/** Selects the belief if several have the given name. */
export const referenceOptions = scopes('Where to look first if several beliefs have the name.', activeScopes)
/** The scopes of a new belief or turn. */
export const targetOptions = scopes(
  'The scope it belongs to, such as domain:code.',
  'the project of the working directory; outside of a repository user:universal',
)

const time = (name: 'since' | 'until', help: string): Option<string | undefined> =>
  option('<date>', help, (given) => new Date(parseTime(name, given)).toISOString())

export const timeOptions = {
  since: time('since', 'Only turns of this day or later.'),
  until: time('until', 'Only turns up to this day.'),
}

/** An option for a day or a time. It is checked, but returned as it was given. */
export const date = (value: string, help: string, otherwise?: string): Option<string | undefined> =>
  option(value, help, readDate, otherwise)

function readDate(given: string): string {
  parseTime('since', given)
  return given
}

export const authorOptions = {
  as: option(
    '<who>',
    'Who is writing: person, agent:NAME, document:NAME, tool:NAME or model:NAME.',
    readAuthor,
    'person',
  ),
}

export const readerOptions = {
  agent: text('<name>', 'The agent that asks; beliefs that only this agent can see are included.'),
}

export const keyOptions = {
  key: text('<text>', 'Makes a retry harmless: the same request with the same key has one effect.'),
}

/** The values of `--extractor`. */
export const extractorForms = 'rules, openai:<model>[@<url>] or anthropic:<model>[@<url>]'

export const readOptions = { ...viewOptions, ...readerOptions, ...memoryOptions }
export const writeOptions = { ...targetOptions, ...memoryOptions, ...authorOptions }
export const changeOptions = { ...referenceOptions, ...memoryOptions, ...authorOptions, ...keyOptions }

export const defaultAuthor: Author = { actor: 'person', origin: 'cli' }

function readAuthor(who: string): Author {
  if (who === 'person') return defaultAuthor
  const [, kind, origin] = who.match(/^([a-z]+):(\S.*)$/) ?? []
  const actor = actorKinds.find((known) => known === kind && known !== 'person')
  if (actor !== undefined && origin !== undefined) return { actor, origin }
  throw new UsageError(`Unknown author "${who}".`, 'Use person, agent:NAME, document:NAME, tool:NAME or model:NAME.')
}
