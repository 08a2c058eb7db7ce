import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import type { Commit } from './beliefs/journal.ts'
import { teamOf, teamOwner, universalScope } from './beliefs/scope.ts'
import type { ForgottenTexts } from './files/erase-texts.ts'
import { checkOwn } from './files/own-files.ts'
import type { MemoryOptions } from './library.ts'
import type { Forgotten } from './memory/change/erase-copies.ts'
import { type Memory, memoryFrom, routed, type Standpoint } from './memory/memory.ts'
import { syncIfThere, syncOnCommit } from './memory/mirror/sync-on-commit.ts'
import type { Ports } from './memory/ports.ts'
import { RecallCounter } from './memory/recall/tally.ts'
import type { DeviceFile } from './memory/sync/device.ts'
import type { Embedder } from './search/embedder.ts'
import type { CaredStore } from './search/store-port.ts'
import { deferredStore } from './store/deferred-store.ts'
import { inMemory } from './store/sqlite/database.ts'
import { openSqliteStore } from './store/sqlite/sqlite-store.ts'
import { isReadOnlyStore, storeSuffixes } from './store/sqlite/store-file.ts'

export const defaultUser = 'local'

export const storeFile = (dir: string): string => join(dir, 'state', 'credence.db')

/** Whether there is a store in a memory directory, or was one whose file is missing now. */
export const hasStore = (dir: string): boolean => ['', '-head'].some((suffix) => existsSync(storeFile(dir) + suffix))

