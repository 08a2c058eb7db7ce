import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { universalScope } from './beliefs/scope.ts'
import type { MemoryOptions } from './library.ts'
import { type Memory, memoryFrom } from './memory/memory.ts'
import { caughtUp, keepInStep } from './memory/mirror/keep-in-step.ts'
import type { Ports } from './memory/ports.ts'
import type { Embedder } from './search/embedder.ts'
import { openSqliteStore } from './store/sqlite/sqlite-store.ts'
import { withThread } from './store/sqlite/with-thread.ts'

export const defaultUser = 'local'

/** The path of the store in a memory directory. */
export const storeFile = (dir: string): string => join(dir, 'state', 'credence.db')

/** Opens the memory in a directory without checking the types of arguments, which `library.ts` does. */
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

/** The store of a directory, with the system's clock and random ids. */
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

/** One embedding model for all memories of a process, because it is slow and large to load. */
let miniLm: Promise<Embedder> | undefined
const sharedMiniLm = (): Promise<Embedder> => {
  miniLm ??= import('./search/minilm.ts').then(({ openMiniLm }) => openMiniLm())
  return miniLm
}

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** 60 random bits in an alphabet without i, l, o and u, which are easily misread. */
const newId = (): string => `b-${Array.from(randomBytes(12), (byte) => alphabet[byte & 31]).join('')}`
