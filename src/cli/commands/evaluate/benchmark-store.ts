import { spawnSync } from 'node:child_process'
import { arch, platform, release } from 'node:os'
import { isAbsolute, relative, resolve } from 'node:path'
import { environmentName, type SettingName, type Settings } from '../../../config.ts'
import { MemoryError } from '../../../errors.ts'
import type { RunEnvironment } from '../../../eval/store/schemas/run.ts'
import { defaultEmbedder } from '../../../memory/meaning/open-embedder.ts'
import { kebab, UsageError } from '../../command/command.ts'
import { memoryOptions, text, wholeNumber } from '../../command/options.ts'
import type { Session } from '../../session.ts'

/** The options that may differ when a run is resumed: its location, and the number of parallel cases. */
const free = ['resume', 'jobs', 'evals', 'dir']

/** The given options, except those that may differ when a run is resumed. */
export const fixedOptions = (given: object): Record<string, unknown> => {
  const isGiven = (value: unknown): boolean =>
    Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false
  return Object.fromEntries(Object.entries(given).filter(([name, value]) => !free.includes(name) && isGiven(value)))
}

/** Rejects options that were fixed when the run began: a resumed run must keep its settings. */
export function refuseChanges(given: object): void {
  const [changed] = Object.keys(fixedOptions(given))
  if (changed === undefined) return
  throw new UsageError(
    `--${kebab(changed)} cannot be given with --resume, which uses the original options of the run.`,
    'Leave it out, or start a new run.',
  )
}

/** The machine and the source revision of a run, as recorded with the run. */
export const machineOf = (directory: string): Pick<RunEnvironment, 'git' | 'node' | 'os'> => ({
  git: gitState(directory),
  node: process.version,
  os: { platform: platform(), release: release(), arch: arch() },
})

/** The commit of the working directory; null outside of a repository, or if git is not installed. */
function gitState(directory: string): RunEnvironment['git'] {
  const git = (...args: readonly string[]): string | null => {
    const { status, stdout } = spawnSync('git', args, { cwd: directory, encoding: 'utf8', stdio: 'pipe' })
    return status === 0 ? stdout.trim() : null
  }
  const commit = git('rev-parse', 'HEAD')
  return commit === null || commit === '' ? null : { commit, dirty: git('status', '--porcelain') !== '' }
}

export const evalStoreOptions = {
  evals: {
    ...text(
      '<directory>',
      'The eval store: the directory of packs, runs and baselines.',
      'the setting evalStoreDir, else state/evals in the memory directory',
    ),
    formerName: 'store',
  },
  dir: memoryOptions.dir,
}

type EvalStoreOptions = { readonly evals: string | undefined; readonly dir: string | undefined }

/** The selected eval store, and the effective settings. */
export function evalStore(
  session: Session,
  { evals, dir }: EvalStoreOptions,
): { readonly root: string; readonly settings: Settings } {
  const { workingDirectory, evalRoot, settings } = session.places
  const root = evals === undefined ? evalRoot({ dir }) : resolve(workingDirectory(), evals)
  return { root, settings: settings({ dir }) }
}

type Switch = { [Name in SettingName]: Settings[Name] extends boolean ? Name : never }[SettingName]

/** Throws a MemoryError if a setting that defaults to on was switched off. */
export function requireSetting(settings: Settings, name: Switch, what: string): void {
  if (settings[name]) return
  throw new MemoryError('unavailable', `${what} because the setting ${name} is off.`, {
    hint: `Remove {"${name}": false} from config.json in the memory directory, or set ${environmentName(name)}=true.`,
  })
}

/** A path for a file that is shared: relative if it is inside the working directory. */
export function portablePath(session: Session, path: string): string {
  const below = relative(session.places.workingDirectory(), path)
  if (below === '') return '.'
  return below.startsWith('..') || isAbsolute(below) ? path : below.replaceAll('\\', '/')
}

export const seedOption = (help: string) => wholeNumber(help, { min: 0, max: 2 ** 31, default: 1 })

export const embedderOption = text(
  '<spec>',
  'The model of the vector backends: minilm, ollama:<model> or openai:<url>:<model>.',
  defaultEmbedder,
)
