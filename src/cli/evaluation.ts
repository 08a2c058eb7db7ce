import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Settings } from '../config.ts'
import { invalid } from '../errors.ts'
import type { ConversationOptions } from '../eval/runners/conversation/conversation-runner.ts'
import { recallRunners } from '../eval/runners/retrieval/retrieval-runner.ts'
import type { Runner } from '../eval/runners/runner.ts'
import { readSystemName, Systems } from '../eval/system/systems.ts'
import type { Extractor } from '../memory/learn/extraction.ts'
import { defaultEmbedder, openEmbedder } from '../memory/meaning/open-embedder.ts'
import type { Ports } from '../memory/ports.ts'
import type { Embedder } from '../search/embedder.ts'
import { inMemory } from '../store/sqlite/database.ts'
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts'
import { type ProcessEnvironment, packageVersion } from './compose.ts'
import type { Session } from './session.ts'
import type { TaskWork } from './task-work.ts'
import { ProgressBar } from './text/progress-bar.ts'

export type Evaluation = ReturnType<typeof composeEvaluation>

type RunnersRequest = {
  readonly runner: string | undefined
  readonly embedder: string
  readonly extractor: (spec: string) => Promise<Extractor>
  /** The published data of a conversation suite. */
  readonly data: string | undefined
}

/** Every run starts with an empty temporary store, so that it never touches a memory of the user. */
export function composeEvaluation({
  env,
  stderr,
  temporary,
  showsProgress = true,
}: Pick<ProcessEnvironment, 'env' | 'stderr' | 'temporary' | 'showsProgress'>) {
  const version = packageVersion()
  const openModel = (spec: string): Promise<Embedder> => openEmbedder(spec, { apiKey: env.OPENAI_API_KEY })
  const packs = fileURLToPath(new URL('../../packs', import.meta.url))
  const clock = (): number => performance.now()
  const progress = new ProgressBar(stderr, env, { isShown: showsProgress })
  const conversationKinds = new Map<string, Promise<Runner>>()
  const own = { openStore: openEmptyStore, version, clock, packsDirectory: packs }
  const systems = ({ packsDirectory, embedder }: { readonly packsDirectory: string; readonly embedder: string }) =>
    new Systems({ ...own, packsDirectory, openEmbedder: () => openModel(embedder) })
  return {
    /** The packs that ship with Credence. */
    packsDirectory: packs,
    openEmbedder: openModel,
    systems,
    /** Credence with the vectors of a memory: a case in `my-cases` then gets the answer that the memory gives. */
    openAs: ({ semantic, semanticModel }: Partial<Settings>) => {
      const isLocal = semantic === 'on' || semantic === 'off'
      const embedder = isLocal ? defaultEmbedder : `openai:${semantic}:${semanticModel}`
      const open = (): Promise<Embedder> => openEmbedder(embedder, { apiKey: env.CREDENCE_MODEL_KEY })
      return new Systems({ ...own, openEmbedder: open }).open(semantic === 'off' ? 'bm25' : 'credence-vectors')
    },
    /** The runners in src/eval. Loads the learning runner only if no other runner is called `runner`. */
    runners: async ({ runner, embedder, extractor, data }: RunnersRequest): Promise<readonly Runner[]> => {
      if (runner === 'red-team') return [await composeRedTeamRunner({ temporary, version, clock })]
      if (runner === 'conversation') {
        const key = JSON.stringify([embedder, data])
        const kind =
          conversationKinds.get(key) ??
          composeConversationRunner(() => openModel(embedder), {
            data,
            version,
            clock,
            onProgress: (label, done, total) => progress.show(label, done, total),
          })
        conversationKinds.set(key, kind)
        return [await kind]
      }
      const memories = systems({ packsDirectory: packs, embedder })
      const runners = recallRunners((system) => memories.open(readSystemName(system)))
      if (runners.some(({ name }) => name === runner)) return runners
      const { learningRunner } = await import('../eval/runners/learning/learning-runner.ts')
      const open = (system: string) => extractorOrControl(system, extractor)
      return [...runners, learningRunner({ open, openPorts: emptyPorts, version, clock })]
    },
    progress,
  }
}

