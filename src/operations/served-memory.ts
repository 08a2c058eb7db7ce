import type { Belief } from '../beliefs/belief.ts'
import type { StoreCare, StoreFinding } from '../beliefs/store-care.ts'
import { type MemoryError, notFound } from '../errors.ts'
import type { SystemUnderTest } from '../eval/system/under-test.ts'
import type { Memory } from '../memory/memory.ts'
import type { AccessPorts, Principal } from '../memory/people/access.ts'
import type { Ports } from '../memory/ports.ts'
import type { MemoryView } from './view.ts'

/** How a request was authenticated: by the cookie, the person's token or the agents' token. This determines the author. */
export type Channel = 'dashboard' | 'http' | 'agent'

/** One memory as a server serves it: the installation's own, that of a person with a token, or that of a team. */
export type ServedMemory = {
  readonly view: MemoryView
  /** The memory for each channel, which writes as the author of the channel. */
  readonly memories: Readonly<Record<Channel, Memory>>
  /** For reads by exact id, and for reads of the dashboard: links, counts and growth. */
  readonly ports: ServedPorts
  /** Imports edits to MEMORY.md before a request is handled. Costs one `stat` call if the file is unchanged. */
  readonly catchUp: () => Promise<void>
  readonly server: ServerFacts
  readonly people: ServedPeople
  /** Access to the memory directory; null for people with a token of the store, who may not see its files. */
  readonly installation: Installation | null
}

/** `head` shows whether anything has changed. */
export type ServedPorts = Ports & { readonly store: Pick<StoreCare, 'head'> }

export type ServerFacts = {
  readonly version: string
  readonly isDemo: boolean
  /** The command that a person types to start Credence. */
  readonly command: string
  readonly now: () => Date
  /** A monotonic clock in milliseconds. */
  readonly clock: () => number
}

export type ServedPeople = {
  readonly access: () => Promise<AccessPorts>
  /** The memory of the person who has the token, or of one of their teams. */
  readonly memoryOf: (principal: Principal, team?: string) => ServedMemory
}

export type Installation = {
  readonly dir: string
  readonly storeFile: () => { readonly file: string; readonly bytes: number; readonly logBytes: number }
  readonly mirror: MirrorControl
  readonly background: BackgroundWork
  /** The programs that can be connected to the memory, with their status. */
  readonly hosts: () => Promise<readonly Host[]>
  readonly evals: ServedEvals
}

/** Reports the state of MEMORY.md, and syncs it. */
export type MirrorControl = { status(): Promise<MirrorReport>; sync(): Promise<MirrorReport> }

/** The state of MEMORY.md. */
export type MirrorReport = {
  readonly exists: boolean
  readonly file: string | null
  readonly isInSync: boolean | null
  readonly items: number | null
  readonly lastSyncAt: string | null
  /** Number of files with conflicting saves of MEMORY.md, which could not be merged. */
  readonly conflicts: number
  /** Whether an edit that removes many lines waits for a person's decision. */
  readonly isHeld: boolean
  readonly problems: readonly string[]
}

type HookSeen = { readonly at: string; readonly event: string; readonly outcome: string }

/** A program that can be connected to the memory. */
export type Host = {
  readonly host: string
  readonly connected: 'yes' | 'partly' | 'no'
  /** Whether the user has a configuration file for this program. */
  readonly detected: boolean
  readonly levels: readonly string[]
  readonly files: readonly { readonly path: string; readonly connected: boolean; readonly problem: string | null }[]
  readonly version: { readonly at: string; readonly version: string } | null
  readonly lastHook:
    | (HookSeen & {
        readonly prompts?: number | undefined
        /** Number of prompts that were answered too late for the program. */
        readonly late?: number | undefined
        readonly lastPrompt?: string | null | undefined
        /** When a hook last added context, and how many lines. */
        readonly lastLines?: { readonly at: string; readonly lines: number } | null | undefined
        readonly lastFailure?: HookSeen | null | undefined
        /** For each event whose last hook failed: when the current series of failures began. */
        readonly failingSince?: Readonly<Record<string, string>> | undefined
        /** How many session starts came in a row, and since when; null if the last hook was for a different event. */
        readonly onlyStarts?: { readonly sessions: number; readonly since: string } | null | undefined
      })
    | null
  readonly lastCall: { readonly at: string; readonly tool: string } | null
}

