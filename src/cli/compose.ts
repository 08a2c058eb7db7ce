import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { universalScope } from '../beliefs/scope.ts'
import { environmentSettings, parseSettings, resolveSettings, type Settings, type SomeSettings } from '../config.ts'
import { MemoryError } from '../errors.ts'
import type { Memory, Standpoint } from '../memory/memory.ts'
import { defaultAuthor } from './common-options.ts'
import { memoryDirectory, userConfigFile } from './memory-directory.ts'
import type { Environment, OutputStream } from './output.ts'
import { programFile } from './program-file.ts'
import { findProjectFile, type ProjectFile } from './project-file.ts'
import { projectScope } from './project-scope.ts'
import type { Place, PlaceOptions, Session, StandpointOptions } from './session.ts'

/** Where the command line runs: all it knows of the world outside. */
export type Surroundings = {
  readonly env: Environment
  readonly home: string
  /** Where short-lived files go. */
  readonly temporary: string
  readonly workingDirectory: () => string
  readonly stdin: () => Readable & { readonly isTTY?: boolean }
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  /** Default that of this process. */
  readonly platform?: NodeJS.Platform
  /** When the program started, on the clock of `performance.now()`. Default now. */
  readonly startedAt?: number
  /** Default: nothing is started. */
  readonly startDetached?: (argv: readonly string[]) => Promise<void>
}

/** The process this is. */
export const systemSurroundings = (): Surroundings => ({
  env: process.env,
  home: homedir(),
  temporary: tmpdir(),
  workingDirectory,
  // Looking at standard input opens it, which most commands have no use for.
  stdin: () => process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  // The clock began when the process did.
  startedAt: 0,
  startDetached: async (argv) => (await import('./start-detached.ts')).startDetached(argv),
})

function workingDirectory(): string {
  try {
    return process.cwd()
  } catch (cause) {
    throw new MemoryError('unavailable', 'The working directory is gone.', {
      hint: 'Change to one that exists.',
      cause,
    })
  }
}

const notDirectory = (dir: string): MemoryError =>
  new MemoryError('unavailable', `${dir} is a file, not a memory directory.`, { hint: 'Name a directory with --dir.' })

const namelessUser = (): MemoryError =>
  new MemoryError('invalid', 'The user has no name.', { hint: 'Name one, or leave --user out.' })

