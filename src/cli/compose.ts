import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { universalScope } from '../beliefs/scope.ts'
import type { Settings } from '../config.ts'
import { expectedError, invalid, MemoryError, notFound, unavailable } from '../errors.ts'
import { checkOwn } from '../files/own-files.ts'
import { localMinute } from '../local-time.ts'
import type { Extractor } from '../memory/learn/extraction.ts'
import type { Memory, Standpoint } from '../memory/memory.ts'
import { omitUndefined } from '../omit-undefined.ts'
import { defaultAuthor, extractorForms } from './command/options.ts'
import {
  findProjectFile,
  ignoredNotice,
  localName,
  memoryDirectory,
  openingOptions,
  type ProjectFile,
  projectScope,
  readSettings,
  recordsShadows,
  shadowRecorder,
  stateDirectory,
} from './memory-location.ts'
import type {
  LocationOptions,
  MemoryLocation,
  MemoryPlaces,
  OpenedPorts,
  OpenMemories,
  RunningProgram,
  Session,
  StandpointOptions,
  UserTerminal,
} from './session.ts'
import { type EnvironmentVariables, type OutputStream, terminalText } from './text/output.ts'
import type { Progress } from './text/progress-bar.ts'
import { isMemory, isTrusted, trustMemory } from './trusted-memories.ts'

/** Everything that the command line needs from its process, so that it can also run for another process or a test. */
export type ProcessEnvironment = {
  readonly env: EnvironmentVariables
  readonly home: string
  readonly temporary: string
  readonly workingDirectory: () => string
  readonly stdin: () => Readable & { readonly isTTY?: boolean }
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  /** Whether a line of progress may be drawn on a terminal. Default true. */
  readonly showsProgress?: boolean
  /** Whether a memory is created if there is none. Default true. */
  readonly createsMemory?: boolean
  /** Default: the platform of this process. */
  readonly platform?: NodeJS.Platform
  /** When the program started, on the clock of `performance.now()`. Default now. */
  readonly startedAt?: number
  /** Default: starts nothing. */
  readonly startDetached?: (argv: readonly string[], variables: EnvironmentVariables) => Promise<void>
}

/** The file that starts this program, in a clone and in an installed package. */
const programFile = fileURLToPath(new URL('../../bin/credence.js', import.meta.url))

export const packageVersion = (): string =>
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version

export const processEnvironment = (): ProcessEnvironment => ({
  env: process.env,
  home: homedir(),
  temporary: tmpdir(),
  workingDirectory: () => {
    try {
      return process.cwd()
    } catch (cause) {
      throw unavailable('The working directory no longer exists.', 'Change to one that exists.', cause)
    }
  },
  // Touching process.stdin opens it, which most commands do not need.
  stdin: () => process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  // The clock of performance.now() starts at 0 with the process.
  startedAt: 0,
  startDetached: async (argv, variables) => {
    const { spawn } = await import('node:child_process')
    const env = { ...process.env, ...variables }
    const options = { detached: true, stdio: 'ignore', windowsHide: true, env } as const
    const child = spawn(process.execPath, [programFile, ...argv], options)
    // If the process cannot be started, the next hook does its work.
    child.on('error', () => {})
    child.unref()
  },
})

