import { existsSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import { MemoryError } from '../errors.ts'
import type { Environment } from './text/output.ts'

type Here = {
  readonly given: string | undefined
  readonly env: Environment
  /** What the project says, if it does. */
  readonly project?: () => string | null
  readonly cwd: () => string
  readonly home: string
}

/** The memory directory: as given, from the environment, from the project, `./memory` where it is one, else the user's own. */
export function memoryDirectory({ given, env, project, cwd, home }: Here): string {
  if (given?.trim() === '') {
    throw new MemoryError('invalid', 'The memory directory is empty.', { hint: 'Name one, or leave --dir out.' })
  }
  const named = given ?? (env.CREDENCE_DIR || undefined)
  if (named !== undefined) return isAbsolute(named) ? named : resolve(cwd(), named)
  const ofProject = project?.() ?? null
  if (ofProject !== null) return ofProject
  const local = join(cwd(), 'memory')
  return isMemory(local) ? local : join(userDirectory(env.XDG_DATA_HOME, join(home, '.local', 'share')), 'credence')
}

/** The user's own settings. */
export const userConfigFile = (env: Environment, home: string): string =>
  join(userDirectory(env.XDG_CONFIG_HOME, join(home, '.config')), 'credence', 'config.json')

const isMemory = (dir: string): boolean => existsSync(join(dir, 'state')) || existsSync(join(dir, 'MEMORY.md'))

/** The XDG specification has relative paths ignored. */
const userDirectory = (given: string | undefined, otherwise: string): string =>
  given !== undefined && isAbsolute(given) ? given : otherwise
