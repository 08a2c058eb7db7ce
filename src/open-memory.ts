import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Commit } from './beliefs/journal.ts'
import { teamOf, teamOwner, universalScope } from './beliefs/scope.ts'
import type { CopyOptions } from './copied-texts.ts'
import { checkOwn } from './files/own-files.ts'
import type { MemoryOptions } from './library.ts'
import type { Indexer } from './memory/meaning/background.ts'
import { openSemantic } from './memory/meaning/semantic.ts'
import { type Memory, memoryFrom, routeCalls, type Standpoint } from './memory/memory.ts'
import { syncIfThere, syncOnCommit } from './memory/mirror/sync-on-commit.ts'
import type { Ports } from './memory/ports.ts'
import { RecallCounter } from './memory/recall/tally.ts'
import type { DeviceFile } from './memory/sync/device.ts'
import { omitUndefined } from './omit-undefined.ts'
import type { CaredStore } from './search/store-port.ts'
import type { Boldness } from './search/turns/model.ts'
import { inMemory } from './store/sqlite/database.ts'
import { openKeptStore } from './store/sqlite/idle-stores.ts'
import { openSqliteStore } from './store/sqlite/sqlite-store.ts'
import { isReadOnlyStore, storeSuffixes } from './store/sqlite/store-file.ts'

export const defaultUser = 'local'

export const storeFile = (dir: string): string => join(dir, 'state', 'credence.db')

/** Whether a memory directory has a store, or had one whose file is now missing. */
export const hasStore = (dir: string): boolean => ['', '-head'].some((suffix) => existsSync(storeFile(dir) + suffix))

/** Opens the memory in a directory. Unlike library.ts, does not check the argument types. */
export function openMemory(
  given: Omit<MemoryOptions, 'store'> &
    CopyOptions &
    Pick<PortsOptions, 'server' | 'isOneShot' | 'waitsForModel'> &
    TeamOptions,
): Memory {
  const { dir, user = defaultUser, scopes = [universalScope], everyTeam = given.scopes === undefined } = given
  const author = given.author ?? { actor: 'person', origin: 'library' }
  const standpoint = { user, scopes, agent: given.agent ?? null, author } satisfies Standpoint
  const { mirror: make = false, mirrorAuthority: authority = 'document', onMirrorProblem: onProblem = () => {} } = given
  const owners = async (store: CaredStore) => [
    user,
    ...(await store.memberships(user)).map(({ team }) => teamOwner(team)),
  ]
  const opened = openPorts(dir, {
    // The library reads this variable too, so that it switches vectors off in every program on a machine.
    semantic: process.env.CREDENCE_SEMANTIC || 'on',
    ...(given.isOneShot === true ? {} : { indexedOwners: owners }),
    ...given,
  })
  const ports = syncOnCommit(opened, { dir, user, authority, make, onProblem })
  let finished: Promise<unknown> | undefined
  const beforeCall = async (): Promise<void> => {
    finished ??= opened.finishErasing().then(async (isNeeded) => {
      if (isNeeded) await syncIfThere(opened, { dir, user })
    })
    await finished
    await ports.catchUp()
  }
  return withTeams({ ...ports, beforeCall }, standpoint, everyTeam)
}

/** Opens the memory for reading only. Does not import edits to MEMORY.md, so that no file changes. */
export const openReport = (
  dir: string,
  standpoint: Standpoint,
  { everyTeam = false, ...options }: ReportOptions,
): Memory => withTeams(openPorts(dir, options), standpoint, everyTeam)

type TeamOptions = {
  /** Whether calls without a scope include every team of the user. Default: true if `scopes` is not given. */
  readonly everyTeam?: boolean | undefined
}
type ReportOptions = TeamOptions & Pick<PortsOptions, 'server' | 'semantic' | 'semanticModel'>

/**
 * Joins the memory of a user with those of the user's teams. Every call looks up the teams, so that a long-running program
 * notices changes; the code that joins memories is loaded only if there are teams. In a store without people, `team:` has no
 * special meaning in scopes.
 */
function withTeams(ports: Ports & { readonly store: CaredStore }, standpoint: Standpoint, everyTeam: boolean): Memory {
  const { user, scopes, author } = standpoint
  const isShared = (scope: string): boolean => teamOf(scope) !== null
  const plain = memoryFrom(ports, standpoint)
  const ownScopes = scopes.filter((scope) => !isShared(scope))
  const personal = { ...standpoint, scopes: ownScopes.length === 0 ? [universalScope] : ownScopes }
  const own = scopes.some(isShared) ? memoryFrom(ports, personal) : plain
  const joinTeams = async (given: readonly unknown[]): Promise<Memory> => {
    const teams = await ports.store.memberships(user)
    const asked = given.flatMap((value) => (value as Partial<Standpoint> | undefined)?.scopes ?? [])
    const isAlone = teams.length === 0 && ![...scopes, ...asked].some(isShared)
    if (isAlone || (teams.length === 0 && (await (await ports.store.access()).people()).length === 0)) return plain
    const { memberMemory } = await import('./memory/people/team-memory.ts')
    const unnamed = teams
      .map(({ team }) => teamOwner(team))
      .filter((owner) => !scopes.map(teamOf).includes(teamOf(owner)))
    // The mirror shows only the person's memory, so only calls to that memory import edits.
    const { beforeCall: _beforeCall, ...shared } = ports
    return memberMemory(own, shared, { person: user, scopes: [...scopes, ...unnamed], teams }, author)
  }
  return {
    ...routeCalls(plain, joinTeams),
    recall: async (message, options) =>
      (await joinTeams([options])).recall(message, { ...(everyTeam ? {} : { scopes }), ...options }),
    remember: async (statement) => (await joinTeams([statement])).remember({ scopes, ...statement }),
    import: async (text, options) => (await joinTeams([options])).import(text, { scopes, ...options }),
  }
}

