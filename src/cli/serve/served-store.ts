import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { AccessControl } from '../../beliefs/access-store.ts'
import type { StoreCare } from '../../beliefs/store-care.ts'
import { type ServerOptions, serverApp } from '../../http/server-app.ts'
import { type Memory, memoryFrom } from '../../memory/memory.ts'
import { mirrorStatus } from '../../memory/mirror/status.ts'
import { type MirrorRequest, syncMirror } from '../../memory/mirror/sync.ts'
import { syncOnCommit } from '../../memory/mirror/sync-on-commit.ts'
import type { Author, Ports, Store } from '../../memory/ports.ts'
import { mirrorReport } from '../../operations/mirror-report.ts'
import type { MirrorControl, ServedMemory, ServedPeople, TaskEvidence } from '../../operations/served-memory.ts'
import { RecentMap } from '../../recent-map.ts'
import { typedCommand } from '../connect/launch.ts'
import { recordsShadows, shadowRecorder } from '../memory-location.ts'
import type { MemoryLocation, Session } from '../session.ts'
import { backgroundWork } from './background-work.ts'
import { tenantMcp, tenantMemory } from './tenants.ts'

/** The mirror of a directory, as the dashboard shows it. */
function mirrorControl(ports: Ports, request: Pick<MirrorRequest, 'dir' | 'user' | 'authority'>): MirrorControl {
  const status = async () => mirrorReport(await mirrorStatus(ports, request.dir))
  return {
    status,
    sync: async () => {
      await syncMirror(ports, request)
      return status()
    },
  }
}

export type ServedPlace = Pick<MemoryLocation, 'dir' | 'user' | 'scopes' | 'homeScopes'> & { readonly isDemo: boolean }

export type ServedStore = Awaited<ReturnType<typeof openServedStore>>

const maxAuthors = 100

/** Opens the parts of a server. Evaluation, tasks and hosts are loaded when a request needs them. */
export async function openServedStore(
  session: Session,
  opened: Ports & { readonly store: Store & StoreCare & AccessControl },
  place: ServedPlace,
  onProblem: (line: string) => void,
) {
  const { dir, user, scopes, homeScopes, isDemo } = place
  const settings = session.places.settings({ dir })
  const authority = settings.mirrorAuthority
  const ports = syncOnCommit(opened, {
    dir,
    user,
    authority,
    make: false,
    onProblem: ({ message }) => onProblem(message),
  })
  const evalRoot = isDemo ? join(dir, 'state', 'evals') : session.places.evalRoot({ dir })
  const isRecordingShadows = isDemo || recordsShadows(settings)
  // A message that is tried on a page does not count as a use of the memory.
  const { counter: _counter, ...uncounted } = ports
  /** Memories that write shadow records, by author. Closing one only writes its pending records; requests may continue to use it. */
  const watched = new RecentMap<Memory>(maxAuthors, (memory) => void memory.close())
  const plain = (author: Author): Memory => ({
    ...memoryFrom(author.origin === 'dashboard' ? uncounted : ports, { user, scopes, agent: null, author }),
    // The memories share one store, which is closed separately.
    close: async () => {},
  })
  const record = isRecordingShadows ? await shadowRecorder(evalRoot, onProblem) : null
  const memoryAs = (author: Author): Memory => {
    if (record === null) return plain(author)
    const who = `${author.actor} ${author.origin}`
    return watched.get(who) ?? watched.set(who, record(plain(author)))
  }
  const storeFile = await session.places.storeFile(dir)
  const work = backgroundWork(session, { dir, user, evalRoot }, onProblem)
  let access: ReturnType<ServedPeople['access']> | null = null
  const served: ServedMemory = {
    view: { user, scopes, homeScopes, agent: null, hasFixedScopes: false },
    memories: {
      // A message that is tried on a page is not a live recall, so it gets no shadow record.
      dashboard: plain({ actor: 'person', origin: 'dashboard' }),
      http: memoryAs({ actor: 'person', origin: 'http' }),
      agent: memoryAs({ actor: 'agent', origin: 'http' }),
    },
    ports,
    catchUp: ports.catchUp,
    server: {
      version: session.program.machine.version(),
      isDemo,
      command: typedCommand(session.program.machine),
      now: () => new Date(),
      clock: () => performance.now(),
    },
    people: {
      access: () => {
        access ??= opened.store.access().then((store) => ({ ...ports, access: store, random: randomBytes }))
        access.catch(() => {
          access = null
        })
        return access
      },
      memoryOf: (principal, team) => tenantMemory(served, ports, principal, team),
    },
    installation: {
      dir,
      storeFile: () => ({ file: storeFile, bytes: sizeOf(storeFile), logBytes: sizeOf(`${storeFile}-wal`) }),
      mirror: mirrorControl(opened, { dir, user, authority }),
      background: work,
      hosts: () => hostsOf(session),
      evals: {
        root: evalRoot,
        shippedPacks: join(session.program.machine.program, '..', '..', 'packs'),
        isRecordingShadows,
        openSystem: async () =>
          (await session.evaluation()).openAs(ports.embedder === undefined ? { semantic: 'off' } : settings),
        taskWork: async (runId, taskId, repeat) => {
          const { runFolder } = await import('../../eval/store/documents.ts')
          return taskWorkOf(runFolder(evalRoot, runId), taskId, repeat + 1)
        },
      },
    },
  }
  return {
    served,
    evalRoot,
    work,
    /** The memory for another author, with shadow records if they are on. */
    memoryAs,
    /** Waits for running work and closes the store. */
    close: async (): Promise<void> => {
      await work.stop()
      for (const memory of watched.values()) await memory.close()
      await ports.store.close()
    },
  }
}

/** The API, the dashboard and MCP of an open store. */
export function servedApp(
  { served, memoryAs }: ServedStore,
  options: Omit<ServerOptions, 'served' | 'mcpHandler'>,
  hasFixedScopes = false,
) {
  const { version } = served.server
  const view = { ...served.view, hasFixedScopes }
  const mcp = tenantMcp(served.ports, {
    version,
    view,
    memoryAs: async (author) => memoryAs(author),
    onBug: options.onBug,
  })
  const mcpHandler: ServerOptions['mcpHandler'] = async (request, caller) => {
    await served.catchUp()
    return mcp.fetch(request, caller)
  }
  return { ...serverApp({ ...options, served, mcpHandler }), mcp }
}

async function hostsOf(session: Session) {
  const { hostStatuses } = await import('../connect/status.ts')
  return hostStatuses(session.program.machine, session.places.workingDirectory()).map(({ files, ...status }) => ({
    ...status,
    levels: [...status.levels],
    files: files.map(({ path, connected, problem }) => ({ path, connected, problem })),
  }))
}

/** The evidence and the grade of a task; null if the evidence was not kept. */
async function taskWorkOf(folder: string, taskId: string, repeat: number): Promise<TaskEvidence | null> {
  const { readEvidence } = await import('../../tasks/run/evidence-folder.ts')
  const { evidencePath, readGrade } = await import('../../tasks/task-outcomes.ts')
  const evidence = await readEvidence(evidencePath(folder, taskId, repeat)).catch(() => null)
  if (evidence === null) return null
  const grade = await readGrade(folder, taskId, repeat)
  return {
    repeat,
    sessions: evidence.sessions.map(({ id, prompt, answer, isFresh, outcome, toolCalls }) => {
      return { id, prompt, answer, isFresh, outcome, toolCalls }
    }),
    checks: (grade?.checks ?? []).map(({ session, id, passed, expected, found }) => {
      return { session, id, passed, expected, found }
    }),
  }
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0
