import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { remember } from '../../src/memory/change/remember.ts'
import { recall } from '../../src/memory/recall/recall.ts'
import { openPorts } from '../../src/open-memory.ts'
import { openServer } from '../../src/open-server.ts'
import { Cluster, postgresPrograms } from '../../src/store/postgres/server.contract.ts'
import { benchScope, generateBeliefs, generateMessages } from '../corpus.ts'
import { inTurns, type LoadRow, underLoad } from '../load.ts'
import { fillServer, fillUsers, ownerName } from '../many-owners.ts'
import { milliseconds, type Spread, spreadOf } from '../measure.ts'
import type { Lane, LaneOptions } from '../run.ts'

export type PostgresRow = LoadRow & { readonly users: number; readonly beliefsEach: number }
export type GrowthRow = {
  readonly processes: number
  readonly perSecond: number
  readonly spread: Spread
  /** Processor time of one recall, in our processes and in PostgreSQL. */
  readonly cpuMs: number
  readonly serverCpuMs: number
}
export type PostgresSize = {
  readonly users: number
  readonly beliefsEach: number
  readonly bytesPerBelief: number
  readonly loadSeconds: number
  /** The first recall of a user by a program without a local copy. */
  readonly first: Spread
}
export type PostgresFigures =
  | { readonly skipped: string }
  | {
      readonly version: string
      readonly active: number
      readonly sizes: readonly PostgresSize[]
      readonly rows: readonly PostgresRow[]
      readonly growth: readonly GrowthRow[]
    }

type Question = { readonly user: string; readonly message: string }
type Size = { readonly users: number; readonly beliefsEach: number }

const settings = [
  'shared_buffers=1GB',
  'max_wal_size=16GB',
  'checkpoint_timeout=1h',
  'wal_level=minimal',
  'max_wal_senders=0',
]

/** The PostgreSQL store compared with SQLite and a bare SELECT by key, in the same rounds. */
export const postgresLane: Lane = {
  name: 'postgres',
  summary: 'recall and writes on PostgreSQL, compared with SQLite and a bare SELECT by key; 1 to 4 server processes',
  async run(options): Promise<PostgresFigures> {
    const { quick, log } = options
    if (postgresPrograms === null) {
      const skipped = 'PostgreSQL is not installed. Install it: apt-get install postgresql'
      log(`  skipped: ${skipped}`)
      return { skipped }
    }
    const active = quick ? 10 : 100
    const cluster = await Cluster.start(settings)
    try {
      const [found] = await cluster.query<{ server_version: string }>('SHOW server_version')
      const sizes: PostgresSize[] = []
      const rows: PostgresRow[] = []
      let growth: readonly GrowthRow[] = []
      for (const size of quick
        ? [
            { users: 20, beliefsEach: 100 },
            { users: 100, beliefsEach: 20 },
          ]
        : [
            { users: 1_000, beliefsEach: 1_000 },
            { users: 10_000, beliefsEach: 100 },
          ]) {
        const measured = await measureSize(cluster, size, active, options)
        sizes.push(measured.size)
        rows.push(...measured.rows)
        growth =
          growth.length > 0 ? growth : await measureGrowth(cluster, measured.address, measured.size, active, options)
      }
      return { version: found?.server_version ?? 'unknown', active, sizes, rows, growth }
    } finally {
      await cluster.stop()
    }
  },
}

/** Each question comes from a different active user, and names two of that user's beliefs in forty words. */
function questionsFor({ users, beliefsEach }: Size, active: number, count: number, seed: number): readonly Question[] {
  const beliefs = [...generateBeliefs({ count: beliefsEach, seed: 1 })]
  return generateMessages(beliefs, { count, words: 40, mentions: 2, seed }).map((message, at) => ({
    user: ownerName(Math.floor(((at % active) * users) / active)),
    message,
  }))
}