type PortsOptions = {
  /** Opens the store on a server. Default: SQLite in the directory. */
  readonly server?: (() => CaredStore) | undefined
  readonly busyTimeoutMs?: number | undefined
  /** `off` by default, `on` in `openMemory`. */
  readonly semantic?: string | undefined
  readonly semanticModel?: string | null | undefined
  /** The users and teams whose vectors are computed in the background until the store is closed. Default: none. */
  readonly indexedOwners?: (store: CaredStore) => Promise<readonly string[]>
  readonly agentShare?: number | undefined
  readonly recallBoldness?: Boldness | undefined
  /** For a command that ends after one call: recall uses the embedding model only if it is already loaded, or if `waitsForModel`. */
  readonly isOneShot?: boolean
  readonly waitsForModel?: boolean
  /** Opens the store read-only and without migration, to check it. */
  readonly inspect?: boolean
}

/** The store of a directory, with the system's clock and random ids. */
export function openPorts(dir: string, given: PortsOptions & CopyOptions = {}) {
  const { busyTimeoutMs, agentShare, recallBoldness, inspect = false, evalStoreDir, onErased = () => {} } = given
  const openFile = () => {
    const options = { file: storeFile(dir), ...(busyTimeoutMs === undefined ? {} : { busyTimeoutMs }) }
    if (inspect || isReadOnlyStore(options.file)) return openSqliteStore({ ...options, inspect, random: randomBytes })
    for (const suffix of storeSuffixes) checkOwn(dir, options.file + suffix)
    return openKeptStore({ ...options, random: randomBytes })
  }
  const file = given.server === undefined ? openFile() : null
  const opened: CaredStore = file ?? (given.server as () => CaredStore)()
  const { meaning, indexer } = inspect ? { meaning: {} } : openMeaning(dir, opened, given)
  const recallWaitMs = given.waitsForModel === true ? Number.POSITIVE_INFINITY : undefined
  const ports = {
    store: opened,
    // PostgreSQL needs no sync, because machines can share the server.
    ...(file === null ? {} : { sync: file.sync, syncDevice: (user: string) => deviceFileIn(dir, user) }),
    counter: new RecallCounter(opened),
    counts: opened,
    now: () => new Date(),
    newId,
    ...omitUndefined({ agentShare, recallBoldness, recallWaitMs }),
    emptyStore: () => openSqliteStore({ file: inMemory, random: randomBytes }),
    ...meaning,
  } satisfies Ports
  const folder = join(dir, 'state', 'forgetting')
  // Loaded on demand, because most commands forget nothing.
  const openErasing = async () =>
    (await import('./memory/change/erase-copies.ts')).eraseCopiesOnCommit(
      ports.store,
      { dir, folder },
      async (forgotten) => {
        const { eraseCopies } = await import('./copied-texts.ts')
        onErased(forgotten, await eraseCopies({ dir, evalStoreDir }, forgotten))
      },
    )
  return {
    ...ports,
    commitForgetting: async (commit: Commit) => (await openErasing()).commit(commit),
    store: {
      ...ports.store,
      close: async () => {
        ;(await indexer)?.stop()
        await ports.counter.flush()
        await ports.store.close()
      },
    },
    finishErasing: async () => existsSync(folder) && (await openErasing()).finish(),
  }
}

/** The ports for search by meaning, and the background work that computes missing vectors if `indexedOwners` is given. */
function openMeaning(dir: string, store: CaredStore, given: PortsOptions) {
  const semantic = openSemantic({ ...given, apiKey: process.env.CREDENCE_MODEL_KEY })
  if (semantic === null) return { meaning: {} }
  let indexer: Promise<Indexer> | undefined
  let problem: () => string | null = () => null
  if (given.indexedOwners !== undefined) {
    const lock = join(dir, 'state', 'vectors.lock')
    const work = { store, embedder: semantic.background, owners: given.indexedOwners, lock }
    indexer = import('./memory/meaning/background.ts').then(({ indexInBackground }) => indexInBackground(work))
    void indexer.then((started) => {
      problem = started.problem
    })
  }
  const { model, questions, recallByMeaning } = semantic
  return { meaning: { embedder: questions, semantic: { model, problem: () => problem() }, recallByMeaning }, indexer }
}

async function deviceFileIn(dir: string, user: string): Promise<DeviceFile> {
  const { openDeviceFile } = await import('./memory/sync/device.ts')
  return openDeviceFile(dir, user)
}

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** A new id: 60 random bits in an alphabet without i, l, o and u, which are easily misread. */
const newId = (): string => `b-${Array.from(randomBytes(12), (byte) => alphabet[byte & 31]).join('')}`
