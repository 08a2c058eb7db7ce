import type { Readable, Writable } from 'node:stream'
import type { Settings } from '../config.ts'
import type { CopyOptions } from '../copied-texts.ts'
import type { Extractor } from '../memory/learn/extraction.ts'
import type { Memory } from '../memory/memory.ts'
import type { Author } from '../memory/ports.ts'
import type { openPorts } from '../open-memory.ts'
import type { UsageError } from './command/command.ts'
import type { Evaluation } from './evaluation.ts'
import type { TaskWork } from './task-work.ts'
import type { EnvironmentVariables } from './text/output.ts'
import type { ProgressBar } from './text/progress-bar.ts'

/** The options that select a memory and the scopes in it. */
export type LocationOptions = {
  readonly dir?: string | undefined
  readonly store?: string | undefined
  readonly user?: string | undefined
  readonly scope?: readonly string[]
}

/** The options that also name the reader or author. */
export type StandpointOptions = LocationOptions & {
  readonly as?: Author | undefined
  readonly agent?: string | undefined
  /** How long to wait for another process that is writing. */
  readonly busyTimeoutMs?: number
  /** For long-running programs: vectors are computed in the background, and recall uses them. Default false. */
  readonly staysOpen?: boolean
  /** For people who wait for the answer: recall loads the embedding model and uses vectors. Default: only with `staysOpen`. */
  readonly waitsForModel?: boolean
  /** Called after something was forgotten and its copies outside the store were erased. */
  readonly onErased?: CopyOptions['onErased']
}

/** The selected memory and scopes. */
export type MemoryLocation = {
  readonly dir: string
  /** The address of the PostgreSQL store, with the password; undefined for SQLite in the directory. */
  readonly store: string | undefined
  readonly user: string
  readonly scopes: readonly string[]
  /** The scopes that new beliefs and turns get. */
  readonly homeScopes: readonly string[]
  /** Whether all teams of the user are active too, because no scopes were named. */
  readonly everyTeam: boolean
  /** False if a `.credence.json` switches hooks off. */
  readonly hooksEnabled: boolean
}

/** The machine, for configuring other programs: where their files are, and how they start Credence. */
export type Machine = {
  readonly platform: NodeJS.Platform
  readonly home: string
  readonly env: EnvironmentVariables
  /** The running Node, and the file it was started with. */
  readonly node: string
  readonly program: string
  readonly version: () => string
}

export type OpenedPorts = ReturnType<typeof openPorts>

/**
 * The context of a command, in four parts. compose.ts creates it, and closes it when the command has ended. The code of the
 * last three members is loaded on demand.
 */
export type Session = {
  readonly places: MemoryPlaces
  readonly memories: OpenMemories
  readonly terminal: UserTerminal
  readonly program: RunningProgram
  /** Opens the extractor of statements named by `spec`: `rules`, or a model. */
  readonly extractor: (spec: string) => Promise<Extractor>
  readonly evaluation: () => Promise<Evaluation>
  readonly taskWork: () => Promise<TaskWork>
}

/** The working directory of a command, and the memory, settings and scopes that it uses there. */
export type MemoryPlaces = {
  readonly workingDirectory: () => string
  readonly locate: (options: LocationOptions) => MemoryLocation
  /** The location of a memory that must exist. */
  readonly locateExisting: (options: LocationOptions) => Promise<MemoryLocation>
  /** The memory directory, ignoring `.credence.json`. Works even if that file is invalid. */
  readonly directory: (given: string | undefined) => string
  /** Refuses a --dir without a memory if the command does not create one. */
  readonly hasMemory: (options: LocationOptions) => Promise<boolean>
  readonly settings: (options: LocationOptions) => Settings
  /** The directory of the eval store. */
  readonly evalRoot: (options: LocationOptions) => string
  /** The file of the store in a memory directory, or the address of its PostgreSQL store without the password. */
  readonly storeFile: (dir: string) => Promise<string>
  /** The address of the PostgreSQL store of a memory; undefined for SQLite. */
  readonly serverOf: (dir: string) => string | undefined
  /** Notes for a project without beliefs that probably has some under an earlier path. */
  readonly formerProjectNotes: (options: LocationOptions, memory: Memory) => Promise<readonly string[]>
  /** A session as if the program had been started in another directory. Closed together with this one. */
  readonly inDirectory: (directory: string) => Session
}

/** The ways in which a command opens memories and stores. The session closes the memories that the caller does not. */
export type OpenMemories = {
  /** Opens the memory for writing. Creates it if there is none. */
  readonly writing: (options: StandpointOptions) => Promise<Memory>
  /** Opens the memory for reading. If there is no memory, returns an empty one and creates no files. */
  readonly reading: (options: StandpointOptions) => Promise<Memory>
  /** Like `reading`, but does not import edits to MEMORY.md, so that no file changes at all. */
  readonly reporting: (options: StandpointOptions) => Promise<Memory>
  /** A new memory in a temporary directory. `remove` deletes it; so does an interrupt. */
  readonly temporary: (
    scopes: readonly string[],
  ) => Promise<{ readonly memory: Memory; readonly remove: () => Promise<void> }>
  /** The store itself, for maintenance. The caller closes it. */
  readonly ports: (...given: Parameters<typeof openPorts>) => Promise<OpenedPorts>
  /** Opens the store for one function, and closes it afterwards. */
  readonly withPorts: <Result>(
    dir: string,
    use: (ports: OpenedPorts) => Promise<Result>,
    options?: Parameters<typeof openPorts>[1],
  ) => Promise<Result>
}

/** The person at the terminal, or the streams that replace them. */
export type UserTerminal = {
  /** The streams of the process, for commands that use them for a protocol. */
  readonly streams: () => { readonly stdin: Readable; readonly stdout: Writable; readonly stderr: Writable }
  readonly readStdin: () => Promise<string>
  /** Whether the answer is printed as JSON. */
  readonly printsJson: () => boolean
  /** Whether a person at a terminal can be asked. */
  readonly isInteractive: () => boolean
  /** Returns the typed line; null at the end of the input. Ctrl-C throws an AbortError. `initial`: a text to edit. */
  readonly ask: (question: string, initial?: string) => Promise<string | null>
  /** Asks a yes-or-no question; only y or yes means yes. Throws `refusal` if nobody can be asked. */
  readonly confirm: (question: string, refusal?: UsageError) => Promise<boolean>
  /** Shows the progress of long work on one line of standard error, on a terminal only. */
  readonly withProgress: <Result>(work: (bar: ProgressBar) => Promise<Result>) => Promise<Result>
}

/** The running process: how it was started, how it ends, and how it starts other processes. */
export type RunningProgram = {
  readonly machine: Machine
  /** When the program started, on the clock of `performance.now()`. */
  readonly startedAt: number
  /** Starts another process of this program that outlives this one. A failure to start is not an error. */
  readonly startDetached: (argv: readonly string[]) => Promise<void>
  /** A new directory for temporary files. The caller removes it. */
  readonly temporaryDirectory: () => string
  /** A signal for the first interrupt; a second one ends the process. Released when the session is closed. */
  readonly interruption: () => { readonly signal: AbortSignal; readonly release: () => void }
  /** Runs `end` at the first interrupt, also after the command has answered; a second one ends the process. */
  readonly onInterrupt: (end: () => Promise<void>) => void
  /** Runs `cleanUp` if the process is interrupted, until the function it returns is called. */
  readonly whenInterrupted: (cleanUp: () => void) => () => void
}
