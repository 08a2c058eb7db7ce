import { spawn } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { randomFrom } from '../../src/eval/score/statistics.ts'
import { forget } from '../../src/memory/change/forget.ts'
import { defaultUser, openMemory, storeFile } from '../../src/open-memory.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { benchScope, sentence } from '../corpus.ts'
import type { FilledStores } from '../filled-stores.ts'
import { milliseconds, type Spread, spreadOf } from '../measure.ts'
import type { Lane } from '../run.ts'

export type WriteRow = { readonly what: string; readonly beliefs: number; readonly spread: Spread }
export type ConcurrentWrites = {
  readonly processes: number
  readonly writes: number
  readonly perSecond: number
  readonly isAllThere: boolean
}

/** The cost of a durable change, compared with one durable row of the same text in the same database engine. */
export const writesLane: Lane = {
  name: 'writes',
  summary:
    'durable adds, corrections, aliases, forgets and undos, compared with a bare insert; eight processes at once',
  async run({ quick, log, stores }) {
    const rows: WriteRow[] = []
    for (const size of quick ? [1_000] : [1_000, 10_000, 100_000]) {
      rows.push(...(await measureWrites(stores, size, quick ? 40 : 300)))
      for (const { what, beliefs, spread } of rows.filter((row) => row.beliefs === size))
        log(
          `  ${what.padEnd(12)} at ${beliefs}: p50 ${milliseconds(spread.p50)} ms, p99 ${milliseconds(spread.p99)} ms`,
        )
    }
    const concurrent = await measureConcurrent(stores, quick ? 2 : 8, quick ? 20 : 100)
    log(`  ${concurrent.processes} processes: ${concurrent.perSecond} durable adds a second`)
    return { rows, concurrent }
  },
}

/** Alternates the kinds of writes, so that other load on the machine affects all of them. */
async function measureWrites(stores: FilledStores, size: number, rounds: number): Promise<readonly WriteRow[]> {
  const { dir, sample } = await stores.copyOf(size)
  const memory = openMemory({ dir, scopes: [benchScope] })
  const bare = bareTable(stores.place('bare'))
  const random = randomFrom(5)
  const took = new Map<string, number[]>()
  const timed = async <Result>(what: string, work: () => Result | Promise<Result>): Promise<Result> => {
    const start = performance.now()
    const result = await work()
    took.set(what, [...(took.get(what) ?? []), performance.now() - start])
    return result
  }
  const changeOnce = async (round: number): Promise<void> => {
    const name = `measured thing ${size} ${round}`
    const content = sentence(random, 14)
    await timed('bare insert', () => bare.insert(name, content))
    await timed('add', () => memory.remember({ name, content, type: 'entity', aliases: [`thing ${round} of many`] }))
    await timed('alias', () => memory.addAliases(name, [`item ${round} of ${size}`]))
    await timed('correct', () => memory.correct(name, { content: sentence(random, 14) }))
    await timed('undo', () => memory.undo())
  }
  for (let round = -10; round < rounds; round += 1) {
    if (round === 0) took.clear()
    await changeOnce(round)
  }
  // Measured separately, because the disk is still busy with a forget when the next change comes.
  const ids = sample.map(({ id }) => id ?? '')
  const forgetEach = async (what: string, forgetOne: (id: string) => Promise<unknown>): Promise<void> => {
    for (const id of ids.splice(0, rounds / 10)) {
      await timed('bare insert', () => bare.insert(`beside the forget of ${id}`, sentence(random, 14)))
      await timed(what, () => forgetOne(id))
    }
  }
  await forgetEach('forget everywhere', (id) => memory.forget(id))
  await memory.close()
  const store = openSqliteStore({ file: storeFile(dir), random: randomBytes })
  const request = { user: defaultUser, author: { actor: 'person', origin: 'bench' } } as const
  const ports = { store, now: () => new Date(), newId: randomUUID }
  await forgetEach('forget in the store', (reference) => forget(ports, { ...request, reference }))
  await store.close()
  bare.close()
  return [...took].map(([what, sampleMs]) => ({ what, beliefs: size, spread: spreadOf(sampleMs) }))
}

/** One table with one index, as durable as our store. */
function bareTable(dir: string): { insert(name: string, content: string): void; close(): void } {
  mkdirSync(dir, { recursive: true })
  const db = new DatabaseSync(join(dir, 'bare.db'))
  db.exec('PRAGMA journal_mode = wal')
  db.exec('PRAGMA synchronous = full')
  db.exec('CREATE TABLE texts (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, content TEXT NOT NULL)')
  const insert = db.prepare('INSERT INTO texts (name, content) VALUES (?, ?)')
  return {
    insert: (name, content) => {
      insert.run(name, content)
    },
    close: () => db.close(),
  }
}

/** Processes that write to one memory in parallel. Afterwards every acknowledged belief must be stored exactly once. */
async function measureConcurrent(stores: FilledStores, processes: number, each: number): Promise<ConcurrentWrites> {
  const dir = stores.place('concurrent')
  await openMemory({ dir }).close()
  const entrance = fileURLToPath(new URL('../../src/open-memory.ts', import.meta.url))
  const writer = (process: number): string => `
    const { openMemory } = await import(${JSON.stringify(entrance)})
    const memory = openMemory({ dir: ${JSON.stringify(dir)} })
    process.stdout.write('ready\\n')
    await new Promise((go) => process.stdin.once('data', go))
    for (let index = 0; index < ${each}; index += 1)
      await memory.remember({ name: 'thing ${process} ' + index, content: 'Said by ${process}.', type: 'entity' })
    await memory.close()`
  const children = Array.from({ length: processes }, (_, index) =>
    spawn(process.execPath, ['--input-type=module', '--eval', writer(index)], { stdio: ['pipe', 'pipe', 'inherit'] }),
  )
  await Promise.all(children.map(({ stdout }) => once(stdout, 'data')))
  const start = performance.now()
  const ends = children.map((child) => once(child, 'exit'))
  for (const { stdin } of children) stdin.end('go\n')
  const codes = (await Promise.all(ends)).map(([code]) => code)
  const seconds = (performance.now() - start) / 1_000
  if (codes.some((code) => code !== 0)) throw new Error(`a writer ended with ${codes.join(', ')}`)

  const memory = openMemory({ dir })
  const { total } = await memory.list({ limit: 1 })
  await memory.close()
  const writes = processes * each
  return { processes, writes, perSecond: Math.round(writes / seconds), isAllThere: total === writes }
}
