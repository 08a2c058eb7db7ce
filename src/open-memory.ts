import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { universalScope } from './beliefs/scope.ts'
import { type Memory, memoryFrom, type Standpoint } from './memory/memory.ts'
import type { Workshop } from './memory/workshop.ts'
import { openSqliteStore } from './store/sqlite/sqlite-store.ts'

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
}: MemoryOptions): Memory {
  const standpoint = { user, scopes, agent, author: author ?? { actor: 'person', origin: 'library' } }
  return memoryFrom(openWorkshop(dir), standpoint)
}

/** The store of a directory with a real clock and real chance. */
export function openWorkshop(dir: string) {
  const store = openSqliteStore({ file: storeFile(dir), random: randomBytes })
  return { store, now: () => new Date(), newId } satisfies Workshop
}

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** 60 random bits, written so that they can be read out: no i, l, o or u. */
const newId = (): string => `b-${Array.from(randomBytes(12), (byte) => alphabet[byte & 31]).join('')}`
