import { spawnSync } from 'node:child_process'
import { arch, platform, release } from 'node:os'
import { isAbsolute, join, relative, resolve } from 'node:path'
import { environmentName, type SettingName, type Settings } from '../../../config.ts'
import { MemoryError } from '../../../errors.ts'
import type { Environment } from '../../../eval/store/schemas/run.ts'
import { kebab, text, UsageError } from '../../command/command.ts'
import { placeOptions } from '../../command/common-options.ts'
import type { Session } from '../../session.ts'

/**
 * A run that is half one thing and half another says nothing, so a resumed one goes on as it was begun. `decided` names
 * the options that are settled when a run begins.
 */
export function refuseChanges(given: Readonly<Record<string, unknown>>, decided: readonly string[]): void {
  const isGiven = (value: unknown): boolean =>
    Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false
  const changed = decided.find((name) => isGiven(given[name]))
  if (changed === undefined) return
  throw new UsageError(
    `--${kebab(changed)} cannot be given with --resume, which goes on as the run was begun.`,
    'Leave it out, or begin another run.',
  )
}

/** What a run keeps of the machine it was made on, and of the sources it was made from. */
export const machine = (directory: string): Pick<Environment, 'git' | 'node' | 'os'> => ({
  git: gitState(directory),
  node: process.version,
  os: { platform: platform(), release: release(), arch: arch() },
})

/** The commit of the working directory; null outside of a repository, or where there is no git to ask. */
export function gitState(directory: string): Environment['git'] {
  const commit = git(directory, 'rev-parse', 'HEAD')
  if (commit === null || commit === '') return null
  const changes = git(directory, 'status', '--porcelain')
  return { commit, dirty: changes !== '' }
}

function git(directory: string, ...args: readonly string[]): string | null {
  const { status, stdout } = spawnSync('git', args, {
    cwd: directory,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return status === 0 ? stdout.trim() : null
}

/** Which eval store. */
export const storeOptions = {
  store: {
    ...text('<directory>', 'The eval store.'),
    default: 'the setting evalStoreDir, else state/evals in the memory directory',
  },
  dir: placeOptions.dir,
}

type StoreOptions = { readonly store: string | undefined; readonly dir: string | undefined }

/** The eval store meant, and the settings in force beside it. */
export function evalStore(
  session: Session,
  { store, dir }: StoreOptions,
): { readonly root: string; readonly settings: Settings } {
  const settings = session.settings({ dir })
  if (store !== undefined) return { root: resolve(session.workingDirectory(), store), settings }
  const root = settings.evalStoreDir ?? join(session.place({ dir }).dir, 'state', 'evals')
  return { root, settings }
}

type Switch = { [Name in SettingName]: Settings[Name] extends boolean ? Name : never }[SettingName]

/** Refuses to go on while a switch is off, and says how to turn it on. */
export function requireSetting(settings: Settings, name: Switch, what: string): void {
  if (settings[name]) return
  throw new MemoryError('unavailable', `${what} because the setting ${name} is off.`, {
    hint: `Put {"${name}": true} into config.json in the memory directory, or set ${environmentName(name)}=true.`,
  })
}

/** A path as it may be kept in a file that others read: relative where it lies below the working directory. */
export function portablePath(session: Session, path: string): string {
  const below = relative(session.workingDirectory(), path)
  if (below === '') return '.'
  return below.startsWith('..') || isAbsolute(below) ? path : below.replaceAll('\\', '/')
}