/** Builds what a command works with. `talk` prints a line that is not part of its answer. */
export function compose(
  surroundings: Surroundings,
  talk: (line: string) => Promise<void>,
): Session & { readonly close: () => Promise<void>; readonly made: ReadonlySet<string> } {
  const { env, home } = surroundings
  const startedAt = performance.now()
  const open: { readonly close: () => Promise<void> }[] = []
  const kept = <Resource extends { readonly close: () => Promise<void> }>(resource: Resource): Resource => {
    open.push(resource)
    return resource
  }

  /** Memory directories that this run makes. */
  const made = new Set<string>()

  let found: { readonly file: ProjectFile | null } | undefined
  const projectFile = (): ProjectFile | null => {
    found ??= { file: findProjectFile(surroundings.workingDirectory()) }
    return found.file
  }

  const directory = (given: string | undefined): string =>
    memoryDirectory({
      given,
      env,
      project: () => projectFile()?.dir ?? null,
      cwd: surroundings.workingDirectory,
      home,
    })

  // Read once: a command asks for its settings at every turn, and they are the same for as long as it runs.
  const known = new Map<string, Settings>()
  const settings = (options: PlaceOptions): Settings => {
    const key = JSON.stringify([options.dir, options.user])
    const resolved = known.get(key) ?? readSettings(options)
    known.set(key, resolved)
    return resolved
  }
  const readSettings = ({ dir, user }: PlaceOptions): Settings => {
    const files = [join(directory(dir), 'config.json'), userConfigFile(env, home)].map((file) => settingsIn(file, home))
    const fromEnvironment = located(environmentSettings(env), surroundings.workingDirectory, home)
    return resolveSettings([user === undefined ? {} : { user }, fromEnvironment, ...files])
  }

  const place = (options: PlaceOptions): Place => {
    const dir = directory(options.dir)
    if (statSync(dir, { throwIfNoEntry: false })?.isDirectory() === false) throw notDirectory(dir)
    const { user } = settings(options)
    if (user.trim() === '') throw namelessUser()
    const given = options.scope ?? []
    const file = projectFile()
    const hooksEnabled = file?.enabled ?? true
    if (given.length > 0) return { dir, user, project: null, scopes: given, homeScopes: given, hooksEnabled }
    const project = file?.scope ?? projectScope(surroundings.workingDirectory())
    const scopes = file?.scopes ?? [...(project === null ? [] : [project]), universalScope]
    const homeScopes = file?.scopes?.slice(0, 1) ?? [project ?? universalScope]
    return { dir, user, project, scopes, homeScopes, hooksEnabled }
  }

  /** Keeps a shadow record of every recall, where that is switched on. */
  const watched = async (memory: Memory, options: PlaceOptions): Promise<Memory> => {
    const { evalHarnessEnabled, evalShadowModeEnabled, evalStoreDir } = settings(options)
    if (!evalHarnessEnabled || !evalShadowModeEnabled) return memory
    const { withShadow } = await import('../eval/shadow/shadow-memory.ts')
    return withShadow(memory, {
      root: evalStoreDir ?? join(directory(options.dir), 'state', 'evals'),
      now: () => new Date(),
      clock: () => performance.now(),
      // A record that is lost is nobody's trouble but that of whoever is looking for it.
      onProblem: (error) => {
        if (env.CREDENCE_DEBUG === '1') void talk(`No shadow record was kept: ${String(error)}`)
      },
    })
  }

  const temporaryDirectory = (): string => mkdtempSync(join(surroundings.temporary, 'credence-'))

  /** The change is made; only the file beside it lags behind. */
  const onMirrorProblem = (problem: Error): void => {
    const hint = problem instanceof MemoryError && problem.hint !== undefined ? ` ${problem.hint}` : ''
    void talk(`warning: ${problem.message}${hint}`).catch(() => {})
  }

  const vectorsFor = (options: PlaceOptions): { readonly vectors?: true } =>
    settings(options).sentenceVectors ? { vectors: true } : {}

  const standpoint = ({ scopes, user }: Place, { as, agent, busyTimeoutMs }: StandpointOptions) => ({
    user,
    scopes,
    agent: agent ?? null,
    author: as ?? defaultAuthor,
    ...(busyTimeoutMs === undefined ? {} : { busyTimeoutMs }),
  })

  return {
    workingDirectory: surroundings.workingDirectory,
    startedAt: surroundings.startedAt ?? startedAt,
    place,
    directory: (given) => memoryDirectory({ given, env, cwd: surroundings.workingDirectory, home }),
    settings,
    memory: async (options) => {
      const { openMemory, storeFile } = await import('../open-memory.ts')
      const where = place(options)
      if (!existsSync(storeFile(where.dir))) made.add(where.dir)
      return kept(
        await watched(
          openMemory({ dir: where.dir, onMirrorProblem, ...vectorsFor(options), ...standpoint(where, options) }),
          options,
        ),
      )
    },
    reading: async (options) => {
      const { openMemory, storeFile } = await import('../open-memory.ts')
      const where = place(options)
      if (existsSync(storeFile(where.dir)))
        return kept(
          await watched(
            openMemory({ dir: where.dir, onMirrorProblem, ...vectorsFor(options), ...standpoint(where, options) }),
            options,
          ),
        )
      await talk(`There is no memory in ${where.dir} yet; \`credence remember\` makes one.`)
      return kept(await emptyMemory(standpoint(where, options)))
    },
    hasMemory: async (options) => existsSync((await import('../open-memory.ts')).storeFile(place(options).dir)),
    inDirectory: (directory) => kept(compose({ startedAt, ...surroundings, workingDirectory: () => directory }, talk)),
    streams: () => ({ stdin: surroundings.stdin(), stdout: surroundings.stdout, stderr: surroundings.stderr }),
    machine: {
      platform: surroundings.platform ?? process.platform,
      home,
      env,
      node: process.execPath,
      program: programFile,
      version: () => JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version,
    },
    startDetached: async (argv) => surroundings.startDetached?.(argv),
    storeFile: async (dir) => (await import('../open-memory.ts')).storeFile(dir),
    ports: async (...given) => (await import('../open-memory.ts')).openPorts(...given),
    temporaryDirectory,
    temporaryMemory: async (scopes) => {
      const { openMemory } = await import('../open-memory.ts')
      const dir = temporaryDirectory()
      const clear = (): void => rmSync(dir, { recursive: true, force: true })
      const release = whenInterrupted(clear)
      const memory = openMemory({ dir, scopes, author: defaultAuthor })
      return {
        memory,
        remove: async () => {
          await memory.close()
          clear()
          release()
        },
      }
    },
    extractor: async (spec) => (await import('./open-extractor.ts')).openExtractor(spec, env),
    evaluation: async () => (await import('./evaluation.ts')).composeEvaluation(surroundings),
    taskWork: async () => (await import('./task-work.ts')).composeTaskWork(surroundings),
    readStdin: async () => (await import('./read-text.ts')).readAll(surroundings.stdin(), 'standard input'),
    isInteractive: () => surroundings.stdin().isTTY === true && surroundings.stderr.isTTY === true,
    confirm: async (question) =>
      (await import('./confirm.ts')).askYesOrNo(question, surroundings.stdin(), surroundings.stderr),
    interruption,
    whenInterrupted,
    made,
    close: async () => {
      for (const resource of open) await resource.close()
    },
  }
}

