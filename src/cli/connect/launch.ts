import { existsSync } from 'node:fs'
import { posix, win32 } from 'node:path'
import type { Machine } from '../session.ts'

export type Launch = { readonly command: string; readonly args: readonly string[] }

/**
 * A shared configuration gets the bare command name, if it is on the PATH here. The user's own configuration gets full paths,
 * because programs that are not started from a shell do not have its PATH.
 */
export const launchFrom = (machine: Machine, isShared: boolean): Launch =>
  isShared && isOnPath(machine) ? { command: 'credence', args: [] } : { command: machine.node, args: [machine.program] }

/** The command that a person types to start Credence. npm sets `npm_command` for the programs that it starts. */
export const typedCommand = (machine: Pick<Machine, 'env' | 'platform'>): string =>
  machine.env.npm_command === undefined || isOnPath(machine) ? 'credence' : 'npx credence'

/** The prefix for options if npm runs the script `start`: npm forwards only options after `--`. */
export const typedBeforeOptions = ({ env }: Pick<Machine, 'env'>): string | undefined =>
  env.npm_lifecycle_event === 'start' ? 'npm start --' : undefined

/** Replaces `credence` in the commands of a text with the command that a person types. */
export const withTypedCommands = (text: string, command: string): string =>
  text.replace(/(?<=`(?:[A-Z_]+=\S+ )?|: |^ +)credence (?=[a-z-])/gmu, `${command} `)

/** Whether `credence` is on a shell's PATH. Ignores node_modules directories, which npm adds to the PATH. */
const isOnPath = (machine: Pick<Machine, 'env' | 'platform'>): boolean =>
  programOnPath('credence', machine, (directory) => !/[\\/]node_modules[\\/]/u.test(directory)) !== null

/** The file that a shell would start for a name; null if there is none. */
export function programOnPath(
  name: string,
  { env, platform }: Pick<Machine, 'env' | 'platform'>,
  isSearched = (directory: string): boolean => directory !== '',
): string | null {
  const path = platform === 'win32' ? win32 : posix
  const directories = (env.PATH ?? env.Path ?? '').split(path.delimiter).filter(isSearched)
  const names = platform === 'win32' ? [`${name}.cmd`, `${name}.exe`] : [name]
  const files = directories.flatMap((directory) => names.map((one) => path.join(directory, one)))
  return files.find((file) => existsSync(file)) ?? null
}

/** Whether this program is a copy fetched by npx, which npx may remove at any time. */
export const isTemporary = ({ program }: Machine): boolean => /[\\/]_npx[\\/]/.test(program)

/** A launch command with more arguments, quoted as one line for a shell. */
export const shellLine = ({ command, args }: Launch, more: readonly string[], platform: NodeJS.Platform): string =>
  [command, ...args, ...more].map((word) => quoteWord(word, platform)).join(' ')

function quoteWord(word: string, platform: NodeJS.Platform): string {
  if (/^[\w@%+=:,./\\-]+$/.test(word) && !(platform !== 'win32' && word.includes('\\'))) return word
  return platform === 'win32' ? `"${word.replaceAll('"', '""')}"` : `'${word.replaceAll("'", "'\\''")}'`
}
