import type { Readable, Writable } from 'node:stream'
import type { Settings } from '../config.ts'
import type { Author } from '../memory/change/transaction.ts'
import type { Extractor } from '../memory/learn/extraction.ts'
import type { Memory } from '../memory/memory.ts'
import type { openPorts } from '../open-memory.ts'
import type { Evaluation } from './evaluation.ts'
import type { Environment } from './output.ts'
import type { TaskWork } from './task-work.ts'

/** The options that say which memory is meant. */
export type PlaceOptions = {
  readonly dir?: string | undefined
  readonly user?: string | undefined
  readonly scope?: readonly string[]
}

/** The options that also say who is asking or writing. */
export type StandpointOptions = PlaceOptions & {
  readonly as?: Author | undefined
  readonly agent?: string | undefined
  /** How long to wait for another process that is writing. */
  readonly busyTimeoutMs?: number
}

/** Which memory is meant, and where in it one stands. */
export type Place = {
  readonly dir: string
  readonly user: string
  /** The project of the working directory, when that is in a repository. */
  readonly project: string | null
  /** What is in view. */
  readonly scopes: readonly string[]
  /** Where something new is written to. */
  readonly homeScopes: readonly string[]
  /** False where a `.credence.json` says so. */
  readonly hooksEnabled: boolean
}

/** Where other programs keep their configuration, and how this one is started. */
export type Machine = {
  readonly platform: NodeJS.Platform
  readonly home: string
  readonly env: Environment
  /** The Node that is running, and the file it was started with. */
  readonly node: string
  readonly program: string
  readonly version: () => string
}

/** Everything a command has besides its input. Made by compose.ts, and closed by it when the command is done. */
export type Session = {
  readonly workingDirectory: () => string
  /** When the program started, on the clock of `performance.now()`. */
  readonly startedAt: number
  readonly place: (options: PlaceOptions) => Place
  /** The memory directory as far as it is known without asking the project, for when that has nothing sensible to say. */
  readonly directory: (given: string | undefined) => string
  readonly settings: (options: PlaceOptions) => Settings
  /** The memory meant, to write to; made when there is none. */
  readonly memory: (options: StandpointOptions) => Promise<Memory>
  /** The memory meant, to read from. Reading makes nothing: where there is no memory, an empty one answers. */
  readonly reading: (options: StandpointOptions) => Promise<Memory>
  /** The same as if it had been started in another directory. Closed together with this one. */
  readonly inDirectory: (directory: string) => Session
  /** The program's own streams, for commands that speak a protocol on them. */
  readonly streams: () => { readonly stdin: Readable; readonly stdout: Writable; readonly stderr: Writable }
  /** What commands that set up other programs know of the machine. */
  readonly machine: Machine
  /** Starts this program once more, to go on by itself when this one has ended. That it could not be started is no error. */
  readonly startDetached: (argv: readonly string[]) => Promise<void>
  /** Whether the memory meant has been made. */
  readonly hasMemory: (options: PlaceOptions) => Promise<boolean>
  /** Where the store of a memory directory lies. */
  readonly storeFile: (dir: string) => Promise<string>
  /** The store itself, for looking after it. */
  readonly ports: (...given: Parameters<typeof openPorts>) => Promise<ReturnType<typeof openPorts>>
  /** A new directory for short-lived files. Whoever asks for it removes it. */
  readonly temporaryDirectory: () => string
  /** A memory that nobody else sees, until `remove` takes every trace of it away; an interrupt does so too. */
  readonly temporaryMemory: (
    scopes: readonly string[],
  ) => Promise<{ readonly memory: Memory; readonly remove: () => Promise<void> }>
  /** What finds statements in messages: `rules`, or a model by its name. */
  readonly extractor: (spec: string) => Promise<Extractor>
  /** What evaluation commands work with. */
  readonly evaluation: () => Promise<Evaluation>
  /** What commands that put agents to work on tasks are made of. */
  readonly taskWork: () => Promise<TaskWork>
  readonly readStdin: () => Promise<string>
  /** Whether somebody sits at a terminal and can be asked. */
  readonly isInteractive: () => boolean
  /** Asks a question that is answered with yes or no, and no unless yes is said. */
  readonly confirm: (question: string) => Promise<boolean>
  /** A signal that the first interrupt raises, so that long work can end in order; the second one ends the process. */
  readonly interruption: () => { readonly signal: AbortSignal; readonly release: () => void }
  /** Runs `cleanUp` if the process is interrupted, until the function it returns is called. */
  readonly whenInterrupted: (cleanUp: () => void) => () => void
}
