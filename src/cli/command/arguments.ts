import { parseArgs } from 'node:util'
import { findNearestName } from '../../did-you-mean.ts'
import { type CommandEntry, removedCommands } from '../command-table.ts'
import { type Command, type GivenTexts, kebab, type Option, UsageError } from './command.ts'

export const everywhere = {
  json: { help: 'Print one JSON document on standard output and nothing else.', value: null },
  help: { help: 'Show this help.', value: null },
} as const

/** Options with a value that may precede the command's name. */
const leading: readonly string[] = ['dir', 'store', 'evals', 'user', 'scope', 'as', 'agent']

/** The parsed command line. `argv` does not contain the words of the command's name. */
type Request =
  | { readonly kind: 'version' }
  | { readonly kind: 'help' | 'nothing'; readonly topic: readonly string[] }
  | { readonly kind: 'command'; readonly entry: CommandEntry; readonly argv: readonly string[] }

/** Finds the command, which may follow options. */
export function readRequest(argv: readonly string[], table: readonly CommandEntry[]): Request {
  const options = Object.fromEntries(leading.map((name) => [name, { type: 'string' as const }]))
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, allowPositionals: true, tokens: true })
  const positionals = tokens.flatMap((token) => (token.kind === 'positional' ? [token] : []))
  const end = tokens.find((token) => token.kind === 'option-terminator')?.index ?? argv.length
  const has = (...names: readonly string[]): boolean => argv.slice(0, end).some((text) => names.includes(text))
  const wantsHelp = has('--help', '-h')

  const [first, second] = positionals.filter(({ index }) => index < end)
  if (first === undefined) {
    if (has('--version', '-V', '-v')) return { kind: 'version' }
    const known = [...leading, 'json', 'help', 'version']
    const unknown = tokens.find((token) => token.kind === 'option' && !known.concat('h').includes(token.name))
    if (unknown?.kind === 'option') throw unknownOption(unknown.rawName, {}, known)
    return { kind: wantsHelp ? 'help' : 'nothing', topic: [] }
  }
  if (first.value === 'help') return { kind: 'help', topic: positionals.slice(1).map(({ value }) => value) }

  const isGroup = table.some(({ name, aliases = [] }) =>
    [name, ...aliases].some((known) => known.startsWith(`${first.value} `)),
  )
  // The first word alone may also be a command, as in `import FILE` and `import chats FILE`.
  const isInGroup =
    second !== undefined &&
    (findCommand(`${first.value} ${second.value}`, table) !== undefined ||
      findCommand(first.value, table) === undefined)
  // `import chat FILE` is a misspelt `import chats`, because `import FILE` takes one file.
  if (isGroup && !isInGroup && second !== undefined && positionals.length > 2) {
    const members = table.filter(({ name }) => name.startsWith(`${first.value} `))
    const written = `${first.value} ${second.value}`
    if (
      findNearestName(
        written,
        members.map(({ name }) => name),
      ) !== undefined
    )
      throw unknownCommand(written, members)
  }
  const named = isGroup && isInGroup ? [first, second] : [first]
  const topic = named.map(({ value }) => value)
  if (wantsHelp) return { kind: 'help', topic }
  const entry = findCommand(topic.join(' '), table)
  if (entry !== undefined) {
    const isName = new Set(named.map(({ index }) => index))
    const added = entry.aliasOptions?.[topic.join(' ')] ?? []
    return { kind: 'command', entry, argv: [...added, ...argv.filter((_, index) => !isName.has(index))] }
  }
  if (isGroup && second === undefined) return { kind: 'nothing', topic }
  throw unknownCommand(topic.join(' '), table)
}

export const findCommand = (name: string, table: readonly CommandEntry[]): CommandEntry | undefined =>
  table.find((known) => known.name === name || known.aliases?.includes(name))

export function unknownCommand(name: string, table: readonly CommandEntry[]): UsageError {
  const removed = removedCommands[name]
  if (removed !== undefined) return new UsageError(`The command "${name}" was removed.`, removed)
  const names = table.map((known) => known.name)
  const meant = findNearestName(name, names)
  const hint = meant === undefined ? 'See them all with `credence --help`.' : `Did you mean \`credence ${meant}\`?`
  return new UsageError(`There is no command "${name}".`, hint)
}

