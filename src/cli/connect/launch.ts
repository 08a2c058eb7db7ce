import { existsSync } from 'node:fs'
import { posix, win32 } from 'node:path'
import type { Machine } from '../session.ts'

/** The command that starts Credence. */
export type Launch = { readonly command: string; readonly args: readonly string[] }

/**
 * A shared configuration gets the bare name, if it is on the PATH here; the user's own gets full paths, because programs
 * that are not started from a shell do not see its PATH.
 */
export const launchFrom = (machine: Machine, isShared: boolean): Launch =>
  isShared && programOnPath('credence', machine) !== null
    ? { command: 'credence', args: [] }
    : { command: machine.node, args: [machine.program] }

/** The file that a name starts in a shell; null when there is none. */
export function programOnPath(name: string, { env, platform }: Machine): string | null {
  const path = platform === 'win32' ? win32 : posix
  const directories = (env.PATH ?? env.Path ?? '').split(path.delimiter).filter((directory) => directory !== '')
  const names = platform === 'win32' ? [`${name}.cmd`, `${name}.exe`] : [name]
  const files = directories.flatMap((directory) => names.map((one) => path.join(directory, one)))
  return files.find((file) => existsSync(file)) ?? null
}

/** npx removes the copy that it fetched some day. */
export const isTemporary = ({ program }: Machine): boolean => /[\\/]_npx[\\/]/.test(program)

/** The same as one line for a shell. */
export const shellLine = ({ command, args }: Launch, more: readonly string[], platform: NodeJS.Platform): string =>
  [command, ...args, ...more].map((word) => quoted(word, platform)).join(' ')

function quoted(word: string, platform: NodeJS.Platform): string {
  if (/^[\w@%+=:,./\\-]+$/.test(word) && !(platform !== 'win32' && word.includes('\\'))) return word
  return platform === 'win32' ? `"${word.replaceAll('"', '""')}"` : `'${word.replaceAll("'", "'\\''")}'`
}
