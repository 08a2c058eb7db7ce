import type { Settings } from '../config.ts'
import type { Memory } from '../memory/memory.ts'
import type { Author } from '../memory/workshop.ts'
import type { openWorkshop } from '../open-memory.ts'
import type { Evaluation } from './evaluation.ts'

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
}

/** Everything a command has besides its input. Made by compose.ts, and closed by it when the command is done. */
export type Session = {
  readonly workingDirectory: () => string
  readonly place: (options: PlaceOptions) => Place
  readonly settings: (options: PlaceOptions) => Settings
  /** The memory meant, to write to; made when there is none. */
  readonly memory: (options: StandpointOptions) => Promise<Memory>
  /** The memory meant, to read from. Reading makes nothing: where there is no memory, an empty one answers. */
  readonly reading: (options: StandpointOptions) => Promise<Memory>
  /** Where the store of a memory directory lies. */
  readonly storeFile: (dir: string) => Promise<string>
  /** The store itself, for looking after it. */
  readonly workshop: (dir: string) => Promise<ReturnType<typeof openWorkshop>>
  /** A memory that nobody else sees, until `remove` takes every trace of it away; an interrupt does so too. */
  readonly temporaryMemory: (
    scopes: readonly string[],
  ) => Promise<{ readonly memory: Memory; readonly remove: () => Promise<void> }>
  /** What evaluation commands work with. */
  readonly evaluation: () => Promise<Evaluation>
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
