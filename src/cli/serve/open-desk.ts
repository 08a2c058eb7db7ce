import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { StoreCare } from '../../beliefs/store-care.ts'
import { withShadow } from '../../eval/shadow/shadow-memory.ts'
import { defaultEmbedder } from '../../eval/system/embedders/open-embedder.ts'
import type { ServerDeps } from '../../http/api/server-deps.ts'
import type { Author, Ports } from '../../memory/change/transaction.ts'
import { type Memory, memoryFrom } from '../../memory/memory.ts'
import { keepInStep } from '../../memory/mirror/keep-in-step.ts'
import type { Store } from '../../memory/store.ts'
import type { Session } from '../session.ts'
import { backgroundWork, type StoppableWork } from './background-work.ts'
import { mirrorDesk } from './mirror-desk.ts'

/** Which memory is served, and where in it one stands. */
export type ServedPlace = {
  readonly dir: string
  readonly user: string
  readonly scopes: readonly string[]
  readonly homeScopes: readonly string[]
  readonly isDemo: boolean
}

export type OpenDesk = {
  readonly desk: ServerDeps
  readonly work: StoppableWork
  /** The memory from another standpoint, watched where that is switched on. */
  readonly memoryAs: (author: Author) => Memory
  /** Waits for what is under way and lets go of the store. */
  readonly close: () => Promise<void>
}

const mostAuthors = 100

/** Builds what the server works with, on a store that is open already. */
export async function openDesk(
  session: Session,
  opened: Ports & { readonly store: Store & StoreCare },
  place: ServedPlace,
  onProblem: (line: string) => void,
): Promise<OpenDesk> {
  const { dir, user, scopes, homeScopes, isDemo } = place
  const ports = keepInStep(opened, { dir, user, make: false, onProblem: ({ message }) => onProblem(message) })
  const settings = session.settings({ dir })
  const evalRoot = (isDemo ? null : settings.evalStoreDir) ?? join(dir, 'state', 'evals')
  const isRecordingShadows = isDemo || (settings.evalHarnessEnabled && settings.evalShadowModeEnabled)
  /** By author: agents come and go, and each has an origin of its own. */
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
      // Only writes what it still has to write; whoever is using it may go on.
      void oldest[1].close()
    }
    return memory
  }
  const evaluation = await session.evaluation()
  const storeFile = await session.storeFile(dir)
  const work = backgroundWork(session, { dir, user, evalRoot }, onProblem)
  const desk: ServerDeps = {
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
    desk,
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