/** Opens the memory in a directory without checking the types of arguments, which `library.ts` does. */
export function openMemory(given: MemoryOptions & CopyOptions & Pick<PortsOptions, 'onOffline'> & TeamOptions): Memory {
  const { dir, user = defaultUser, scopes = [universalScope], everyTeam = given.scopes === undefined } = given
  const author = given.author ?? { actor: 'person', origin: 'library' }
  const standpoint = { user, scopes, agent: given.agent ?? null, author } satisfies Standpoint
  const { mirror: make = false, mirrorAuthority: authority = 'document', onMirrorProblem: onProblem = () => {} } = given
  const opened = openPorts(dir, given)
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

/** The memory in a directory as the store has it. Edits of MEMORY.md are not taken in, so that reading changes no file. */
export const openReport = (
  dir: string,
  standpoint: Standpoint,
  { store, onOffline, everyTeam = false }: ReportOptions,
): Memory => withTeams(openPorts(dir, { store, onOffline }), standpoint, everyTeam)

type TeamOptions = {
  /** Whether a call that names no scope asks every team of the user, too. Default: if `scopes` names none. */
  readonly everyTeam?: boolean | undefined
}
type ReportOptions = TeamOptions & Pick<PortsOptions, 'store' | 'onOffline'>

/**
 * The memory of a user, joined with those of the teams that the person of this name belongs to. Every call looks the teams up, so
 * that a program that goes on running notices when they change; what joins them is loaded only where there are some. In a store
 * without people, `team:` is a scope like any other.
 */
function withTeams(ports: Ports & { readonly store: CaredStore }, standpoint: Standpoint, everyTeam: boolean): Memory {
  const { user, scopes, author } = standpoint
  const isShared = (scope: string): boolean => teamOf(scope) !== null
  const plain = memoryFrom(ports, standpoint)
  const ownScopes = scopes.filter((scope) => !isShared(scope))
  const personal = { ...standpoint, scopes: ownScopes.length === 0 ? [universalScope] : ownScopes }
  const own = scopes.some(isShared) ? memoryFrom(ports, personal) : plain
  const joined = async (given: readonly unknown[]): Promise<Memory> => {
    const teams = await ports.store.memberships(user)
    const asked = given.flatMap((one) => (one as Partial<Standpoint> | undefined)?.scopes ?? [])
    const isAlone = teams.length === 0 && ![...scopes, ...asked].some(isShared)
    if (isAlone || (teams.length === 0 && (await (await ports.store.access()).people()).length === 0)) return plain
    const { memberMemory } = await import('./memory/people/team-memory.ts')
    const unnamed = teams
      .map(({ team }) => teamOwner(team))
      .filter((owner) => !scopes.map(teamOf).includes(teamOf(owner)))
    // The mirror shows the person's own memory, whose calls take in its edits.
    const { beforeCall: _beforeCall, ...shared } = ports
    return memberMemory(own, shared, { person: user, scopes: [...scopes, ...unnamed], teams }, author)
  }
  return {
    ...routed(plain, joined),
    recall: async (message, options) =>
      (await joined([options])).recall(message, { ...(everyTeam ? {} : { scopes }), ...options }),
    remember: async (statement) => (await joined([statement])).remember({ scopes, ...statement }),
    import: async (text, options) => (await joined([options])).import(text, { scopes, ...options }),
  }
}

type PortsOptions = {
  /** The address of a PostgreSQL store. Default: SQLite in the directory. */
  readonly store?: string | undefined
  readonly busyTimeoutMs?: number | undefined
  readonly vectors?: boolean
  readonly agentShare?: number | undefined
  /** Opens the store for reading only, as it is, to check it. */
  readonly inspect?: boolean
  /** Allows reads while PostgreSQL cannot be reached; called with the time of the state that answered. */
  readonly onOffline?: ((since: Date) => void) | undefined
}

/** The store of a directory, with the system's clock and random ids. */
export function openPorts(dir: string, given: PortsOptions & CopyOptions = {}) {
  const { store: address, busyTimeoutMs, agentShare, inspect = false, evalStoreDir, onErased = () => {} } = given
  const openFile = () => {
    const options = { file: storeFile(dir), ...(busyTimeoutMs === undefined ? {} : { busyTimeoutMs }) }
    if (!inspect && !isReadOnlyStore(options.file))
      for (const suffix of storeSuffixes) checkOwn(dir, options.file + suffix)
    return openSqliteStore({ ...options, inspect, random: randomBytes })
  }
  const file = address === undefined ? openFile() : null
  const opened = file ?? openServer(address as string, dir, given.onOffline)
  const ports = {
    store: opened,
    // PostgreSQL is shared as it is.
    ...(file === null ? {} : { sync: file.sync, syncDevice: (user: string) => deviceFileIn(dir, user) }),
    counter: new RecallCounter(opened),
    counts: opened,
    now: () => new Date(),
    newId,
    ...(agentShare === undefined ? {} : { agentShare }),
    emptyStore: () => openSqliteStore({ file: inMemory, random: randomBytes }),
    ...(given.vectors ? { embedder: sharedMiniLm } : {}),
  } satisfies Ports
  const folder = join(dir, 'state', 'forgetting')
  // Loaded when something is forgotten: most commands forget nothing.
  const erasing = async () =>
    (await import('./memory/change/erase-copies.ts')).erasingCopies(ports.store, { dir, folder }, async (forgotten) =>
      onErased(forgotten, await eraseCopies({ dir, evalStoreDir }, forgotten)),
    )
  return {
    ...ports,
    commitForgetting: async (commit: Commit) => (await erasing()).commit(commit),
    store: {
      ...ports.store,
      close: async () => {
        await ports.counter.flush()
        await ports.store.close()
      },
    },
    finishErasing: async () => existsSync(folder) && (await erasing()).finish(),
  }
}

async function deviceFileIn(dir: string, user: string): Promise<DeviceFile> {
  const { openDeviceFile } = await import('./memory/sync/device.ts')
  return openDeviceFile(dir, user)
}

/** The driver of PostgreSQL is loaded only where it is used. */
function openServer(address: string, dir: string, onOffline: PortsOptions['onOffline']): CaredStore {
  return deferredStore(async () => {
    const { openPostgresStore } = await import('./store/postgres/postgres-store.ts')
    return openPostgresStore({ address, random: randomBytes, cacheDir: postgresCache(dir), onOffline })
  })
}

/** Copies of memories whose store is PostgreSQL. They can be made again. */
const postgresCache = (dir: string): string => join(dir, 'state', 'postgres-cache')

/** Where copies of texts may be besides the store, and a callback for their erasure. */
export type CopyOptions = {
  /** An eval store outside the memory directory. */
  readonly evalStoreDir?: string | null | undefined
  /** Called after something was forgotten and its copies erased. */
  readonly onErased?: ((forgotten: Forgotten, erased: ErasedCopies) => void) | undefined
}

export type ErasedCopies = {
  /** Files that held a forgotten text and no longer do. */
  readonly changed: readonly string[]
  /** Files that may still hold one, because they could not be changed. */
  readonly unchanged: readonly { readonly file: string; readonly reason: string }[]
}

/**
 * Erases forgotten texts from everything in a memory directory besides the store and the mirror, which erase their own:
 * captured cases, runs, messages of hooks, backups, drafts of processes that died. A file that cannot be changed is
 * returned with the reason: the texts are gone from the store in any case.
 */
export async function eraseCopies(
  { dir, evalStoreDir }: { readonly dir: string } & Pick<CopyOptions, 'evalStoreDir'>,
  forgotten: ForgottenTexts & Partial<Forgotten>,
): Promise<ErasedCopies> {
  const { Eraser, eraseInFile, filesBelow } = await import('./files/erase-texts.ts')
  const { sweepLeftovers } = await import('./files/leftovers.ts')
  const { forgetInBackup, isStoreFile } = await import('./store/sqlite/care/backup.ts')
  const changed: string[] = []
  const unchanged: { file: string; reason: string }[] = []
  const attempt = async (file: string, erase: () => Promise<readonly string[]>): Promise<void> => {
    try {
      changed.push(...(await erase()))
    } catch (error) {
      unchanged.push({ file, reason: error instanceof Error ? error.message : String(error) })
    }
  }
  const [state, live] = [join(dir, 'state'), storeFile(dir)]
  const evals = evalStoreDir ?? join(state, 'evals')
  const { user, actor, origin, at = new Date().toISOString(), turnIds = [], beliefIds } = forgotten
  if (existsSync(evals)) {
    const { eraseFromEvals } = await import('./eval/store/erase.ts')
    const { evalStoreIn } = await import('./eval/store/documents.ts')
    await attempt(evals, async () => eraseFromEvals(evalStoreDir ?? evalStoreIn(dir), forgotten, at))
  }
  await Promise.all([dir, state, join(state, 'hook-queue')].map(sweepLeftovers))
  const eraser = new Eraser(forgotten)
  const isOthers = (folder: string): boolean =>
    ['mirror', 'evals', 'forgetting', 'postgres-cache'].some((name) => folder === join(state, name))
  // The live database is never opened as a file, under none of its names: closing it would drop the locks on it.
  for (const file of filesBelow(state, (folder) => !isOthers(folder)))
    if (!file.startsWith(live)) await attempt(file, async () => ((await eraseInFile(file, eraser)) ? [file] : []))
  const isCopy = (file: string): boolean => {
    const { ino, size } = statSync(file)
    return (
      size > 0 &&
      ino !== statSync(live, { throwIfNoEntry: false })?.ino &&
      !/^\.tmp-/u.test(basename(file)) &&
      isStoreFile(file)
    )
  }
  for (const file of filesBelow(dir, (folder) => !isOthers(folder)))
    if (!file.startsWith(live) && user !== undefined && actor !== undefined && origin !== undefined && isCopy(file)) {
      const erasure = { user, actor, origin, at, beliefIds, turnIds }
      await attempt(file, async () => ((await forgetInBackup({ file, random: randomBytes }, erasure)) ? [file] : []))
    }
  return { changed, unchanged }
}

/** The files of a memory directory besides the store, its backups and the mirror that contain one of the texts. */
export async function copiesOf(
  { dir, evalStoreDir }: { readonly dir: string } & Pick<CopyOptions, 'evalStoreDir'>,
  texts: ForgottenTexts,
): Promise<readonly string[]> {
  const { Eraser, filesBelow } = await import('./files/erase-texts.ts')
  const { isStoreFile } = await import('./store/sqlite/care/backup.ts')
  const [state, live] = [join(dir, 'state'), storeFile(dir)]
  const evals = evalStoreDir ?? join(state, 'evals')
  const eraser = new Eraser(texts)
  const isOwn = (folder: string): boolean =>
    !['mirror', 'forgetting', 'postgres-cache'].some((name) => folder === join(state, name))
  const roots = [state, ...(relative(state, evals).startsWith('..') ? [evals] : [])].filter((root) => existsSync(root))
  return roots
    .flatMap((root) => [...filesBelow(root, isOwn)])
    .filter((file) => {
      if (file.startsWith(live) || isStoreFile(file)) return false
      const text = readFileSync(file, 'utf8')
      return eraser.inText(text) !== text
    })
}

/** One embedding model for all memories of a process, because it is slow and large to load. */
let miniLm: Promise<Embedder> | undefined
/** Texts whose vectors are kept: people ask for the next page, or the same thing again. */
const mostQuestions = 100

const sharedMiniLm = (): Promise<Embedder> => {
  miniLm ??= Promise.all([import('./search/minilm/minilm.ts'), import('./search/embedder.ts')]).then(
    async ([{ openMiniLm }, { cachedEmbedder }]) => cachedEmbedder(await openMiniLm(), mostQuestions),
  )
  return miniLm
}

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** 60 random bits in an alphabet without i, l, o and u, which are easily misread. */
const newId = (): string => `b-${Array.from(randomBytes(12), (byte) => alphabet[byte & 31]).join('')}`