async function measureSize(cluster: Cluster, wanted: Size, active: number, { quick, log, stores }: LaneOptions) {
  const { beliefsEach } = wanted
  const address = await cluster.newDatabase()
  const dir = stores.place('postgres')
  const start = performance.now()
  const { users } = wanted
  const size = { users, beliefsEach }
  const activeUsers = [...new Set(questionsFor(size, active, active, 5).map(({ user }) => user))]
  await fillServer(dir, address, size, activeUsers)
  const loadSeconds = (performance.now() - start) / 1_000
  const database = new URL(address).pathname.slice(1)
  const [{ bytes = '0' } = {}] = await cluster.query<{ bytes: string }>(
    `SELECT pg_database_size('${database}') AS bytes`,
  )
  const bytesPerBelief = Math.round(Number(bytes) / (users * beliefsEach))
  log(`${users} users x ${beliefsEach} beliefs: ${Math.round(loadSeconds)} s to load, ${bytesPerBelief} bytes each`)

  // Fewer users than in PostgreSQL: other users' data does not change the cost of a look-up by key (docs/performance.md).
  const file = stores.place('sqlite')
  const inFile = { ...size, users: Math.min(users, active / 2) }
  await fillUsers(file, undefined, inFile)
  const warm = openPorts(dir, { server: () => openServer(dir, address) })
  const sqlite = openPorts(file)
  const pool = new pg.Pool({ connectionString: address, max: 10 })
  const ids = [...generateBeliefs({ count: beliefsEach, seed: 1 })].map(({ id }) => id)
  let asked = 0
  const bare = ({ user }: Question) => {
    asked += 1
    const values = [user, ids[(asked * 31) % ids.length]]
    const text = 'SELECT belief, body FROM credence.changes WHERE owner = $1 AND belief = $2'
    return pool.query({ name: 'bare', text, values })
  }
  const recallIn = (ports: ReturnType<typeof openPorts>) => (question: Question) =>
    recall(ports, { ...question, scopes: [benchScope] })
  const inSqlite = ({ user, message }: Question) => {
    const at = Math.floor((Number(user.slice(5)) * inFile.users) / users)
    return recallIn(sqlite)({ user: ownerName(at), message })
  }
  let remembered = 0
  const rememberIn =
    (ports: ReturnType<typeof openPorts>, userOf: (user: string) => string) => (question: Question) => {
      remembered += 1
      return remember(ports, {
        user: userOf(question.user),
        author: { actor: 'person', origin: 'bench' },
        draft: {
          type: 'entity',
          name: `measured thing ${remembered}`,
          content: question.message,
          scopes: [benchScope],
        },
      })
    }
  const rows: PostgresRow[] = []
  const keep = (found: readonly LoadRow[]): void => {
    for (const row of found) {
      rows.push({ ...row, users, beliefsEach })
      const { what, clients, spread, ratio } = row
      const [p50, p95, p99] = [spread.p50, spread.p95, spread.p99].map(milliseconds)
      log(
        `  ${what.padEnd(20)} ${String(clients).padStart(2)} clients p50 ${p50} p95 ${p95} p99 ${p99} ms, ${Math.round(row.perSecond)} a second, ${ratio?.median.toFixed(2)}x; processor ${milliseconds(row.cpuMs ?? 0)} ms`,
      )
    }
  }
  /** The processor time of this process and of PostgreSQL. */
  const cpu = (): number => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1_000 + [...cluster.cpuMs().values()].reduce((sum, ms) => sum + ms, 0)
  }
  const first = await measureFirst(
    stores.place('cold'),
    address,
    questionsFor(size, active, quick ? 5 : 30, 3),
    recallIn,
  )
  log(
    `  the first recall of a user on a server that has never seen it: p50 ${milliseconds(first.p50)} ms, p95 ${milliseconds(first.p95)} ms`,
  )
  const warmUp = questionsFor(size, active, active * 6, 5)
  for (const ask of [recallIn(warm), inSqlite, bare]) await underLoad(4, warmUp, ask)
  const asks = { 'bare SELECT by key': bare, recall: recallIn(warm), 'recall on SQLite': inSqlite }
  const own = new Map<string, string>(
    Array.from({ length: users }, (_, at) => [ownerName(at), ownerName(Math.floor((at * inFile.users) / users))]),
  )
  const adds = {
    add: rememberIn(warm, (user) => user),
    'add on SQLite': rememberIn(sqlite, (user) => own.get(user) ?? user),
  }
  for (const clients of [1, 8, 32]) {
    keep(await inTurns<Question>(asks, clients, questionsFor(size, active, quick ? 40 : 600, 7 + clients), cpu))
    keep(await inTurns<Question>(adds, clients, questionsFor(size, active, quick ? 20 : 150, 70 + clients), cpu))
  }
  for (const ports of [warm, sqlite]) await ports.store.close()
  await pool.end()
  return { address, size: { users, beliefsEach, bytesPerBelief, loadSeconds, first }, rows }
}

/** Each question comes from a different user. */
async function measureFirst(
  dir: string,
  address: string,
  questions: readonly Question[],
  recallIn: (ports: ReturnType<typeof openPorts>) => (question: Question) => Promise<unknown>,
): Promise<Spread> {
  const ports = openPorts(dir, { server: () => openServer(dir, address) })
  await ports.store.memberships('nobody')
  const tookMs: number[] = []
  for (const question of questions) {
    const start = performance.now()
    await recallIn(ports)(question)
    tookMs.push(performance.now() - start)
  }
  await ports.store.close()
  return spreadOf(tookMs)
}

type Answer = { readonly tookMs: readonly number[]; readonly seconds: number; readonly cpuMs: number }

/** Measures recalls by several server processes in parallel, each with eight clients. */
async function measureGrowth(
  cluster: Cluster,
  address: string,
  size: Size,
  active: number,
  { quick, log, stores }: LaneOptions,
) {
  const program = fileURLToPath(new URL('../programs/recalling-process.ts', import.meta.url))
  const rows: GrowthRow[] = []
  for (const processes of [1, 2, 4]) {
    const children: ChildProcess[] = []
    try {
      for (let at = 0; at < processes; at += 1) {
        const child = fork(program, [stores.place('process'), address])
        children.push(child)
        await once(child, 'message')
      }
      const all = async (questions: readonly Question[]): Promise<readonly Answer[]> =>
        Promise.all(
          children.map(async (child) => {
            const answer = once(child, 'message')
            child.send({ questions, clients: 8 })
            return (await answer)[0] as Answer
          }),
        )
      await all(questionsFor(size, active, active * 6, 5))
      const before = cluster.cpuMs()
      const start = performance.now()
      const answers = await all(questionsFor(size, active, quick ? 200 : 1_500, 9))
      const seconds = (performance.now() - start) / 1_000
      const serverMs = [...cluster.cpuMs()].reduce((sum, [pid, ms]) => sum + ms - (before.get(pid) ?? 0), 0)
      const tookMs = answers.flatMap((answer) => answer.tookMs)
      rows.push({
        processes,
        perSecond: tookMs.length / seconds,
        spread: spreadOf(tookMs),
        cpuMs: answers.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / tookMs.length,
        serverCpuMs: serverMs / tookMs.length,
      })
      const row = rows.at(-1) as GrowthRow
      log(
        `  ${processes} processes: ${Math.round(row.perSecond)} recalls a second, p50 ${milliseconds(row.spread.p50)} ms; processor ${milliseconds(row.cpuMs)} ms each, PostgreSQL ${milliseconds(row.serverCpuMs)} ms`,
      )
    } finally {
      for (const child of children) child.disconnect()
    }
  }
  return rows
}
