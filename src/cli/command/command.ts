import { MemoryError } from '../../errors.ts'
import type { Session } from '../session.ts'
import type { Part, Style } from '../text/output.ts'

/** The command line itself is wrong: an unknown option, a missing argument, a value out of range. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly hint: string | undefined
  /** The name of the command, once it is known. */
  command: string | undefined

  constructor(message: string, hint?: string) {
    super(message)
    this.hint = hint
  }
}

export const exitCodes = {
  fine: 0,
  failed: 1,
  usage: 2,
  /** Also used for every MemoryError. */
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
  4: 'cannot tell: nothing was compared, or the two sides cannot be compared',
  5: 'the store is degraded',
  70: 'a bug',
  130: 'interrupted',
}

/** An option, written `--name` in kebab case. */
export type Option<Value = unknown> = {
  readonly help: string
  /** The placeholder for its value in the help; null for a flag. */
  readonly value: string | null
  readonly isRepeatable: boolean
  /** The default as the help shows it. */
  readonly default?: string | undefined
  /** The former name of a renamed option. It is refused, with a hint to the new name. */
  readonly formerName?: string
  /** `texts` are the given values, in order; empty if the option is absent. */
  readonly read: (texts: readonly string[]) => Value
}

/** A positional argument. `words` joins all remaining words into one text; `rest` lists them, and may be empty. */
export type Argument<Value = unknown> = {
  readonly help: string
  readonly count: 'one' | 'optional' | 'words' | 'rest'
  /** Whether `-` means standard input. */
  readonly takesStdin: boolean
  /** The allowed values, if they are a fixed set. */
  readonly choices?: readonly string[]
  readonly read: (texts: readonly string[]) => Value
}

/** The result of a command: `--json` prints `document`, otherwise `text` is printed. */
export type CommandAnswer = Omit<DefaultAnswer, 'shown'> & {
  readonly text: (style: Style) => string | AsyncIterable<string>
  /** The text is data for programs, and is printed unchanged. In other texts, control characters are replaced. */
  readonly isData?: true
}

/** A result in the default format: a list is printed as a table, an object as one line per value. */
export type DefaultAnswer = {
  /** An async iterable is printed as an array, item by item. */
  readonly document: unknown
  /** Printed as text instead of the document. */
  readonly shown?: object
  /** Messages for standard error; those that are false are left out. */
  readonly notes?: readonly Part[]
  readonly exitCode?: ExitCode
}

/** The types of the parsed values of a set of options or arguments. */
export type ValuesOf<Specs> = {
  readonly [Name in keyof Specs]: Specs[Name] extends { readonly read: (texts: readonly string[]) => infer Value }
    ? Value
    : never
}

type Definition<Args, Options> = {
  /** In the order of the command line. */
  readonly args: Args
  readonly options: Options
  /** Follows the summary in the help. */
  readonly description?: string
  /** Command lines and their effects. */
  readonly examples: Readonly<Record<string, string>>
  /** Another program reads the output, so nothing is printed besides the answer. */
  readonly isForPrograms?: true
  readonly exitCodes?: readonly ExitCode[]
  /** For a command that must never fail for its caller: handles its error, after which the exit code is 0. */
  readonly failOpen?: (error: unknown, session: Session, argv: readonly string[]) => Promise<void>
  readonly run: (
    input: { readonly args: ValuesOf<Args>; readonly options: ValuesOf<Options> },
    session: Session,
  ) => Promise<CommandAnswer | DefaultAnswer>
}

/** The texts given for each argument and option, before parsing. */
export type GivenTexts = {
  readonly args: Readonly<Record<string, readonly string[]>>
  readonly options: Readonly<Record<string, readonly string[]>>
}

/** A command as main.ts runs it and help.ts describes it. Its name and summary are in the command table. */
export type Command = Omit<Definition<Readonly<Record<string, Argument>>, Readonly<Record<string, Option>>>, 'run'> & {
  readonly run: (given: GivenTexts, session: Session) => Promise<CommandAnswer & { readonly notes: readonly string[] }>
}

/** Defines a command. Its `run` gets the parsed arguments and options, typed by their definitions. */
export function defineCommand<
  const Args extends Readonly<Record<string, Argument>>,
  const Options extends Readonly<Record<string, Option>>,
>({ run, ...definition }: Definition<Args, Options>): Command {
  return {
    ...definition,
    run: async (given, session) => {
      const args = readAll(definition.args, given.args, (name) => `<${name}>`)
      const options = readAll(definition.options, given.options, (name) => `--${kebab(name)}`)
      const answer = await run({ args, options }, session)
      const text = 'text' in answer ? answer.text : defaultTextOf(answer)
      return { ...answer, text, notes: (answer.notes ?? []).flat().filter((note) => note !== false) }
    },
  }
}

const defaultTextOf = ({ document, shown = Object(document) }: DefaultAnswer) =>
  async function* (style: Style): AsyncGenerator<string> {
    const text = (await import('../text/default-text.ts')).defaultText(shown, style)
    yield text === '' ? '' : `${text}\n`
  }

function readAll<Specs extends Readonly<Record<string, { readonly read: (texts: readonly string[]) => unknown }>>>(
  specs: Specs,
  texts: Readonly<Record<string, readonly string[]>>,
  label: (name: string) => string,
): ValuesOf<Specs> {
  const values = Object.entries(specs).map(([name, { read }]) => {
    try {
      return [name, read(texts[name] ?? [])]
    } catch (error) {
      const isWrongValue = error instanceof UsageError || (error instanceof MemoryError && error.code === 'invalid')
      throw isWrongValue ? new UsageError(`${label(name)}: ${error.message}`, error.hint) : error
    }
  })
  // Each value was returned by the `read` function under its name.
  return Object.fromEntries(values) as ValuesOf<Specs>
}

/** `maxBeliefs` is written `--max-beliefs`. */
export const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
