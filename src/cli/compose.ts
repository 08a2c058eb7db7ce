import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { universalScope } from '../beliefs/scope.ts'
import type { Settings } from '../config.ts'
import { MemoryError } from '../errors.ts'
import type { Extractor } from '../memory/learn/extraction.ts'
import type { Memory, Standpoint } from '../memory/memory.ts'
import { omitUndefined } from '../omit-undefined.ts'
import { defaultAuthor, extractorForms } from './command/options.ts'
import { findProjectFile, memoryDirectory, type ProjectFile, projectScope, readSettings } from './memory-location.ts'
import type { LocationOptions, MemoryLocation, Session, StandpointOptions } from './session.ts'
import type { EnvironmentVariables, OutputStream } from './text/output.ts'

/** The process that the command line runs in: all it knows of the world outside. */
export type ProcessEnvironment = {
  readonly env: EnvironmentVariables
  readonly home: string
  /** The directory for temporary files. */
  readonly temporary: string
  readonly workingDirectory: () => string
  readonly stdin: () => Readable & { readonly isTTY?: boolean }
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  /** Default: the platform of this process. */
  readonly platform?: NodeJS.Platform
  /** When the program started, on the clock of `performance.now()`. Default now. */
  readonly startedAt?: number
  /** Default: starts nothing. */
  readonly startDetached?: (argv: readonly string[]) => Promise<void>
}

/** The file that starts this program, in a clone and in an installed package. */
const programFile = fileURLToPath(new URL('../../bin/credence.js', import.meta.url))

export const packageVersion = (): string =>
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version

/** The environment of this process. */
export const processEnvironment = (): ProcessEnvironment => ({
  env: process.env,
  home: homedir(),
  temporary: tmpdir(),
  workingDirectory: () => {
    try {
      return process.cwd()
    } catch (cause) {
      const hint = 'Change to one that exists.'
      throw new MemoryError('unavailable', 'The working directory is gone.', { hint, cause })
    }
  },
  // Touching process.stdin opens it, which most commands do not need.
  stdin: () => process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  // The clock of performance.now() began with the process.
  startedAt: 0,
  startDetached: async (argv) => {
    const { spawn } = await import('node:child_process')
    const options = { detached: true, stdio: 'ignore', windowsHide: true } as const
    const child = spawn(process.execPath, [programFile, ...argv], options)
    // If it cannot be started, the next hook does its work.
    child.on('error', () => {})
    child.unref()
  },
})

