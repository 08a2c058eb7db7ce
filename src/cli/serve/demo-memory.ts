import { join } from 'node:path'
import { createSnapshot } from '../../eval/gate/baselines.ts'
import { newRunId, startRun } from '../../eval/run/run.ts'
import { recallRunners } from '../../eval/runners/retrieval/retrieval-runner.ts'
import { openPackFolder } from '../../eval/runners/runner.ts'
import { withShadow } from '../../eval/shadow/shadow.ts'
import type { HeardTurn } from '../../memory/conversation/hear.ts'
import { type HearOptions, type Memory, memoryFrom } from '../../memory/memory.ts'
import { syncMirror } from '../../memory/mirror/sync.ts'
import type { Author, Ports } from '../../memory/ports.ts'
import { defaultUser } from '../../open-memory.ts'
import { defaultAuthor } from '../command/options.ts'
import { playTour, tourScopes } from '../commands/connect/tour.ts'
import { machineOf } from '../commands/evaluate/benchmark-store.ts'
import type { Session } from '../session.ts'
import conversations from './demo-conversations.json' with { type: 'json' }

const ledger = 'project:ledger'

const memoryAs = (ports: Ports, author: Author): Memory =>
  memoryFrom(ports, { user: defaultUser, scopes: tourScopes, agent: null, author })

/** The memory of the demo's person. Its recalls count as live ones, so `close` writes their shadow records. */
const watchedMemory = (ports: Ports, dir: string, author: Author = defaultAuthor): Memory =>
  // Closing this memory must not close the store, which the caller still uses.
  withShadow(
    { ...memoryAs(ports, author), close: async () => {} },
    { root: join(dir, 'state', 'evals'), now: ports.now, clock: () => performance.now(), onProblem: () => {} },
  )

/** Fills an empty memory with the beliefs and recalls of the tour, and a proposal of an agent. */
export async function fillDemo(ports: Ports, dir: string): Promise<void> {
  const memory = watchedMemory(ports, dir)
  for await (const _scene of playTour(memory));
  await memory.close()
  const agent = memoryAs(ports, { actor: 'agent', origin: 'claude-code' })
  const content = 'The ledger is kept in Postgres 18.'
  await agent.remember({ name: 'Postgres', content, type: 'decision', scopes: [ledger] })
  await syncMirror(ports, { dir, user: defaultUser })
}

/** The messages of the person in the demo, oldest first. */
type DemoConversation = {
  readonly daysAgo: number
  readonly session: string
  readonly host: string
  readonly learn: NonNullable<HearOptions['learn']>
  readonly turns: readonly (HeardTurn & Required<Pick<HeardTurn, 'role'>>)[]
}

const minuteMs = 60_000
const dayMs = 86_400_000

/** Adds a relation between two beliefs, and a question with the decision that settled it. */
async function connectSome(ports: Ports): Promise<void> {
  const memory = memoryAs(ports, defaultAuthor)
  const scopes = [ledger]
  await memory.remember({
    name: 'release sign-off',
    content: 'Ada signs off every release on the morning of release day.',
    type: 'relation',
    relation: 'signs off',
    participants: ['Ada Okafor', 'release day'],
    scopes,
  })
  const question = 'Do invoice numbers restart every year?'
  await memory.remember({ name: 'invoice numbers', content: question, type: 'open_question', scopes })
  await memory.resolve('invoice numbers', { name: 'invoice numbering', content: 'Invoice numbers never restart.' })
}

/** Fills the demo as of two weeks ago, and adds later conversations in which beliefs are stored and recalled. */
export async function fillDemoWithPast(ports: Ports, dir: string): Promise<void> {
  const start = ports.now().getTime()
  const at = (ms: number): Ports => ({ ...ports, now: () => new Date(ms) })
  await fillDemo(at(start - 14 * dayMs), dir)
  await connectSome(at(start - 13 * dayMs))
  for (const { daysAgo, session, host, learn, turns } of conversations as readonly DemoConversation[]) {
    const end = start - daysAgo * dayMs
    const memory = watchedMemory(at(end), dir, { actor: 'person', origin: host })
    for (const { role, text } of turns) if (role === 'user') await memory.recall(text)
    const saidAt = (index: number): string => new Date(end - (turns.length - index) * 2 * minuteMs).toISOString()
    await memory.hear(
      turns.map((turn, index) => ({ ...turn, session, host, at: saidAt(index) })),
      { learn, scopes: [ledger] },
    )
    await memory.close()
  }
  await ports.counter?.flush()
  await syncMirror(ports, { dir, user: defaultUser })
}

const pack = 'retrieval-precision'
const name = 'invented-memory'
const accepted = '1.0'
const versions = [
  { version: '0.8', daysAgo: 12, backend: 'exact', notes: 'Invented for this demo: matches letter by letter.' },
  { version: '0.9', daysAgo: 9, backend: 'exact', notes: 'Invented for this demo: unchanged.' },
  { version: accepted, daysAgo: 6, backend: 'bm25', notes: 'Invented for this demo: forgives typos.' },
  { version: '1.0.1', daysAgo: 3, backend: 'bm25', notes: 'Invented for this demo: unchanged.' },
  {
    version: '1.1',
    daysAgo: 0,
    backend: 'exact',
    notes: 'Not Credence: invented for this demo, to show a regression.',
  },
] as const

/**
 * Evaluates several versions of an invented memory, with dates spread over two weeks, and accepts one as the baseline.
 * The last version only compares strings and fails on typos, so that the pages of the demo show a regression.
 */
export async function evaluateExample(session: Session, root: string, signal: AbortSignal): Promise<void> {
  const { systems, packsDirectory } = await session.evaluation()
  for (const { version, daysAgo, backend, notes } of versions) {
    if (signal.aborted) return
    const now = () => new Date(Date.now() - daysAgo * dayMs)
    const system = { ...(await systems({ packsDirectory, embedder: 'none' }).open(backend)), name, version }
    try {
      const runners = recallRunners(async () => system)
      const benchmark = await openPackFolder(join(packsDirectory, pack), runners, { explain: true })
      const environment = { given: { system: name }, settings: {}, ...machineOf(session.places.workingDirectory()) }
      const runId = newRunId(pack, name, now())
      await startRun(benchmark, runId, { repeats: 1, seed: 1, notes }, { root, now, signal, environment })
    } finally {
      await system.close()
    }
    if (version !== accepted) continue
    const snapshot = { snapshotId: 'main', createdAt: now().toISOString(), sourceRootDir: 'evals' }
    await createSnapshot(root, { ...snapshot, notes: `Invented for this demo: version ${version}.`, system: name })
  }
}
