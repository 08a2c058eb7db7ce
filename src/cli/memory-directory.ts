import { existsSync, readFileSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { environmentSettings, parseSettings, resolveSettings, type Settings, type SomeSettings } from '../config.ts'
import { MemoryError } from '../errors.ts'
import type { EnvironmentVariables } from './text/output.ts'

type DirectorySources = {
  /** The value of --dir. */
  readonly given: string | undefined
  readonly env: EnvironmentVariables
  /** The directory that a `.credence.json` names. */
  readonly project?: () => string | null
  readonly cwd: () => string
  readonly home: string
}

/** The memory directory: --dir, CREDENCE_DIR, the project's, `./memory` if it is a memory, else the user's own. */
export function memoryDirectory({ given, env, project, cwd, home }: DirectorySources): string {
  if (given?.trim() === '')
    throw new MemoryError('invalid', 'The memory directory is empty.', { hint: 'Name one, or leave --dir out.' })
  const named = given ?? (env.CREDENCE_DIR || undefined)
  if (named !== undefined) return isAbsolute(named) ? named : resolve(cwd(), named)
  const ofProject = project?.() ?? null
  if (ofProject !== null) return ofProject
  const local = join(cwd(), 'memory')
  if (existsSync(join(local, 'state')) || existsSync(join(local, 'MEMORY.md'))) return local
  return join(xdgDirectory(env.XDG_DATA_HOME, join(home, '.local', 'share')), 'credence')
}

/** Shown when a memory is made, and before an agent is connected. */
export const keepingNotice = (dir: string): string =>
  `What you tell connected agents is kept word for word on this machine, in ${dir}, with secrets masked. \`credence pause\` stops that, and \`credence forget\` removes what was kept.`

/** The XDG specification says that relative paths are ignored. */
export const xdgDirectory = (given: string | undefined, otherwise: string): string =>
  given !== undefined && isAbsolute(given) ? given : otherwise

/** The user's own settings. */
export const userConfigFile = (env: EnvironmentVariables, home: string): string =>
  join(xdgDirectory(env.XDG_CONFIG_HOME, join(home, '.config')), 'credence', 'config.json')

type SettingsSources = {
  readonly dir: string
  readonly user: string | undefined
  readonly env: EnvironmentVariables
  readonly cwd: () => string
  readonly home: string
}

/** The settings in force: --user, the environment, config.json of the memory directory, config.json of the user. */
export function readSettings({ dir, user, env, cwd, home }: SettingsSources): Settings {
  const files = [join(dir, 'config.json'), userConfigFile(env, home)].map((file) => settingsIn(file, home))
  const fromEnvironment = withAbsolutePaths(environmentSettings(env), cwd, home)
  return resolveSettings([user === undefined ? {} : { user }, fromEnvironment, ...files])
}

function settingsIn(file: string, home: string): SomeSettings {
  try {
    return withAbsolutePaths(parseSettings(readFileSync(file, 'utf8'), file), () => dirname(file), home)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (cause instanceof MemoryError) throw cause
    if (code === 'ENOENT' || code === 'ENOTDIR') return {}
    throw new MemoryError('unavailable', `The settings in ${file} cannot be read (${code}).`, {
      hint: 'Check who owns it.',
      cause,
    })
  }
}

/** Relative paths are relative to the file or directory that they come from; `~` is the home directory. */
function withAbsolutePaths(settings: SomeSettings, base: () => string, home: string): SomeSettings {
  const at = (path: string): string => (/^~(?:[\\/]|$)/.test(path) ? join(home, path.slice(1)) : resolve(base(), path))
  const { evalStoreDir, excludedDirectories } = settings
  return {
    ...settings,
    ...(typeof evalStoreDir === 'string' ? { evalStoreDir: at(evalStoreDir) } : {}),
    ...(Array.isArray(excludedDirectories) ? { excludedDirectories: excludedDirectories.map(at) } : {}),
  }
}
