import { isAbsolute, join, relative, resolve } from 'node:path'
import { environmentName, type SettingName, type Settings } from '../../../config.ts'
import { MemoryError } from '../../../errors.ts'
import { text } from '../../command.ts'
import { placeOptions } from '../../common-options.ts'
import type { Session } from '../../session.ts'

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