/** Builds what a command works with. `talk` prints a line on standard error. */
export function compose(
  environment: ProcessEnvironment,
  talk: (line: string) => Promise<void>,
): Session & { readonly close: () => Promise<void>; readonly made: ReadonlySet<string> } {
  const { env, home, workingDirectory: cwd, stdin, stderr } = environment
  const startedAt = performance.now()
  const open: { readonly close: () => Promise<void> }[] = []
  const closedAtEnd = <Resource extends { readonly close: () => Promise<void> }>(resource: Resource): Resource => {
    open.push(resource)
    return resource
  }
  /** Memory directories that this run makes. */
  const made = new Set<string>()

  let found: { readonly file: ProjectFile | null } | undefined
  const projectFile = (): ProjectFile | null => {
    found ??= { file: findProjectFile(cwd()) }
    return found.file
  }
  const directory = (given: string | undefined): string =>
    memoryDirectory({ given, env, project: () => projectFile()?.dir ?? null, cwd, home })

  const known = new Map<string, Settings>()
  const settings = ({ dir, user }: LocationOptions): Settings => {
    const key = JSON.stringify([dir, user])
    const resolved = known.get(key) ?? readSettings({ dir: directory(dir), user, env, cwd, home })
    known.set(key, resolved)
    return resolved
  }

  const locate = (options: LocationOptions): MemoryLocation => {
    const dir = directory(options.dir)
    if (statSync(dir, { throwIfNoEntry: false })?.isDirectory() === false)
      throw new MemoryError('unavailable', `${dir} is a file, not a memory directory.`, {
        hint: 'Name a directory with --dir.',
      })
    const { user } = settings(options)
    if (user.trim() === '')
      throw new MemoryError('invalid', 'The user has no name.', { hint: 'Name one, or leave --user out.' })
    const given = options.scope ?? []
    const file = projectFile()
    const hooksEnabled = file?.enabled ?? true
    if (given.length > 0) return { dir, user, scopes: given, homeScopes: given, hooksEnabled }
    const project = file?.scope ?? projectScope(cwd())
    const scopes = file?.scopes ?? [...(project === null ? [] : [project]), universalScope]
    return { dir, user, scopes, homeScopes: scopes.slice(0, 1), hooksEnabled }
  }

  /** Whether the scope of the repository is active; a `.credence.json` or --scope may replace it. */
  const isProjectActive = (scopes: readonly string[]): boolean => {
    const project = projectScope(cwd())
    return project !== null && scopes.includes(project)
  }

  /** Records every recall, where shadow mode is switched on. */
  const withShadowRecords = async (memory: Memory, options: LocationOptions): Promise<Memory> => {
    const { evalHarnessEnabled, evalShadowModeEnabled, evalStoreDir } = settings(options)
    if (!evalHarnessEnabled || !evalShadowModeEnabled) return memory
    const { withShadow } = await import('../eval/shadow/shadow.ts')
    return withShadow(memory, {
      root: evalStoreDir ?? join(directory(options.dir), 'state', 'evals'),
      now: () => new Date(),
      clock: () => performance.now(),
      // A recall does not fail because its record is lost.
      onProblem: (error) => {
        if (env.CREDENCE_DEBUG === '1') void talk(`No shadow record was kept: ${String(error)}`)
      },
    })
  }

  /** The change is made; only MEMORY.md lags behind. */
  const onMirrorProblem = (problem: Error): void => {
    const hint = problem instanceof MemoryError && problem.hint !== undefined ? ` ${problem.hint}` : ''
    void talk(`warning: ${problem.message}${hint}`).catch(() => {})
  }

  const memory = async (options: StandpointOptions, isReading: boolean): Promise<Memory> => {
    const { openMemory, storeFile } = await import('../open-memory.ts')
    const { dir, user, scopes } = locate(options)
    const standpoint = { user, scopes, agent: options.agent ?? null, author: options.as ?? defaultAuthor }
    if (!existsSync(storeFile(dir))) {
      if (isReading) {
        await talk(`There is no memory in ${dir} yet; \`credence remember\` makes one.`)
        return closedAtEnd(await emptyMemory(standpoint))
      }
      made.add(dir)
    }
    const { busyTimeoutMs } = options
    const vectors = settings(options).sentenceVectors
    const opened = openMemory({ dir, onMirrorProblem, vectors, ...standpoint, ...omitUndefined({ busyTimeoutMs }) })
    if (!isReading && isProjectActive(scopes)) (await import('./former-project.ts')).noteProject(dir, cwd())
    return closedAtEnd(await withShadowRecords(opened, options))
  }

  const ports: Session['ports'] = async (...given) => (await import('../open-memory.ts')).openPorts(...given)
  const storeFile = async (dir: string): Promise<string> => (await import('../open-memory.ts')).storeFile(dir)
  const temporaryDirectory = (): string => mkdtempSync(join(environment.temporary, 'credence-'))

  return {
    workingDirectory: cwd,
    startedAt: environment.startedAt ?? startedAt,
    locate,
    directory: (given) => memoryDirectory({ given, env, cwd, home }),
    settings,
    memory: (options) => memory(options, false),
    reading: (options) => memory(options, true),
    formerProjectNotes: async (options, opened) => {
      const { dir, scopes } = locate(options)
      if (!isProjectActive(scopes)) return []
      return (await import('./former-project.ts')).formerProjectNotes(dir, cwd(), opened)
    },
    hasMemory: async (options) => existsSync(await storeFile(locate(options).dir)),
    storeFile,
    ports,
    withPorts: async (dir, use) => {
      const opened = await ports(dir)
      try {
        return await use(opened)
      } finally {
        await opened.store.close()
      }
    },
    inDirectory: (other) => closedAtEnd(compose({ startedAt, ...environment, workingDirectory: () => other }, talk)),
    streams: () => ({ stdin: stdin(), stdout: environment.stdout, stderr }),
    machine: {
      platform: environment.platform ?? process.platform,
      home,
      env,
      node: process.execPath,
      program: programFile,
      version: packageVersion,
    },
    startDetached: async (argv) => environment.startDetached?.(argv),
    temporaryDirectory,
    temporaryMemory: async (scopes) => {
      const { openMemory } = await import('../open-memory.ts')
      const dir = temporaryDirectory()
      const clear = (): void => rmSync(dir, { recursive: true, force: true })
      const release = whenInterrupted(clear)
      const temporary = openMemory({ dir, scopes, author: defaultAuthor })
      return {
        memory: temporary,
        remove: async () => {
          await temporary.close()
          clear()
          release()
        },
      }
    },
    extractor: (spec) => openExtractor(spec, env),
    evaluation: async () => (await import('./evaluation.ts')).composeEvaluation(environment),
    taskWork: async () => (await import('./task-work.ts')).composeTaskWork(environment),
    readStdin: async () => (await import('../files/read-text.ts')).readAll(stdin(), 'standard input'),
    isInteractive: () => stdin().isTTY === true && stderr.isTTY === true,
    confirm: (question) => askYesOrNo(question, stdin(), stderr),
    interruption: () => {
      const controller = new AbortController()
      const release = onSignal(() => {
        release()
        controller.abort()
      })
      closedAtEnd({ close: async () => release() })
      return { signal: controller.signal, release }
    },
    onInterrupt: (end) => {
      const release = onSignal(() => {
        release()
        void end()
      })
    },
    whenInterrupted,
    made,
    close: async () => {
      for (const resource of open) await resource.close()
    },
  }
}