/** The runner of conversation packs. Runs Credence on SQLite in a temporary directory, as in real use. */
async function composeConversationRunner(
  openEmbedder: () => Promise<Embedder>,
  { version, ...options }: Omit<ConversationOptions, 'open'> & { readonly version: string },
): Promise<Runner> {
  const { conversationRunner } = await import('../eval/runners/conversation/conversation-runner.ts')
  const { openTurnSystem } = await import('../eval/runners/conversation/turn-systems.ts')
  let embedder: Promise<Embedder> | undefined
  const parts = {
    version,
    openEmbedder: () => {
      embedder ??= openEmbedder()
      return embedder
    },
    open: async () => ({ ...emptyPorts(), ...openTemporaryStore() }),
  }
  return conversationRunner({ ...options, open: (name) => openTurnSystem(name, parts) })
}

/** A SQLite store in a temporary directory. */
function openTemporaryStore() {
  const dir = mkdtempSync(join(tmpdir(), 'credence-suite-'))
  return {
    store: openSqliteStore({ file: join(dir, 'credence.db'), random: randomBytes }),
    dispose: async () => rmSync(dir, { recursive: true, force: true }),
  }
}

/** The runner of red-team packs. Attacks Credence through its real interfaces, or one of the controls. */
async function composeRedTeamRunner({
  temporary,
  ...options
}: {
  readonly temporary: string
  readonly version: string
  readonly clock: () => number
}): Promise<Runner> {
  const { redTeamRunner } = await import('../eval/runners/red-team/red-team-runner.ts')
  const { defenceless, refuseEverything } = await import('../eval/runners/red-team/controls.ts')
  const { openRedTeamTarget } = await import('./red-team-target.ts')
  const credence = { name: 'credence', open: () => openRedTeamTarget(temporary) }
  const systems = [credence, defenceless, { name: 'refusing', open: refuseEverything(credence.open) }]
  const open = async (name: string) => {
    const system = systems.find((known) => known.name === name)
    if (system !== undefined) return system
    throw invalid(
      `Red-team packs cannot be run on "${name}".`,
      `Use one of ${systems.map((system) => system.name).join(', ')}.`,
    )
  }
  return redTeamRunner({ ...options, open })
}

const openEmptyStore = () => openSqliteStore({ file: inMemory, random: randomBytes })

function emptyPorts(): Ports {
  let last = 0
  const newId = (): string => `b-${++last}`
  return { store: openEmptyStore(), now: () => new Date(), newId }
}

/** The extractor of this name, or one of the controls. */
async function extractorOrControl(spec: string, open: (spec: string) => Promise<Extractor>): Promise<Extractor> {
  const controls = await import('../eval/runners/learning/learning-runner.ts')
  if (spec === 'none') return controls.nothingExtractor
  if (spec === 'everything') return controls.everythingExtractor
  return open(spec)
}

/** The runners. The one for tasks loads agents, graders and a sandbox, so it is added only for task packs. */
export async function packRunners(session: Session, runner: string | undefined, embedder: string, data?: string) {
  const evaluation = await session.evaluation()
  const runners = await evaluation.runners({ runner, embedder, data, extractor: session.extractor })
  return runner === 'task' ? [...runners, await composeTaskRunner(await session.taskWork())] : runners
}

/** The runner of task packs, which grades in the sandbox and without a judge. */
async function composeTaskRunner(work: TaskWork): Promise<Runner> {
  const { taskRunner } = await import('../tasks/task-runner.ts')
  return taskRunner({
    agent: (spec, options) => work.agent(spec, [], options),
    graders: () => work.graders(null),
    now: () => new Date(),
    searchPath: work.searchPath,
    temporary: work.temporary,
  })
}
