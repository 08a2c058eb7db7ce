// What the evaluation harness costs: the status of a large store beside reading its files once, and a live recall with
// and without its shadow record. Prints one JSON document. `--quick` uses a hundredth of everything.
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withShadow } from '../src/eval/harness/shadow-memory.ts'
import { storeStatus } from '../src/eval/harness/store/status.ts'
import { percentile } from '../src/eval/statistics.ts'
import { type Memory, memoryFrom } from '../src/memory/memory.ts'
import { openMemoryStore } from '../src/store/memory-store.ts'
import { runExample, shadowExample } from '../test/harness/example-documents.ts'

const share = process.argv.includes('--quick') ? 0.01 : 1
const [runs, shadows, days] = [10_000 * share, 100_000 * share, 20]
const root = mkdtempSync(join(tmpdir(), 'credence-bench-'))
try {
  console.log(JSON.stringify({ status: await statusBesideReading(), recall: await recallBesideShadow() }, null, 2))
} finally {
  rmSync(root, { recursive: true, force: true })
}

async function statusBesideReading() {
  makeStore()
  const rounds = []
  // Turn by turn, so that what slows the machine down slows both.
  for (let round = 0; round < 5; round += 1) {
    const readMs = timed(readEverything)
    const start = performance.now()
    await storeStatus(root)
    rounds.push({ readMs, statusMs: performance.now() - start })
  }
  const [readMs, statusMs] = [median(rounds.map((one) => one.readMs)), median(rounds.map((one) => one.statusMs))]
  return { runs, shadows, readMs, statusMs, ratio: statusMs / readMs, rssMegabytes: process.memoryUsage().rss / 1e6 }
}

function makeStore(): void {
  mkdirSync(join(root, 'runs'))
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

function readEverything(): void {
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) readFileSync(join(entry.parentPath, entry.name))
  }
}

async function recallBesideShadow() {
  let ids = 0
  const workshop = { store: openMemoryStore({ random: randomBytes }), now: () => new Date(), newId: () => `b-${++ids}` }
  const author = { actor: 'person', origin: 'bench' } as const
  const memory = memoryFrom(workshop, { user: 'local', scopes: ['domain:bench'], agent: null, author })
  for (let index = 0; index < 300; index += 1) {
    await memory.remember({ name: `subject ${index} alpha`, content: 'Something about it.', type: 'entity' })
  }
  const watched = withShadow(memory, {
    root: join(root, 'watched'),
    now: () => new Date(),
    clock: () => performance.now(),
    onProblem: (error) => {
      throw error
    },
  })
  const [plain, shadowed]: [number[], number[]] = [[], []]
  for (let round = 0; round < 20; round += 1) {
    plain.push(...(await recallTimes(memory)))
    shadowed.push(...(await recallTimes(watched)))
  }
  await watched.close()
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

function timed(run: () => void): number {
  const start = performance.now()
  run()
  return performance.now() - start
}

function median(values: readonly number[]): number {
  return percentile(values, 50) ?? 0
}