type Specs = Pick<Command, 'args' | 'options'> & Partial<Pick<Command, 'examples'>>

/** Assigns the words of a command line to the arguments and options of its command. */
export function sortTexts(argv: readonly string[], { args, options, examples = {} }: Specs): GivenTexts {
  const specs: Readonly<Record<string, Pick<Option, 'value'>>> = { ...options, ...everywhere }
  const names = new Map(Object.keys(specs).map((name) => [kebab(name), name]))
  const types = [...names].map(([written, name]) => {
    const type: 'boolean' | 'string' = specs[name]?.value === null ? 'boolean' : 'string'
    return [written, { type, multiple: true }] as const
  })

  const { tokens } = parseArgs({
    args: [...argv],
    options: Object.fromEntries(types),
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const given: Record<string, string[]> = {}
  const positionals: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value)
    if (token.kind !== 'option') continue
    const name = names.get(token.name)
    const spec = name === undefined ? undefined : specs[name]
    if (name === undefined || spec === undefined || !token.rawName.startsWith('--'))
      throw unknownOption(token.rawName, options, [...names.keys()])
    const texts = given[name] ?? []
    given[name] = texts
    if (texts.length > 0 && options[name]?.isRepeatable === false && spec.value !== null)
      throw new UsageError(`${token.rawName} is given twice.`, 'Give it once.')
    texts.push(textIn(token, spec.value))
  }
  return { args: placePositionals(positionals, args, Object.keys(examples)[0]), options: given }
}

type OptionToken = {
  readonly rawName: string
  readonly value?: string | undefined
  readonly inlineValue?: boolean | undefined
}

function textIn({ rawName, value, inlineValue }: OptionToken, placeholder: string | null): string {
  if (placeholder === null) {
    if (value === undefined) return ''
    throw new UsageError(`${rawName} takes no value, but got "${value}".`)
  }
  if (value === undefined) throw new UsageError(`${rawName} needs a value.`, `Write ${rawName} ${placeholder}.`)
  // In "--name --why x", the value of --name is missing; "--why" is not the value.
  if (inlineValue !== true && value.length > 1 && value.startsWith('-'))
    throw new UsageError(
      `${rawName} needs a value, but "${value}" follows.`,
      `A value that begins with a dash is written ${rawName}=${value}.`,
    )
  return value
}

function placePositionals(positionals: readonly string[], args: Specs['args'], example: string | undefined) {
  const placed: Record<string, readonly string[]> = {}
  let left = positionals
  for (const [name, { count, choices }] of Object.entries(args)) {
    const taken = count === 'words' || count === 'rest' ? left : left.slice(0, 1)
    if (taken.length === 0 && (count === 'one' || count === 'words'))
      throw new UsageError(
        `<${name}> is missing.`,
        choices === undefined ? example && `For example: ${example}` : `One of ${choices.join(', ')}.`,
      )
    placed[name] = taken
    left = left.slice(taken.length)
  }
  const [surplus] = left
  if (surplus !== undefined)
    throw new UsageError(
      `Unexpected argument "${surplus}".`,
      Object.keys(args).length === 0 ? undefined : 'Put a text of several words in quotes.',
    )
  return placed
}

function unknownOption(written: string, options: Specs['options'], known: readonly string[]): UsageError {
  const renamed = Object.entries(options).find(([, { formerName }]) => `--${formerName}` === written)
  if (renamed !== undefined) {
    const [name, { value }] = renamed
    const hint = `Write ${[`--${kebab(name)}`, ...(value === null ? [] : [value])].join(' ')}.`
    return new UsageError(`There is no option ${written} here.`, hint)
  }
  const meant = findNearestName(written.replace(/^-+/, ''), known)
  const isText = /^-[^-]|\s/u.test(written)
  const hint = isText ? 'A text that begins with a dash goes after --.' : undefined
  return new UsageError(`There is no option ${written}.`, meant === undefined ? hint : `Did you mean --${meant}?`)
}