/** A memory without files, so that reading makes none. */
async function emptyMemory(standpoint: Standpoint): Promise<Memory> {
  const { memoryFrom } = await import('../memory/memory.ts')
  const { openMemoryStore } = await import('../store/memory-store.ts')
  const ports = { store: openMemoryStore({ random: randomBytes }), now: () => new Date(), newId: () => 'unused' }
  return memoryFrom(ports, standpoint)
}

async function openExtractor(spec: string, env: EnvironmentVariables): Promise<Extractor> {
  if (spec === 'rules') return (await import('../memory/learn/rules.ts')).rulesExtractor
  if (!/^(?:openai|anthropic):/u.test(spec))
    throw new MemoryError('invalid', `Unknown extractor "${spec}".`, { hint: `Use ${extractorForms}.` })
  const { openChatModel } = await import('../models/open-chat-model.ts')
  const { modelExtractor } = await import('../memory/learn/model-extractor.ts')
  return modelExtractor(openChatModel(spec, env))
}

/** Only y or yes means yes. Ctrl-C is an AbortError; the end of the input means no. */
async function askYesOrNo(question: string, input: Readable, output: OutputStream): Promise<boolean> {
  const { createInterface } = await import('node:readline')
  const lines = createInterface({ input, output, terminal: true })
  try {
    return await new Promise((resolve, reject) => {
      lines.on('SIGINT', () => reject(new DOMException('The question was interrupted.', 'AbortError')))
      lines.on('close', () => resolve(false))
      lines.question(`${question} [y/N] `, (answer) => resolve(/^\s*y(?:es)?\s*$/i.test(answer)))
    })
  } finally {
    lines.close()
  }
}

/** Calls `handle` for every signal that interrupts a program, until the function it returns is called. */
function onSignal(handle: (signal: NodeJS.Signals) => void): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.on(signal, handle)
  return () => {
    for (const signal of signals) process.off(signal, handle)
  }
}

/** Cleans up and then ends as an interrupted process does, so that a shell sees 130 and stops its script too. */
function whenInterrupted(cleanUp: () => void): () => void {
  const release = onSignal((signal) => {
    try {
      cleanUp()
    } finally {
      release()
      process.kill(process.pid, signal)
    }
  })
  return release
}
