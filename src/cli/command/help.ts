import { type CommandEntry, type CommandGroup, commands, commandTable } from '../command-table.ts'
import { columns, indentText, type Style } from '../text/output.ts'
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

/** Lists the commands, or those of one group, without loading any. */
export function programHelp(topic: string | null, style: Style): string {
  const prefix = topic === null ? '' : `${topic} `
  const listed = topic === null ? commands : commandTable.filter(({ name }) => name.startsWith(prefix))
  const widest = Math.max(...listed.map(({ name }) => name.length))
  const sections = [...Map.groupBy(listed, ({ group }) => group)].map(([group, entries]) => {
    const rows = entries.map((entry) => [entry.name.padEnd(widest), summaryOf(entry)])
    return `${style.bold(group)}\n${columns(rows, { width: Math.min(style.width, 80) })}`
  })
  return [
    ...(topic === null ? [introduction, ''] : []),
    `Usage: credence ${prefix}<command> [options]`,
    '',
    sections.join('\n\n'),
    '',
    `\`credence ${prefix}<command> --help\` shows the options of a command; \`credence tour\` is a short demo.`,
    '',
  ].join('\n')
}

/** The summary of a command, with its actions. */
const summaryOf = (entry: CommandEntry | CommandGroup): string =>
  'actions' in entry ? `${entry.summary} (${entry.actions.map(({ name }) => name).join(', ')})` : entry.summary

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

/** The usage and help of every option of a command; the options that all commands have come last. */
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
