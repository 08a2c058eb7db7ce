import type { CommandEntry } from '../command-table.ts'
import { columns, indented, type Style } from '../text/output.ts'
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

/** Lists the commands, or those of one group of commands, without loading any. */
export function programHelp(table: readonly CommandEntry[], topic: string | null, style: Style): string {
  const listed = table.filter(({ name }) => topic === null || name.startsWith(`${topic} `))
  const groups = [...new Set(listed.map(({ group }) => group))]
  const widest = Math.max(...listed.map(({ name }) => name.length))
  const sections = groups.map((group) => {
    const rows = listed
      .filter((entry) => entry.group === group)
      .map(({ name, summary }) => [name.padEnd(widest), summary])
    return `${style.bold(group)}\n${columns(rows, { width: Math.min(style.width, 80) })}`
  })
  const start = topic === null ? ['Memory for AI agents that can show it is right.', ''] : []
  return [
    ...start,
    `Usage: credence ${topic ?? ''}${topic === null ? '' : ' '}<command> [options]`,
    '',
    sections.join('\n\n'),
    '',
    `\`credence ${topic ?? ''}${topic === null ? '' : ' '}<command> --help\` tells more about one; \`credence tour\` shows them at work.`,
    '',
  ].join('\n')
}

/** Everything about one command. */
export function commandHelp({ name, summary }: CommandEntry, command: Command, style: Style): string {
  const width = Math.min(style.width, 80)
  const args = Object.entries(command.args).map(([arg, { help }]) => [arg, help])
  const options = optionsOf(command).map(({ usage, help }) => [usage, help])
  const examples = command.examples.map(
    ({ command: line, effect }) => `  $ ${line}\n${style.dim(indented(effect, 4, width))}`,
  )
  return [
    usageOf(name, command),
    '',
    indented(command.description === undefined ? summary : `${summary} ${command.description}`, 0, width),
    '',
    ...(args.length === 0 ? [] : [style.bold('Arguments'), columns(args, { width }), '']),
    style.bold('Options'),
    columns(options, { width }),
    '',
    style.bold('Examples'),
    ...examples,
    '',
    indented(exitCodesOf(command), 0, width),
    '',
  ].join('\n')
}

export const usageOf = (name: string, { args }: Command): string =>
  ['Usage: credence', name, ...Object.entries(args).map(([arg, spec]) => argumentUsage(arg, spec)), '[options]'].join(
    ' ',
  )

function argumentUsage(name: string, { count, takesStdin, choices }: Argument): string {
  const what = choices === undefined ? name : choices.join('|')
  switch (count) {
    case 'one':
      return takesStdin ? `<${what}|->` : `<${what}>`
    case 'optional':
      return `[${what}]`
    case 'words':
      return takesStdin ? `<${what}…|->` : `<${what}…>`
    case 'rest':
      return `[${what}…]`
  }
}

/** Every option as it is written, with its help and default, those of all commands last. */
export function optionsOf({ options }: Command): readonly { readonly usage: string; readonly help: string }[] {
  const all: Readonly<Record<string, Pick<Option, 'help' | 'value' | 'default'>>> = { ...options, ...everywhere }
  return Object.entries(all).map(([name, { help, value, default: otherwise }]) => ({
    usage: `--${kebab(name)}${value === null ? '' : ` ${value}`}`,
    help: otherwise === undefined ? help : `${help} Default: ${otherwise}.`,
  }))
}

export function exitCodesOf({ exitCodes: special = [] }: Command): string {
  const codes: readonly ExitCode[] = [exitCodes.fine, exitCodes.usage, exitCodes.invalid, ...special, exitCodes.bug]
  const meanings = [...codes].sort((one, other) => one - other).map((code) => `${code} ${exitCodeMeanings[code]}`)
  return `Exit codes: ${meanings.join('; ')}.`
}
