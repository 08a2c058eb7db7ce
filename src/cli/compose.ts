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
): Session & { readonly close: () => Promise<void> } {
  const { env, home } = surroundings
  const open: Memory[] = []
  const kept = (memory: Memory): Memory => {
    open.push(memory)
    return memory
  }

  const directory = (given: string | undefined): string =>
    memoryDirectory({ given, env, cwd: surroundings.workingDirectory, home })

  const settings = ({ dir, user }: PlaceOptions): Settings => {
    const files = [join(directory(dir), 'config.json'), userConfigFile(env, home)].map(settingsIn)
    const fromEnvironment = located(environmentSettings(env), surroundings.workingDirectory)
    return resolveSettings([user === undefined ? {} : { user }, fromEnvironment, ...files])
  }

  const place = (options: PlaceOptions): Place => {
    const dir = directory(options.dir)
    if (statSync(dir, { throwIfNoEntry: false })?.isDirectory() === false) throw notDirectory(dir)
    const { user } = settings(options)
    if (user.trim() === '') throw namelessUser()
    const given = options.scope ?? []
    const project = given.length > 0 ? null : projectScope(surroundings.workingDirectory())
    const scopes = given.length > 0 ? given : [...(project === null ? [] : [project]), universalScope]
    const homeScopes = given.length > 0 ? given : [project ?? universalScope]
    return { dir, user, project, scopes, homeScopes }
  }

  /** Keeps a shadow record of every recall, where that is switched on. */
  const watched = async (memory: Memory, options: PlaceOptions): Promise<Memory> => {
    const { evalHarnessEnabled, evalShadowModeEnabled, evalStoreDir } = settings(options)
    if (!evalHarnessEnabled || !evalShadowModeEnabled) return memory
    const { withShadow } = await import('../eval/harness/shadow-memory.ts')
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

  const standpoint = ({ scopes, user }: Place, { as, agent }: StandpointOptions) => ({
    user,
    scopes,
    agent: agent ?? null,
    author: as ?? defaultAuthor,
  })

  return {
    workingDirectory: surroundings.workingDirectory,
    place,
    settings,
    memory: async (options) => {
      const { openMemory } = await import('../open-memory.ts')
      const where = place(options)
      return kept(await watched(openMemory({ dir: where.dir, ...standpoint(where, options) }), options))
    },
    reading: async (options) => {
      const { openMemory, storeFile } = await import('../open-memory.ts')
      const where = place(options)
      if (existsSync(storeFile(where.dir)))
        return kept(await watched(openMemory({ dir: where.dir, ...standpoint(where, options) }), options))
      await talk(`There is no memory in ${where.dir} yet; \`credence remember\` makes one.`)
      return kept(await emptyMemory(standpoint(where, options)))
    },
    storeFile: async (dir) => (await import('../open-memory.ts')).storeFile(dir),
    workshop: async (dir) => (await import('../open-memory.ts')).openWorkshop(dir),
    temporaryMemory: async (scopes) => {
      const { openMemory } = await import('../open-memory.ts')
      const dir = mkdtempSync(join(surroundings.temporary, 'credence-'))
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
    evaluation: async () => (await import('./evaluation.ts')).composeEvaluation(surroundings),
    readStdin: async () => (await import('./read-text.ts')).readAll(surroundings.stdin(), 'standard input'),
    isInteractive: () => surroundings.stdin().isTTY === true && surroundings.stderr.isTTY === true,
    confirm: async (question) =>
      (await import('./confirm.ts')).askYesOrNo(question, surroundings.stdin(), surroundings.stderr),
    interruption,
    whenInterrupted,
    close: async () => {
      for (const memory of open) await memory.close()
    },
  }
}

/** A memory with nothing in it, so that looking makes no files. */
async function emptyMemory(standpoint: Standpoint): Promise<Memory> {
  const { memoryFrom } = await import('../memory/memory.ts')
  const { openMemoryStore } = await import('../store/memory-store.ts')
  const workshop = { store: openMemoryStore({ random: randomBytes }), now: () => new Date(), newId: () => 'unused' }
  return memoryFrom(workshop, standpoint)
}

function settingsIn(file: string): SomeSettings {
  const text = readIfThere(file)
  return text === null ? {} : located(parseSettings(text, file), () => dirname(file))
}

/** A relative path means the place it was written in. */
const located = (settings: SomeSettings, base: () => string): SomeSettings =>
  typeof settings.evalStoreDir === 'string'
    ? { ...settings, evalStoreDir: resolve(base(), settings.evalStoreDir) }
    : settings

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
