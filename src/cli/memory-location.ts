import { createHash } from 'node:crypto'
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { parseScope, parseScopes } from '../beliefs/scope.ts'
import {
  environmentSettings,
  objectInFile,
  parseSettings,
  resolveSettings,
  type Settings,
  type SomeSettings,
} from '../config.ts'
import { findNearestName } from '../did-you-mean.ts'
import { forbidden, invalid, MemoryError, unavailable } from '../errors.ts'
import { isOfAnotherUser, shellWord } from '../files/own-files.ts'
import type { Memory } from '../memory/memory.ts'
import { type EnvironmentVariables, stripControlCharacters } from './text/output.ts'
import { isMemory, isProjectFile, isTrusted, projectFileName } from './trusted-memories.ts'

type Surroundings = { readonly env: EnvironmentVariables; readonly cwd: () => string; readonly home: string }

type DirectorySources = Surroundings & {
  readonly given: string | undefined
  /** The directory that a `.credence.json` names. */
  readonly project?: () => string | null
  /** Called with a memory that is not used because the account does not trust it. */
  readonly onIgnored: (dir: string) => void
}

/**
 * The memory directory. The first of: --dir, CREDENCE_DIR, the one in `.credence.json`, `./memory` if it is a memory, the
 * user's default. Anybody who can write to the repository or the working directory controls the one in `.credence.json`
 * and `./memory`, so these two are used only if the account trusts them.
 */
export function memoryDirectory({ given, env, project, cwd, home, onIgnored }: DirectorySources): string {
  if (given?.trim() === '')
    throw invalid('The path of the memory directory is empty.', 'Give a path, or leave out --dir.')
  const named = given ?? (env.CREDENCE_DIR || undefined)
  if (named !== undefined) return isAbsolute(named) ? named : resolve(cwd(), named)
  const own = join(xdgDirectory(env.XDG_DATA_HOME, join(home, '.local', 'share')), 'credence')
  const local = join(cwd(), localName)
  const found = project?.() ?? (isMemory(local) ? local : null)
  if (found === null || found === own) return own
  if (isTrusted(stateDirectory({ env, home }), found)) return found
  onIgnored(found)
  return own
}

/** The directory name of a memory in the working directory. */
export const localName = 'memory'

/** The directory for records of this account about memories and other programs. */
export const stateDirectory = ({ env, home }: Omit<Surroundings, 'cwd'>): string =>
  join(xdgDirectory(env.XDG_STATE_HOME, join(home, '.local', 'state')), 'credence')

/** Shown when a memory is created and before an agent is connected. */
export const keepingNotice = (dir: string): string =>
  `What you tell connected agents is stored word for word on this machine, in ${dir}, with secrets masked. \`credence pause\` stops that, and \`credence forget\` erases stored messages.`

/** Shown once for a memory or a `.credence.json` that the account does not trust. */
export const ignoredNotice = (dir: string): string =>
  isProjectFile(dir)
    ? `Ignored the scopes in ${stripControlCharacters(dir)}, because this account has not allowed the file with its present contents. If you know them, allow it: \`credence trust ${shellWord(stripControlCharacters(dir))}\``
    : isMemory(dir)
      ? `Ignored the memory in ${stripControlCharacters(dir)}, because this account has neither created nor allowed it. If you know its contents, or created it with version 0.2.0 or earlier, allow it once: \`credence trust ${shellWord(stripControlCharacters(dir))}\``
      : `Ignored ${stripControlCharacters(dir)}, which a ${projectFileName} names, because this account has not created a memory there: \`credence init --dir ${shellWord(stripControlCharacters(dir))}\``

/** Ignores a relative path, as the XDG specification requires. */
export const xdgDirectory = (given: string | undefined, otherwise: string): string =>
  given !== undefined && isAbsolute(given) ? given : otherwise

export const userConfigFile = (env: EnvironmentVariables, home: string): string =>
  join(xdgDirectory(env.XDG_CONFIG_HOME, join(home, '.config')), 'credence', 'config.json')

type SettingsSources = Surroundings & { readonly dir: string; readonly user: string | undefined }

/** The settings, by precedence: --user, the environment, config.json of the memory directory, config.json of the user. */
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
    throw unavailable(
      `The settings in ${file} cannot be read (${code}).`,
      'Check the owner and the permissions of the file.',
      cause,
    )
  }
}

/** The settings as options for opening a memory or its store. */
export const openingOptions = ({ semanticModel, agentShare, ...settings }: Settings) => ({
  semantic: settings.semantic,
  ...(semanticModel === null ? {} : { semanticModel }),
  agentShare: agentShare / 100,
  recallBoldness: settings.recallBoldness,
  evalStoreDir: settings.evalStoreDir,
  mirrorAuthority: settings.mirrorAuthority,
})

export const recordsShadows = ({ evalHarnessEnabled, evalShadowModeEnabled }: Settings): boolean =>
  evalHarnessEnabled && evalShadowModeEnabled

