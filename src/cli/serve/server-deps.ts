import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { StoreCare } from '../../beliefs/store-care.ts'
import { withShadow } from '../../eval/shadow/shadow.ts'
import { defaultEmbedder } from '../../eval/system/open-embedder.ts'
import type { Answer } from '../../http/api/contract.ts'
import type { MirrorControl, ServerDeps } from '../../http/api/server-deps.ts'
import { type Memory, memoryFrom } from '../../memory/memory.ts'
import { keepInStep } from '../../memory/mirror/keep-in-step.ts'
import { type MirrorStatus, mirrorStatus } from '../../memory/mirror/status.ts'
import { syncMirror } from '../../memory/mirror/sync.ts'
import type { Author, Ports, Store } from '../../memory/ports.ts'
import type { MemoryLocation, Session } from '../session.ts'
import { backgroundWork, type StoppableWork } from './background-work.ts'

/** The mirror of a directory, as the dashboard shows it. */
export function mirrorDesk(
  ports: Ports,
  { dir, user }: { readonly dir: string; readonly user: string },
): MirrorControl {
  const status = async () => described(await mirrorStatus(ports, dir))
  return {
    status,
    sync: async () => {
      await syncMirror(ports, { dir, user })
      return status()
    },
  }
}

function described(status: MirrorStatus): Answer<'mirror'> {
  if (!status.exists) {
    return { exists: false, file: status.file, isInSync: null, items: null, lastSyncAt: null, problems: [] }
  }
  const { file, isInStep, items, syncedAt, problem, held, conflicts, refused, editedFiles, pendingEvents } = status
  const counted = (count: number, one: string, many: string): readonly string[] =>
    count === 0 ? [] : [`${count} ${count === 1 ? one : many}`]
  return {
    exists: true,
    file,
    isInSync: isInStep,
    items,
    lastSyncAt: syncedAt,
    problems: [
      ...(problem === null ? [] : [problem.message]),
      ...(held === null ? [] : [`Held for review: ${held.reason} (${held.file}).`]),
      ...conflicts.map((conflict) => `Changed on both sides; see ${conflict.file}.`),
      ...counted(refused.length, 'line could not be taken in.', 'lines could not be taken in.'),
      ...editedFiles.map((name) => `${name} was changed since the last sync.`),
      ...counted(pendingEvents, 'change is not in the file yet.', 'changes are not in the file yet.'),
    ],
  }
}

/** The memory that is served. */
export type ServedMemory = Pick<MemoryLocation, 'dir' | 'user' | 'scopes' | 'homeScopes'> & { readonly isDemo: boolean }

export type ServedStore = {
  readonly deps: ServerDeps
  readonly work: StoppableWork
  /** The memory for another author, with shadow records where they are switched on. */
  readonly memoryAs: (author: Author) => Memory
  /** Waits for running work and closes the store. */
  readonly close: () => Promise<void>
}

const mostAuthors = 100

/** Builds the server's dependencies on an open store. */
export async function openServerDeps(
  session: Session,
  opened: Ports & { readonly store: Store & StoreCare },
  place: ServedMemory,
  onProblem: (line: string) => void,
): Promise<ServedStore> {
  const { dir, user, scopes, homeScopes, isDemo } = place
  const ports = keepInStep(opened, { dir, user, make: false, onProblem: ({ message }) => onProblem(message) })
  const settings = session.settings({ dir })
  const evalRoot = (isDemo ? null : settings.evalStoreDir) ?? join(dir, 'state', 'evals')
  const isRecordingShadows = isDemo || (settings.evalHarnessEnabled && settings.evalShadowModeEnabled)
  /** By author, since each agent has an origin of its own. */
  const watched = new Map<string, Memory>()
  const plain = (author: Author): Memory => ({
    ...memoryFrom(ports, { user, scopes, agent: null, author }),
    // All of them share one store, which is closed once.
    close: async () => {},
  })
  const memoryAs = (author: Author): Memory => {
    if (!isRecordingShadows) return plain(author)
    const who = `${author.actor} ${author.origin}`
    const known = watched.get(who)
    if (known !== undefined) return known
    const memory = withShadow(plain(author), {
      root: evalRoot,
      now: () => new Date(),
      clock: () => performance.now(),
      onProblem: (error) => onProblem(`No shadow record was kept: ${String(error)}`),
    })
    watched.set(who, memory)
    const [oldest] = watched
    if (watched.size > mostAuthors && oldest !== undefined) {
      watched.delete(oldest[0])
      // Writes pending records only; requests that use it may go on.
      void oldest[1].close()
    }
    return memory
  }
  const evaluation = await session.evaluation()
  const storeFile = await session.storeFile(dir)
  const work = backgroundWork(session, { dir, user, evalRoot }, onProblem)
  const deps: ServerDeps = {
    version: session.machine.version(),
    dir,
    user,
    scopes,
    homeScopes,
    isDemo,
    memories: {
      // Trying a message on a page is not a live recall.
      dashboard: plain({ actor: 'person', origin: 'dashboard' }),
      http: memoryAs({ actor: 'person', origin: 'http' }),
    },
    store: ports.store,
    storeFile: () => ({ file: storeFile, bytes: sizeOf(storeFile), logBytes: sizeOf(`${storeFile}-wal`) }),
    mirror: mirrorDesk(opened, place),
    catchUp: ports.catchUp,
    evalRoot,
    shippedPacks: evaluation.packsDirectory,
    isRecordingShadows,
    openSubject: () =>
      evaluation.backends({ packsDirectory: evaluation.packsDirectory, embedder: defaultEmbedder }).open('bm25'),
    background: work,
    now: () => new Date(),
    clock: () => performance.now(),
  }
  return {
    deps,
    work,
    memoryAs,
    close: async () => {
      await work.stop()
      for (const memory of watched.values()) await memory.close()
      await ports.store.close()
    },
  }
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0
