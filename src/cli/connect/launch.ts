import { existsSync } from 'node:fs'
import { posix, win32 } from 'node:path'
import type { Machine } from '../session.ts'

/** How another program starts this one. */
export type Launch = { readonly command: string; readonly args: readonly string[] }

/**
 * What to write into a configuration. One that others share gets the bare name, where that is found here; one of the
 * user's own gets full paths, because programs that are not started from a shell do not see its PATH.
 */
export function launchFrom(machine: Machine, isShared: boolean): Launch {
  return isShared && isOnPath(machine)
    ? { command: 'credence', args: [] }
    : { command: machine.node, args: [machine.program] }
}

function isOnPath({ env, platform }: Machine): boolean {
  const path = platform === 'win32' ? win32 : posix
  const directories = (env.PATH ?? env.Path ?? '').split(path.delimiter).filter((directory) => directory !== '')
  const names = platform === 'win32' ? ['credence.cmd', 'credence.exe'] : ['credence']
  return directories.some((directory) => names.some((name) => existsSync(path.join(directory, name))))
}

/** A copy that npm fetched to run it once is gone some day. */
export const isPassing = ({ program }: Machine): boolean => /[\\/]_npx[\\/]/.test(program)

/** The same as one line for a shell. */
export const shellLine = ({ command, args }: Launch, more: readonly string[], platform: NodeJS.Platform): string =>
  [command, ...args, ...more].map((word) => quoted(word, platform)).join(' ')

function quoted(word: string, platform: NodeJS.Platform): string {
  if (/^[\w@%+=:,./\\-]+$/.test(word) && !(platform !== 'win32' && word.includes('\\'))) return word
  return platform === 'win32' ? `"${word.replaceAll('"', '""')}"` : `'${word.replaceAll("'", "'\\''")}'`
}