/** A memory with nothing in it, so that looking makes no files. */
async function emptyMemory(standpoint: Standpoint): Promise<Memory> {
  const { memoryFrom } = await import('../memory/memory.ts')
  const { openMemoryStore } = await import('../store/memory-store.ts')
  const ports = { store: openMemoryStore({ random: randomBytes }), now: () => new Date(), newId: () => 'unused' }
  return memoryFrom(ports, standpoint)
}

function settingsIn(file: string, home: string): SomeSettings {
  const text = readIfThere(file)
  return text === null ? {} : located(parseSettings(text, file), () => dirname(file), home)
}

/** A relative path means the place it was written in, and `~` the home directory. */
function located(settings: SomeSettings, base: () => string, home: string): SomeSettings {
  const at = (path: string): string => (/^~(?:[\\/]|$)/.test(path) ? join(home, path.slice(1)) : resolve(base(), path))
  const { evalStoreDir, excludedDirectories } = settings
  return {
    ...settings,
    ...(typeof evalStoreDir === 'string' ? { evalStoreDir: at(evalStoreDir) } : {}),
    ...(Array.isArray(excludedDirectories) ? { excludedDirectories: excludedDirectories.map(at) } : {}),
  }
}

function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw new MemoryError('unavailable', `The settings in ${file} cannot be read (${code}).`, {
      hint: 'Check who owns it.',
      cause,
    })
  }
}

function interruption(): { readonly signal: AbortSignal; readonly release: () => void } {
  const controller = new AbortController()
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const release = (): void => {
    for (const name of signals) process.off(name, abort)
  }
  const abort = (): void => {
    release()
    controller.abort()
  }
  for (const name of signals) process.on(name, abort)
  return { signal: controller.signal, release }
}

/** Cleans up and then ends as an interrupted process does, so that a shell sees 130 and stops its script too. */
function whenInterrupted(cleanUp: () => void): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const stop = (signal: NodeJS.Signals): void => {
    try {
      cleanUp()
    } finally {
      release()
      process.kill(process.pid, signal)
    }
  }
  const release = (): void => {
    for (const signal of signals) process.off(signal, stop)
  }
  for (const signal of signals) process.on(signal, stop)
  return release
}