/** Builds the session of a command. `talk` prints a line on standard error. */
export function compose(
  environment: ProcessEnvironment,
  talk: (line: string) => Promise<void>,
  /** Memory directories that were already reported as ignored. */
  reported = new Set<string>(),
): Session & { readonly close: () => Promise<void>; readonly made: ReadonlySet<string> } {
  const { env, home, workingDirectory: cwd, stderr, createsMemory = true } = environment
  const startedAt = performance.now()
  const open: { readonly close: () => Promise<void> }[] = []
  const closeAtEnd = <Resource extends { readonly close: () => Promise<void> }>(resource: Resource): Resource => {
    open.push(resource)
    return resource
  }
  /** Memory directories that this run creates. */
  const made = new Set<string>()

  const onIgnored = (path: string): void => {
    if (!reported.has(path)) void talk(ignoredNotice(path)).catch(() => {})
    reported.add(path)
  }
  const { locate, settings, serverOf, evalRoot, hasMemory, isProjectActive, storeFile, noticeEmpty, trustCreated } =
    locateMemories(environment, onIgnored)

  /** Only a warning: the change is committed, and only MEMORY.md is outdated. */
  const onMirrorProblem = (problem: Error): void => {
    const hint = problem instanceof MemoryError && problem.hint !== undefined ? ` ${problem.hint}` : ''
    void talk(`warning: ${problem.message}${hint}`).catch(() => {})
  }

  let hasSaidOffline = false
  /** Warns that a command reads a local copy. Servers refuse instead, because their clients would not see the warning. */
  const onOffline = (since: Date): void => {
    if (hasSaidOffline) return
    hasSaidOffline = true
    const notice = `PostgreSQL cannot be reached. This is the memory as of ${localMinute(since.toISOString())}.`
    void talk(`warning: ${notice}`).catch(() => {})
  }

  /** `report` writes nothing, and does not even import pending edits to MEMORY.md. */
  const memory = async (options: StandpointOptions, use: 'change' | 'read' | 'report'): Promise<Memory> => {
    const isReading = use !== 'change'
    const { openMemory, openReport } = await import('../open-memory.ts')
    const { dir, store, user, scopes, everyTeam } = locate(options)
    const standpoint = { user, scopes, agent: options.agent ?? null, author: options.as ?? defaultAuthor }
    if (!(await hasMemory(options))) {
      if (isReading) {
        if (options.dir !== undefined && !existsSync(dir)) throw noMemoryIn(dir)
        await talk(`There is no memory in ${dir} yet; \`credence remember\` creates one.`)
        return closeAtEnd(await emptyMemory(standpoint))
      }
      if (!createsMemory) throw noMemoryIn(dir)
      made.add(dir)
    }
    const { busyTimeoutMs, waitsForModel, onErased } = options
    if (!isReading) await sweepTemporaryFiles(dir)
    const server = await serverOpener(dir, store, onOffline)
    const opening = { server, everyTeam, ...openingOptions(settings(options)) }
    if (use === 'report') return closeAtEnd(openReport(dir, standpoint, opening))
    const given = { ...opening, dir, isOneShot: options.staysOpen !== true, onErased, onMirrorProblem, ...standpoint }
    const opened = openMemory({ ...given, ...omitUndefined({ busyTimeoutMs, waitsForModel }) })
    trustCreated()
    if (!isReading && isProjectActive(scopes)) (await import('./former-project.ts')).noteProject(dir, cwd())
    if (!recordsShadows(settings(options))) return closeAtEnd(opened)
    const record = await shadowRecorder(evalRoot(options), (line) => {
      if (env.CREDENCE_DEBUG === '1') void talk(line)
    })
    return closeAtEnd(record(opened))
  }

  const openedPorts = async (
    dir: string,
    options?: Parameters<OpenMemories['ports']>[1],
    whenOffline?: typeof onOffline,
  ): Promise<OpenedPorts> => {
    const { hasStore, openPorts } = await import('../open-memory.ts')
    const isServer = serverOf(dir) !== undefined || options?.server !== undefined
    if (!createsMemory && !isServer && !hasStore(dir)) throw noMemoryIn(dir)
    const given = { server: await serverOpener(dir, serverOf(dir), whenOffline), ...options }
    if (options?.inspect === true) return openPorts(dir, given)
    noticeEmpty(dir)
    await sweepTemporaryFiles(dir)
    const opened = openPorts(dir, given)
    trustCreated()
    return opened
  }
  const temporaryDirectory = (): string => mkdtempSync(join(environment.temporary, 'credence-'))

  /** Handles the first interrupt. Prints a line break first, because the terminal leaves its cursor after `^C`. */
  const handleInterrupt = (handle: () => void): (() => void) => {
    const release = onSignal((signal) => {
      release()
      if (signal === 'SIGINT' && stderr.isTTY) stderr.write('\n')
      handle()
    })
    return release
  }
  const places: MemoryPlaces = {
    workingDirectory: cwd,
    locate,
    locateExisting: async (options) => {
      const location = locate(options)
      if (await hasMemory(options)) return location
      throw noMemoryIn(location.dir)
    },
    directory: (given) => memoryDirectory({ given, env, cwd, home, onIgnored }),
    hasMemory,
    settings,
    evalRoot,
    storeFile,
    serverOf,
    formerProjectNotes: async (options, opened) => {
      const { dir, scopes } = locate(options)
      if (!isProjectActive(scopes)) return []
      return (await import('./former-project.ts')).formerProjectNotes(dir, cwd(), opened)
    },
    inDirectory: (other) =>
      closeAtEnd(compose({ startedAt, ...environment, workingDirectory: () => other }, talk, reported)),
  }
  const memories: OpenMemories = {
    writing: (options) => memory(options, 'change'),
    reading: (options) => memory(options, 'read'),
    reporting: (options) => memory(options, 'report'),
    temporary: async (scopes) => {
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
    ports: (dir, options) => openedPorts(dir, options),
    withPorts: async (dir, use, options) => {
      const opened = await openedPorts(dir, options, onOffline)
      try {
        return await use(opened)
      } finally {
        await opened.store.close()
      }
    },
  }
  const program: RunningProgram = {
    machine: {
      platform: environment.platform ?? process.platform,
      home,
      env,
      node: process.execPath,
      program: programFile,
      version: packageVersion,
    },
    startedAt: environment.startedAt ?? startedAt,
    startDetached: async (argv) => {
      const dir = argv[argv.indexOf('--dir') + 1]
      const store = dir === undefined ? undefined : serverOf(dir)
      // Not passed as an argument: every user of the machine can read arguments, and the address may contain a password.
      await environment.startDetached?.(argv, store === undefined ? {} : { CREDENCE_STORE: store })
    },
    temporaryDirectory,
    interruption: () => {
      const controller = new AbortController()
      const release = handleInterrupt(() => controller.abort())
      closeAtEnd({ close: async () => release() })
      return { signal: controller.signal, release }
    },
    onInterrupt: (end) => void handleInterrupt(() => void end()),
    whenInterrupted,
  }
  return {
    places,
    memories,
    terminal: openTerminal(environment, closeAtEnd),
    program,
    extractor: (spec) => openExtractor(spec, env),
    evaluation: async () => (await import('./evaluation.ts')).composeEvaluation(environment),
    taskWork: async () => (await import('./task-work.ts')).composeTaskWork(environment),
    made,
    close: async () => {
      for (const resource of open) await resource.close()
      trustCreated()
    },
  }
}

const noMemoryIn = (dir: string): MemoryError =>
  notFound(`There is no memory in ${dir}.`, 'Correct --dir, or create a memory with `credence init`.')

/** Finds memory directories, with their scopes and settings, and trusts those that this run creates. */
function locateMemories(environment: ProcessEnvironment, onIgnored: (path: string) => void) {
  const { env, home, workingDirectory: cwd, createsMemory = true } = environment
  let found: { readonly file: ProjectFile | null } | undefined
  /** Drops the scopes of a file that the account does not trust: a cloned repository could name scopes of another project. */
  const projectFile = (): ProjectFile | null => {
    if (found !== undefined) return found.file
    const file = findProjectFile(cwd())
    const namesScopes = file !== null && (file.scope !== null || file.scopes !== null)
    const isIgnored = namesScopes && !isTrusted(stateDirectory({ env, home }), file.file)
    if (isIgnored) onIgnored(file.file)
    found = { file: isIgnored ? { ...file, scope: null, scopes: null } : file }
    return found.file
  }
  const directory = (given: string | undefined): string =>
    memoryDirectory({ given, env, project: () => projectFile()?.dir ?? null, cwd, home, onIgnored })

  /** Empty directories that a later run would use as its memory even if no option names them. */
  const empty = new Set<string>()
  const noticeEmpty = (dir: string): void => {
    if (existsSync(dir) && readdirSync(dir).length > 0) return
    if (basename(dir) === localName || dir === projectFile()?.dir) empty.add(dir)
  }
  /** Trusts the memories that this run has created in `empty` directories. */
  const trustCreated = (): void => {
    for (const dir of [...empty].filter(isMemory)) {
      empty.delete(dir)
      try {
        trustMemory(stateDirectory({ env, home }), dir, new Date())
      } catch (error) {
        // If the state of the account cannot be written, the next run that finds the memory suggests `credence trust`.
        if (expectedError(error) === null) throw error
      }
    }
  }

  const known = new Map<string, Settings>()
  const settings = ({ dir, user }: LocationOptions): Settings => {
    const key = JSON.stringify([dir, user])
    const resolved = known.get(key) ?? readSettings({ dir: directory(dir), user, env, cwd, home })
    known.set(key, resolved)
    return resolved
  }

  /** The PostgreSQL address of each located memory directory. */
  const servers = new Map<string, string | undefined>()
  const serverOf = (dir: string): string | undefined =>
    servers.has(dir) ? servers.get(dir) : env.CREDENCE_STORE || undefined

  const locate = (options: LocationOptions): MemoryLocation => {
    const dir = directory(options.dir)
    if (options.store?.trim() === '')
      throw invalid(
        'The address of the store is empty.',
        'Write postgres://user:password@host/database, or leave --store out.',
      )
    const store = options.store ?? (env.CREDENCE_STORE || undefined)
    if (store !== undefined && !/^postgres(?:ql)?:\/\//u.test(store))
      throw invalid(
        'The address of the store does not begin with postgres://.',
        'Write postgres://user:password@host/database. For SQLite leave --store out and name a directory with --dir. An eval store is named with --evals.',
      )
    servers.set(dir, store)
    if (statSync(dir, { throwIfNoEntry: false })?.isDirectory() === false)
      throw unavailable(`${dir} is a file, not a memory directory.`, 'Name a directory with --dir.')
    noticeEmpty(dir)
    const { user } = settings(options)
    if (user.trim() === '') throw invalid('The user name is empty.', 'Give a name, or leave out --user.')
    const given = options.scope ?? []
    const file = projectFile()
    const hooksEnabled = file?.enabled ?? true
    const place = { dir, store, user, hooksEnabled }
    if (given.length > 0) return { ...place, scopes: given, homeScopes: given, everyTeam: false }
    const project = file?.scope ?? projectScope(cwd())
    const scopes = file?.scopes ?? [...(project === null ? [] : [project]), universalScope]
    const everyTeam = (file?.scopes ?? null) === null
    return { ...place, scopes, homeScopes: scopes.slice(0, 1), everyTeam }
  }

  const evalRoot = (options: LocationOptions): string => {
    const { evalStoreDir } = settings(options)
    if (evalStoreDir !== null) return evalStoreDir
    const { dir } = locate(options)
    const root = join(dir, 'state', 'evals')
    checkOwn(dir, root)
    return root
  }

  const hasMemory = async (options: LocationOptions): Promise<boolean> => {
    const { dir, store } = locate(options)
    const exists = store !== undefined || (await import('../open-memory.ts')).hasStore(dir)
    // A default directory gets its memory with the first belief; a --dir without one is probably mistyped.
    if (!exists && !createsMemory && options.dir !== undefined) throw noMemoryIn(dir)
    return exists
  }

  /** Whether the scope of the repository is active; a `.credence.json` or --scope may replace it. */
  const isProjectActive = (scopes: readonly string[]): boolean => {
    const project = projectScope(cwd())
    return project !== null && scopes.includes(project)
  }
  const storeFile = async (dir: string): Promise<string> => {
    const server = serverOf(dir)
    if (server !== undefined) return (await import('../store/postgres/address.ts')).parseAddress(server).label
    return (await import('../open-memory.ts')).storeFile(dir)
  }
  return { locate, settings, serverOf, evalRoot, hasMemory, isProjectActive, storeFile, noticeEmpty, trustCreated }
}

function openTerminal(
  { env, stdin, stdout, stderr, showsProgress }: ProcessEnvironment,
  closeAtEnd: (asker: Asker) => Asker,
): UserTerminal {
  let asker: Asker | undefined
  const ask = async (question: string, initial?: string): Promise<string | null> => {
    asker ??= closeAtEnd(await openAsker(stdin(), stderr))
    return asker.ask(terminalText(question), initial)
  }
  const isInteractive = (): boolean => stdin().isTTY === true && stderr.isTTY === true
  return {
    streams: () => ({ stdin: stdin(), stdout, stderr }),
    readStdin: async () => (await import('../files/read-text.ts')).readAll(stdin(), 'standard input'),
    printsJson: () => showsProgress === false,
    isInteractive,
    ask,
    confirm: async (question, refusal) => {
      if (refusal !== undefined && !isInteractive()) throw refusal
      return /^\s*y(?:es)?\s*$/i.test((await ask(`${question} [y/N] `)) ?? '')
    },
    withProgress: async (work) => {
      const { ProgressBar } = await import('./text/progress-bar.ts')
      // Reports progress to the server if it has started this process; errors of a closed channel are ignored.
      const report = (progress: Progress): void => void process.send?.({ progress }, () => {})
      const bar = new ProgressBar(stderr, env, { report })
      return work(bar).finally(() => bar.clear())
    },
  }
}

/** Loads the modules for PostgreSQL, and returns a function that opens the store at an address. Undefined without an address. */
async function serverOpener(dir: string, address: string | undefined, onOffline?: (since: Date) => void) {
  if (address === undefined) return undefined
  const { openServer } = await import('../open-server.ts')
  return () => openServer(dir, address, onOffline)
}

/** Removes the files that killed processes left in the folders of a memory. Disk errors are ignored. */
async function sweepTemporaryFiles(dir: string): Promise<void> {
  const { codeOf, sweepLeftovers } = await import('../files/leftovers.ts')
  try {
    for (const folder of ['.', 'state', 'state/mirror', 'state/hook-queue']) {
      checkOwn(dir, join(dir, folder))
      await sweepLeftovers(join(dir, folder))
    }
  } catch (error) {
    if (codeOf(error) === undefined) throw error
  }
}

/** An empty in-memory store, so that reading creates no files. */
async function emptyMemory(standpoint: Standpoint): Promise<Memory> {
  const { memoryFrom } = await import('../memory/memory.ts')
  const { openSqliteStore } = await import('../store/sqlite/sqlite-store.ts')
  const { inMemory } = await import('../store/sqlite/database.ts')
  const store = openSqliteStore({ file: inMemory, random: randomBytes })
  // A dry run may plan several beliefs, which need different ids.
  const newId = (): string => `b-${randomBytes(6).toString('hex')}`
  const ports = { store, now: () => new Date(), newId }
  return memoryFrom(ports, standpoint)
}

async function openExtractor(spec: string, env: EnvironmentVariables): Promise<Extractor> {
  if (spec === 'rules') return (await import('../memory/learn/rules.ts')).rulesExtractor
  if (!/^(?:openai|anthropic):/u.test(spec)) throw invalid(`Unknown extractor "${spec}".`, `Use ${extractorForms}.`)
  const { openChatModel } = await import('../models/open-chat-model.ts')
  const { modelExtractor } = await import('../memory/learn/model-extractor.ts')
  return modelExtractor(openChatModel(spec, env))
}

type Asker = { readonly ask: UserTerminal['ask']; readonly close: () => Promise<void> }

/** Uses one reader for all questions, so that lines typed ahead answer the next questions. */
async function openAsker(input: Readable, output: OutputStream): Promise<Asker> {
  const { createInterface } = await import('node:readline')
  const reader = createInterface({ input, output, terminal: true })
  const typed: (string | null)[] = []
  let pending: { resolve: (line: string | null) => void; reject: (error: unknown) => void } | null = null
  const give = (line: string | null): void => {
    if (pending === null) typed.push(line)
    else pending.resolve(line)
    pending = null
  }
  reader.on('line', give)
  reader.on('close', () => give(null))
  reader.on('SIGINT', () => {
    // Between two questions, Ctrl-C interrupts the program as usual.
    if (pending === null) process.kill(process.pid, 'SIGINT')
    else pending.reject(new DOMException('The question was interrupted.', 'AbortError'))
    pending = null
  })
  return {
    ask: async (question, initial = '') => {
      const [line] = typed
      if (line !== undefined) {
        output.write(`${question}\n`)
        // After the end of the input, every later answer is null too.
        return line === null ? null : (typed.shift() ?? null)
      }
      const lastLine = question.lastIndexOf('\n') + 1
      output.write(question.slice(0, lastLine))
      // The reader needs the prompt to redraw the line when a character is deleted.
      reader.setPrompt(question.slice(lastLine))
      reader.prompt()
      reader.write(initial)
      return new Promise((resolve, reject) => {
        pending = { resolve, reject }
      })
    },
    close: async () => reader.close(),
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

/** Cleans up and then ends the process by the signal, so that a shell sees exit code 130 and stops its script. */
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
