import { type ErrorCode, MemoryError } from '../../errors.ts'
import type { Session } from '../session.ts'
import type { Style } from '../text/output.ts'

/** The command line itself is wrong: an unknown option, a missing argument, a value out of range. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly hint: string | undefined
  /** The command it was meant for, once that is known. */
  command: string | undefined

  constructor(message: string, hint?: string) {
    super(message)
    this.hint = hint
  }
}

/** What a command's end means to whoever started it. */
export const exitCodes = {
  fine: 0,
  failed: 1,
  usage: 2,
  invalid: 3,
  nothingCompared: 4,
  degraded: 5,
  bug: 70,
  interrupted: 130,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

export const exitCodeMeanings: Readonly<Record<ExitCode, string>> = {
  0: 'fine',
  1: 'cases failed or a regression',
  2: 'wrong usage',
  3: 'invalid input, or a memory that cannot be used',
  4: 'cannot tell: nothing was compared, or not what can be compared',
  5: 'the store is degraded',
  70: 'a bug',
  130: 'interrupted',
}

/** An error a caller is expected to handle, as an exit code. */
export const exitCodeOf: Readonly<Record<ErrorCode, ExitCode>> = {
  invalid: exitCodes.invalid,
  not_found: exitCodes.invalid,
  conflict: exitCodes.invalid,
  forbidden: exitCodes.invalid,
  unavailable: exitCodes.invalid,
}

/** An option: how it is written, and what its texts mean. Its name is `--name`, in kebab case. */
export type Option<Value = unknown> = {
  readonly help: string
  /** What stands for the value in the help; null for a flag, which takes none. */
  readonly value: string | null
  readonly isRepeatable: boolean
  /** As the help shows it. */
  readonly default?: string
  /** `texts` are the values given, in order; none when the option is absent. */
  readonly read: (texts: readonly string[]) => Value
}

/** An argument, by its place. `words` are all that is left, as one text; `rest` are all that is left, perhaps none. */
export type Argument<Value = unknown> = {
  readonly help: string
  readonly count: 'one' | 'optional' | 'words' | 'rest'
  /** Whether `-` stands for what comes in on standard input. */
  readonly takesStdin: boolean
  /** What may stand here, where that is a fixed set. */
  readonly choices?: readonly string[]
  readonly read: (texts: readonly string[]) => Value
}

/** What a command found out. `--json` prints `document`, people read `text`. */
export type Answer = {
  /** An async iterable is printed as an array, item by item. */
  readonly document: unknown
  readonly text: (style: Style) => string | AsyncIterable<string>
  /** Talk that is not part of the answer; goes to standard error. */
  readonly notes?: readonly string[]
  readonly exitCode?: ExitCode
}

export type Example = { readonly command: string; readonly effect: string }

type Values<Specs> = {
  readonly [Name in keyof Specs]: Specs[Name] extends { readonly read: (texts: readonly string[]) => infer Value }
    ? Value
    : never
}

type Definition<Args, Options> = {
  /** In the order in which they stand. */
  readonly args: Args
  readonly options: Options
  /** More than the summary says, where that is needed. */
  readonly description?: string
  readonly examples: readonly [Example, Example, ...Example[]]
  /** It talks to another program, not to a person, so nothing is said besides its answer. */
  readonly isForPrograms?: true
  /** Exit codes that only some commands have. */
  readonly exitCodes?: readonly ExitCode[]
  /**
   * For a command that must never stand in the way of the program that runs it: told what went wrong, after which the
   * command counts as fine and nothing is said.
   */
  readonly failOpen?: (error: unknown, session: Session, argv: readonly string[]) => Promise<void>
  readonly run: (
    input: { readonly args: Values<Args>; readonly options: Values<Options> },
    session: Session,
  ) => Promise<Answer>
}

/** The texts given for each argument and option, before anybody has looked at what they mean. */
export type GivenTexts = {
  readonly args: Readonly<Record<string, readonly string[]>>
  readonly options: Readonly<Record<string, readonly string[]>>
}

/** A command as the frame sees it: it can be described, and run with texts. Its name and summary are in the table. */
export type Command = Omit<Definition<Readonly<Record<string, Argument>>, Readonly<Record<string, Option>>>, 'run'> & {
  readonly run: (given: GivenTexts, session: Session) => Promise<Answer>
}

/** Makes a command whose `run` gets every argument and option in the type its definition says. */
export function defineCommand<
  const Args extends Readonly<Record<string, Argument>>,
  const Options extends Readonly<Record<string, Option>>,
>({ run, ...definition }: Definition<Args, Options>): Command {
  return {
    ...definition,
    run: async (given, session) =>
      run(
        {
          args: readAll(definition.args, given.args, (name) => `<${name}>`),
          options: readAll(definition.options, given.options, (name) => `--${kebab(name)}`),
        },
        session,
      ),
  }
}

function readAll<Specs extends Readonly<Record<string, { readonly read: (texts: readonly string[]) => unknown }>>>(
  specs: Specs,
  texts: Readonly<Record<string, readonly string[]>>,
  label: (name: string) => string,
): Values<Specs> {
  const values = Object.entries(specs).map(([name, { read }]) => {
    try {
      return [name, read(texts[name] ?? [])]
    } catch (error) {
      const isWrongValue = error instanceof UsageError || (error instanceof MemoryError && error.code === 'invalid')
      throw isWrongValue ? new UsageError(`${label(name)}: ${error.message}`, error.hint) : error
    }
  })
  // Each value was made by the `read` of the same name.
  return Object.fromEntries(values) as Values<Specs>
}

/** `maxBeliefs` is written `--max-beliefs`. */
export const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

export const flag = (help: string): Option<boolean> => ({
  help,
  value: null,
  isRepeatable: false,
  read: (texts) => texts.length > 0,
})

export const text = (value: string, help: string): Option<string | undefined> => option(value, help, (given) => given)

/** An option that may be given several times. */
export const texts = (value: string, help: string): Option<readonly string[]> => ({
  help,
  value,
  isRepeatable: true,
  read: (given) => given,
})

/** An option whose text means something else. `read` throws a MemoryError `invalid` or a UsageError for a wrong one. */
export const option = <Value>(
  value: string,
  help: string,
  read: (text: string) => Value,
): Option<Value | undefined> => ({
  help,
  value,
  isRepeatable: false,
  read: ([given]) => (given === undefined ? undefined : read(given)),
})

export const choice = <const Value extends string>(
  value: string,
  allowed: readonly Value[],
  help: string,
): Option<Value | undefined> => option(value, `${help} One of ${allowed.join(', ')}.`, (given) => oneOf(allowed, given))

/** Several values of a fixed set, by giving the option several times. */
export const choices = <const Value extends string>(
  value: string,
  allowed: readonly Value[],
  help: string,
): Option<readonly Value[]> => ({
  help: `${help} One of ${allowed.join(', ')}.`,
  value,
  isRepeatable: true,
  read: (given) => given.map((one) => oneOf(allowed, one)),
})

type Range = { readonly min: number; readonly max?: number; readonly default?: number }

export const wholeNumber = (help: string, range: Range): Option<number | undefined> => ({
  ...option('<number>', help, (given) => readWholeNumber(given, range)),
  ...(range.default === undefined ? {} : { default: String(range.default) }),
})

export function readWholeNumber(given: string, { min, max = Number.MAX_SAFE_INTEGER }: Range): number {
  const number = /^\d+$/.test(given) ? Number(given) : Number.NaN
  if (number >= min && number <= max) return number
  const allowed = max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `from ${min} to ${max}`
  throw new UsageError(`"${given}" is not a whole number ${allowed}.`)
}

function oneOf<Value extends string>(allowed: readonly Value[], given: string): Value {
  const found = allowed.find((value) => value === given)
  if (found !== undefined) return found
  throw new UsageError(`"${given}" is not one of ${allowed.join(', ')}.`)
}

export const one = (help: string): Argument<string> => ({
  help,
  count: 'one',
  takesStdin: false,
  read: ([given]) => given as string,
})

/** One text, which `-` reads from standard input. */
export const oneText = (help: string): Argument<string> => ({ ...one(`${help} ${stdinHelp}`), takesStdin: true })

const stdinHelp = '- reads it from standard input.'

export const optional = (help: string): Argument<string | undefined> => ({
  help,
  count: 'optional',
  takesStdin: false,
  read: ([given]) => given,
})

export const optionalChoice = <const Value extends string>(
  allowed: readonly Value[],
  help: string,
): Argument<Value | undefined> => ({
  help,
  count: 'optional',
  takesStdin: false,
  choices: allowed,
  read: ([given]) => (given === undefined ? undefined : oneOf(allowed, given)),
})

/** Everything that is left, as one text, so that quotes are not needed; `-` reads it from standard input. */
export const words = (help: string): Argument<string> => ({
  help: `${help} ${stdinHelp}`,
  count: 'words',
  takesStdin: true,
  read: (given) => given.join(' '),
})

export const rest = (help: string): Argument<readonly string[]> => ({
  help,
  count: 'rest',
  takesStdin: false,
  read: (given) => given,
})
