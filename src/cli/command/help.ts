import { type CommandEntry, type CommandGroup, commands, commandTable } from '../command-table.ts'
import { columns, indentText, lines, type Style } from '../text/output.ts'
import { everywhere } from './arguments.ts'
import {
  type Argument,
  type Command,
  type ExitCode,
  exitCodeMeanings,
  exitCodes,
  kebab,
  type Option,
} from './command.ts'

const introduction = `Memory for AI agents that can show it is right.

A belief is a stored statement, with a name. A turn is a stored message of a
conversation. A scope is where a belief applies, such as a project.`

/** Describes the first group's commands, and only names the others; for a topic, describes its actions. Loads no command. */
export function programHelp(topic: string | null, style: Style): string {
  const width = Math.min(style.width, 80)
  const describe = (entries: readonly (CommandEntry | CommandGroup)[]): string =>
    columns(
      entries.map(({ name, summary }) => [name, summary]),
      { width },
    )
  if (topic !== null) {
    const actions = commandTable.filter(({ name }) => name.startsWith(`${topic} `))
    return lines(
      `Usage: credence ${topic} <action> [options]`,
      '',
      describe(actions),
      '',
      moreHelp(`${topic} <action>`),
      '',
    )
  }
  const [first = ['', []], ...others] = Map.groupBy(commands, ({ group }) => group)
  const named = others.map(([group, entries]) => [group, entries.map(({ name }) => name).join(', ')])
  return lines(
    introduction,
    '',
    'Usage: credence <command> [options]',
    '',
    style.bold(first[0]),
    describe(first[1]),
    '',
    style.bold('All others'),
    columns(named, { width }),
    '',
    moreHelp('<command>'),
    '`credence tour` is a short demo.',
    '',
  )
}

const moreHelp = (command: string): string => `\`credence ${command} --help\` describes it with its options.`

export function commandHelp({ name, summary }: CommandEntry, command: Command, style: Style): string {
  const width = Math.min(style.width, 80)
  const args = Object.entries(command.args).map(([arg, { help }]) => [arg, help])
  const options = optionsOf(command).map(({ usage, help }) => [usage, help])
  const examples = Object.entries(command.examples).map(
    ([line, effect]) => `  $ ${line}\n${style.dim(indentText(effect, 4, width))}`,
  )
  return [
    usageOf(name, command),
    '',
    indentText(command.description === undefined ? summary : `${summary} ${command.description}`, 0, width),
    '',
    ...(args.length === 0 ? [] : [style.bold('Arguments'), columns(args, { width }), '']),
    style.bold('Options'),
    columns(options, { width }),
    '',
    style.bold('Examples'),
    ...examples,
    '',
    indentText(exitCodesOf(command), 0, width),
    '',
  ].join('\n')
}

export const usageOf = (name: string, { args }: Command): string =>
  ['Usage: credence', name, ...Object.entries(args).map(argumentUsage), '[options]'].join(' ')

function argumentUsage([name, { count, takesStdin, choices }]: [string, Argument]): string {
  const what = choices === undefined ? name : choices.join('|')
  const stdin = takesStdin ? '|-' : ''
  switch (count) {
    case 'one':
      return `<${what}${stdin}>`
    case 'optional':
      return `[${what}]`
    case 'words':
      return `<${what}…${stdin}>`
    case 'rest':
      return `[${what}…]`
  }
}

/** The usage and help of every option of a command. Options common to all commands come last. */
export function optionsOf({ options }: Command): readonly { readonly usage: string; readonly help: string }[] {
  const all: Readonly<Record<string, Pick<Option, 'help' | 'value' | 'default'>>> = { ...options, ...everywhere }
  return Object.entries(all).map(([name, { help, value, default: otherwise }]) => ({
    usage: `--${kebab(name)}${value === null ? '' : ` ${value}`}`,
    help: otherwise === undefined ? help : `${help} Default: ${otherwise}.`,
  }))
}

export function exitCodesOf({ exitCodes: special = [] }: Command): string {
  const codes: readonly ExitCode[] = [exitCodes.fine, exitCodes.usage, exitCodes.invalid, ...special, exitCodes.bug]
  const meanings = [...codes].sort((a, b) => a - b).map((code) => `${code} ${exitCodeMeanings[code]}`)
  return `Exit codes: ${meanings.join('; ')}.`
}