/** Records every recall of a memory in an eval store. A recall succeeds even if its record is lost. */
export async function shadowRecorder(
  root: string,
  onProblem: (line: string) => void,
): Promise<(memory: Memory) => Memory> {
  const { withShadow } = await import('../eval/shadow/shadow.ts')
  const options = {
    root,
    now: () => new Date(),
    clock: () => performance.now(),
    onProblem: (error: unknown) => onProblem(`No shadow record was stored: ${String(error)}`),
  }
  return (memory) => withShadow(memory, options)
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

/** The settings of a project: its `.credence.json`. */
export type ProjectFile = {
  readonly file: string
  /** Replaces the scope of the repository. */
  readonly scope: string | null
  /** Replaces all active scopes; new beliefs go to the first. */
  readonly scopes: readonly string[] | null
  /** The memory directory, absolute. */
  readonly dir: string | null
  /** Whether hooks are switched on. */
  readonly enabled: boolean
}

const keys = ['scope', 'scopes', 'dir', 'enabled'] as const
const maxFileBytes = 64 * 1024

/** The nearest `.credence.json` from a directory upwards, or null. A file of another user is refused. */
export function findProjectFile(directory: string): ProjectFile | null {
  for (let at = resolve(directory); ; at = dirname(at)) {
    const file = join(at, projectFileName)
    const text = fileTextOf(file)
    if (text !== null) return parseProjectFile(text, file)
    if (at === dirname(at)) return null
  }
}

function fileTextOf(file: string): string | null {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (stats === undefined || !stats.isFile()) return null
  if (isOfAnotherUser(stats))
    throw forbidden(
      `${file} belongs to another user of this machine.`,
      'Delete the file, or change its owner to yourself.',
    )
  if (stats.size > maxFileBytes)
    throw invalid(`${file} has ${stats.size} bytes.`, `At most ${maxFileBytes} are allowed.`)
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw unavailable(`${file} cannot be read (${code}).`, 'Check the owner and the permissions of the file.', cause)
  }
}

export function parseProjectFile(text: string, file: string): ProjectFile {
  const value = objectInFile(text, file, 'Write {"scope": "project:ledger"}.')
  const unknown = Object.keys(value).find((key) => !keys.some((known) => known === key))
  if (unknown !== undefined) {
    const meant = findNearestName(unknown, keys)
    const hint = meant === undefined ? `Known are ${keys.join(', ')}.` : `Did you mean "${meant}"?`
    throw invalid(`${file} has the unknown key "${unknown.slice(0, 80)}".`, hint)
  }
  const { scope, scopes, dir, enabled = true } = value
  const wrong = (key: string, given: unknown, hint: string): MemoryError =>
    invalid(`"${key}" in ${file} is ${(JSON.stringify(given) ?? 'missing').slice(0, 80)}.`, hint)
  const textOf = (key: string, given: unknown): string => {
    if (typeof given === 'string' && given.trim() !== '') return given
    throw wrong(key, given, 'Write a non-empty text.')
  }
  if (scope !== undefined && scopes !== undefined)
    throw invalid(`${file} has both "scope" and "scopes".`, 'Use only one of them.')
  if (scopes !== undefined && (!Array.isArray(scopes) || scopes.length === 0))
    throw wrong('scopes', scopes, 'Write a list of scopes.')
  if (typeof enabled !== 'boolean') throw wrong('enabled', enabled, 'Write true or false.')
  const [first, ...others] = (scopes ?? []).map((scope: unknown) => parseScope(textOf('scopes', scope)))
  return {
    file,
    scope: scope === undefined ? null : parseScope(textOf('scope', scope)),
    // The first scope keeps its position, because new beliefs go to it; the others are sorted.
    scopes: first === undefined ? null : [first, ...parseScopes(others).filter((other) => other !== first)],
    // A relative directory is relative to the file.
    dir: dir === undefined ? null : resolve(dirname(file), textOf('dir', dir)),
    enabled,
  }
}

/**
 * The scope of the repository that contains a directory; null outside of a repository. All worktrees of a repository share
 * a scope; two repositories never do, even if their folders have the same name. Does not run git, because that takes
 * longer than a recall.
 */
export function projectScope(directory: string): string | null {
  const repository = commonDirectory(directory)
  if (repository === null) return null
  const hash = createHash('sha256').update(repository).digest('hex').slice(0, 8)
  return `project:${slug(repositoryName(repository))}-${hash}`
}

/** The real path of the directory that all worktrees of a repository have in common. */
export function commonDirectory(directory: string): string | null {
  for (let at = resolve(directory); ; at = dirname(at)) {
    const found = commonOf(join(at, '.git'))
    if (found !== null) return found
    if (at === dirname(at)) return null
  }
}

/**
 * `.git` is the repository's directory, or in worktrees and submodules a file with the path of a directory. A worktree's
 * directory has the path of the shared one in `commondir`. As in git, an unreadable `.git` is not a repository.
 */
function commonOf(dotGit: string): string | null {
  try {
    const [, path = ''] = statSync(dotGit).isDirectory()
      ? []
      : (/^gitdir: (.+)$/m.exec(readFileSync(dotGit, 'utf8')) ?? [])
    const gitDirectory = path === '' ? dotGit : resolve(dirname(dotGit), path.trimEnd())
    readFileSync(join(gitDirectory, 'HEAD'))
    const shared = join(gitDirectory, 'commondir')
    return realpathSync(resolve(gitDirectory, existsSync(shared) ? readFileSync(shared, 'utf8').trimEnd() : '.'))
  } catch {
    return null
  }
}

/** `…/ledger/.git`, the bare `…/ledger.git` and the submodule `…/.git/modules/ledger` are all called ledger. */
export const repositoryName = (repository: string): string =>
  basename(repository) === '.git' ? basename(dirname(repository)) : basename(repository).replace(/\.git$/, '')

const maxSlugLength = 40

/** Letters, digits and single dashes, as allowed in a scope. */
export function slug(name: string): string {
  const dashed = name
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
  const short = [...dashed].slice(0, maxSlugLength).join('')
  return short.replace(/^-+|-+$/g, '') || 'project'
}
