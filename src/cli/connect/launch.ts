import { existsSync } from 'node:fs'
import { posix, win32 } from 'node:path'
import type { Machine } from '../session.ts'

export type Launch = { readonly command: string; readonly args: readonly string[] }

/**
 * A shared configuration gets the bare name, if it is on the PATH here; the user's own gets full paths, because programs
 * that are not started from a shell do not see its PATH.
 */
export const launchFrom = (machine: Machine, isShared: boolean): Launch =>
  isShared && isOnPath(machine) ? { command: 'credence', args: [] } : { command: machine.node, args: [machine.program] }

/** The command that a person types to start Credence. npm sets variables in the environment of the programs that it starts. */
export const typedCommand = (machine: Pick<Machine, 'env' | 'platform'>): string =>
  machine.env.npm_command === undefined || isOnPath(machine) ? 'credence' : 'npx credence'

/** What options have to follow where npm ran the script `start`, which takes none of them itself. */
export const typedBeforeOptions = ({ env }: Pick<Machine, 'env'>): string | undefined =>
  env.npm_lifecycle_event === 'start' ? 'npm start --' : undefined

/** A text with the commands in it as a person types them. */
export const withTypedCommands = (text: string, command: string): string =>
  text.replace(/(?<=`(?:[A-Z_]+=\S+ )?|: |^ +)credence (?=[a-z-])/gmu, `${command} `)

/** Whether a shell finds `credence`. npm adds the directories in node_modules for the programs that it starts. */
const isOnPath = (machine: Pick<Machine, 'env' | 'platform'>): boolean =>
  programOnPath('credence', machine, (directory) => !/[\\/]node_modules[\\/]/u.test(directory)) !== null

/** The file that a name starts in a shell; null when there is none. */
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

/** npx removes the copy that it fetched some day. */
export const isTemporary = ({ program }: Machine): boolean => /[\\/]_npx[\\/]/.test(program)

/** The same as one line for a shell. */
export const shellLine = ({ command, args }: Launch, more: readonly string[], platform: NodeJS.Platform): string =>
  [command, ...args, ...more].map((word) => quoteWord(word, platform)).join(' ')

function quoteWord(word: string, platform: NodeJS.Platform): string {
  if (/^[\w@%+=:,./\\-]+$/.test(word) && !(platform !== 'win32' && word.includes('\\'))) return word
  return platform === 'win32' ? `"${word.replaceAll('"', '""')}"` : `'${word.replaceAll("'", "'\\''")}'`
}
