import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startRun } from '../../src/eval/run/run.ts'
import { recallRunners } from '../../src/eval/runners/retrieval/retrieval-runner.ts'
import { openPackFolder } from '../../src/eval/runners/runner.ts'
import { percentile } from '../../src/eval/score/statistics.ts'
import { withShadow } from '../../src/eval/shadow/shadow.ts'
import { storeStatus } from '../../src/eval/store/status.ts'
import { Systems } from '../../src/eval/system/systems.ts'
import { type Memory, memoryFrom } from '../../src/memory/memory.ts'
import { inMemory } from '../../src/store/sqlite/database.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { environmentExample, runExample, shadowExample } from '../../test/harness/example-documents.ts'
import type { Lane } from '../run.ts'

const days = 20

/** The cost of the evaluation harness, compared with the least work that is needed for the same result. */
export const harnessLane: Lane = {
  name: 'harness',
  summary: 'cases a second, the status of 100,000 shadow records, a watched recall',
  async run({ quick, log, stores }) {
    const share = quick ? 0.01 : 1
    const figures = {
      cases: await casesPerSecond(stores.place('runs')),
      status: await statusBesideReading(stores.place('status'), 10_000 * share, 100_000 * share),
      shadow: await recallBesideShadow(stores.place('shadow')),
    }
    log(`  ${figures.cases.perSecond} cases a second`)
    log(`  status compared with reading the files: ${figures.status.ratio.toFixed(2)}x`)
    log(`  watched recall compared with a plain one: ${figures.shadow.ratio.toFixed(2)}x`)
    return figures
  },
}

const context = (root: string) => ({
  root,
  now: () => new Date(),
  signal: new AbortController().signal,
  environment: environmentExample,
})

/** Runs a whole pack and stores every case durably, like `credence benchmark run`. */
async function casesPerSecond(root: string) {
  const packsDirectory = fileURLToPath(new URL('../../packs', import.meta.url))
  const backends = new Systems({
    openStore: () => openSqliteStore({ file: inMemory, random: randomBytes }),
    version: 'bench',
    clock: () => performance.now(),
    openEmbedder: () => Promise.reject(new Error('no vectors are needed here')),
    packsDirectory,
  })
  const subject = await backends.open('bm25')
  const benchmark = await openPackFolder(
    `${packsDirectory}/retrieval-hard`,
    recallRunners(async () => subject),
  )
  // The first run only warms up.
  await startRun(benchmark, 'warm-up', { repeats: 5, seed: 1 }, context(root))
  const repeats = 20
  const start = performance.now()
  const { totalCases } = await startRun(benchmark, 'measured', { repeats, seed: 1 }, context(root))
  const seconds = (performance.now() - start) / 1_000
  await subject.close()
  return { cases: totalCases * repeats, perSecond: Math.round((totalCases * repeats) / seconds) }
}

async function statusBesideReading(root: string, runs: number, shadows: number) {
  makeStore(root, runs, shadows)
  const rounds = []
  // Alternates the two measurements, so that other load on the machine affects both.
  for (let round = 0; round < 5; round += 1) {
    const begin = performance.now()
    readEverything(root)
    const between = performance.now()
    await storeStatus(root)
    rounds.push({ readMs: between - begin, statusMs: performance.now() - between })
  }
  const readMs = median(rounds.map((one) => one.readMs))
  const statusMs = median(rounds.map((one) => one.statusMs))
  return { runs, shadows, readMs, statusMs, ratio: statusMs / readMs, rssMegabytes: process.memoryUsage().rss / 1e6 }
}

function makeStore(root: string, runs: number, shadows: number): void {
  mkdirSync(join(root, 'runs'), { recursive: true })
  for (let index = 0; index < runs; index += 1) {
    writeFileSync(join(root, 'runs', `run-${index}.json`), JSON.stringify({ ...runExample, runId: `run-${index}` }))
  }
  for (let day = 1; day <= days; day += 1) {
    const name = `2026-03-${String(day).padStart(2, '0')}`
    mkdirSync(join(root, 'shadow', name), { recursive: true })
    for (let index = 0; index < shadows / days; index += 1) {
      const record = { ...shadowExample, traceId: `t${index}`, recordedAt: `${name}T10:00:00.000Z` }
      writeFileSync(join(root, 'shadow', name, `t${index}.json`), JSON.stringify(record))
    }
  }
}

function readEverything(root: string): void {
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) readFileSync(join(entry.parentPath, entry.name))
  }
}

async function recallBesideShadow(root: string) {
  let ids = 0
  const ports = {
    store: openSqliteStore({ file: inMemory, random: randomBytes }),
    now: () => new Date(),
    newId: () => `b-${++ids}`,
  }
  const author = { actor: 'person', origin: 'bench' } as const
  const memory = memoryFrom(ports, { user: 'local', scopes: ['domain:bench'], agent: null, author })
  for (let index = 0; index < 300; index += 1) {
    await memory.remember({ name: `subject ${index} alpha`, content: 'Something about it.', type: 'entity' })
  }
  const options = {
    root,
    now: () => new Date(),
    clock: () => performance.now(),
    onProblem: (error: unknown) => {
      throw error
    },
  }
  const plain: number[] = []
  const shadowed: number[] = []
  for (let round = 0; round < 20; round += 1) {
    plain.push(...(await recallTimes(memory)))
    // Recalls are faster than writing their records, so each round waits for its records before the next begins.
    const watched = withShadow({ ...memory, close: async () => {} }, options)
    shadowed.push(...(await recallTimes(watched)))
    await watched.close()
  }
  await memory.close()
  return { plainP50Ms: median(plain), shadowedP50Ms: median(shadowed), ratio: median(shadowed) / median(plain) }
}

async function recallTimes(memory: Memory): Promise<readonly number[]> {
  const times: number[] = []
  for (let index = 0; index < 50; index += 1) {
    const start = performance.now()
    await memory.recall(`What about subject ${index} alpha and subject 7 alpha?`)
    times.push(performance.now() - start)
  }
  return times
}

const median = (values: readonly number[]): number => percentile(values, 50) ?? 0