/** The sessions and checks of a task in one repeat of a run. */
export type TaskEvidence = {
  readonly repeat: number
  readonly sessions: readonly {
    readonly id: string
    readonly prompt: string
    readonly answer: string | null
    readonly isFresh: boolean
    readonly outcome: string
    readonly toolCalls: number
  }[]
  readonly checks: readonly {
    readonly session: string
    readonly id: string
    readonly passed: boolean
    readonly expected: string
    readonly found: string
  }[]
}

/** Work that runs in a separate process, because it would block this one. */
export type BackgroundWork = {
  doctor(): Promise<{ readonly ok: boolean; readonly findings: readonly StoreFinding[] }>
  /** The progress of a running check; null if none is running or none has reported yet. */
  checking(): { readonly label: string; readonly done: number; readonly total: number } | null
  startRun(pack: string): Promise<{ readonly runId: string }>
  running(): string | null
}

export type ServedEvals = {
  readonly root: string
  readonly shippedPacks: string
  readonly isRecordingShadows: boolean
  /** Opens the system on which a captured case is run immediately. */
  readonly openSystem: () => Promise<SystemUnderTest>
  /** The sessions and checks of a task in one repeat of a run; null if they were not kept. */
  readonly taskWork: (runId: string, taskId: string, repeat: number) => Promise<TaskEvidence | null>
}

/** Reads a belief by its whole id. Names and id prefixes are only for people: a program must never get the wrong belief. */
export async function readBeliefById({ ports, view }: ServedMemory, id: string): Promise<Belief> {
  const belief = await ports.store.get(view.user, id)
  if (belief !== null) return belief
  throw noBelief(id)
}

export const noBelief = (id: string): MemoryError =>
  notFound(`There is no belief with the id "${id}".`, 'It may have been forgotten. GET beliefs lists all beliefs.')

type Kept = { readonly key: unknown; readonly made: Promise<unknown> }
const keptFor = new WeakMap<object, Map<string, Kept>>()

/**
 * Caches one result for each owner and name until the key changes. Concurrent callers share one call; failures are not
 * cached.
 */
export function cacheFor<Result>(
  owner: object,
  name: string,
  key: unknown,
  make: () => Promise<Result>,
): Promise<Result> {
  const kept = keptFor.get(owner) ?? new Map<string, Kept>()
  keptFor.set(owner, kept)
  const last = kept.get(name)
  // The key determines the type.
  if (last !== undefined && last.key === key) return last.made as Promise<Result>
  const made = make()
  kept.set(name, { key, made })
  made.catch(() => {
    if (kept.get(name)?.made === made) kept.delete(name)
  })
  return made
}

/** Like `cacheFor`, but caches the result for `ttlMs`. */
export function cacheForMs<Result>(
  served: ServedMemory,
  name: string,
  ttlMs: number,
  make: () => Promise<Result>,
): Promise<Result> {
  const now = served.server.clock()
  const since = sinceOf.get(served) ?? new Map<string, number>()
  sinceOf.set(served, since)
  if (now - (since.get(name) ?? Number.NEGATIVE_INFINITY) >= ttlMs) since.set(name, now)
  return cacheFor(served, name, since.get(name), make)
}
const sinceOf = new WeakMap<ServedMemory, Map<string, number>>()

/** Like `cacheFor`, but caches the result until the memory changes. */
export const cacheUntilChange = async <Result>(
  served: ServedMemory,
  name: string,
  make: () => Promise<Result>,
): Promise<Result> => cacheFor(served, name, (await served.ports.store.head()).number, make)
