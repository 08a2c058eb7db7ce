import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import MiniSearch from 'minisearch'
import type { BeliefRecord } from '../../src/memory/belief-record.ts'
import { importRecords } from '../../src/memory/import.ts'
import { recall } from '../../src/memory/recall.ts'
import { openWorkshop, storeFile } from '../../src/open-memory.ts'
import { benchScope, generateBeliefs, generateMessages } from '../corpus.ts'
import { milliseconds, type Spread, timeEach } from '../measure.ts'
import type { Lane } from '../run.ts'

const wordCounts = [5, 40, 400] as const
const batch = 10_000

export type RecallRow = {
  readonly system: string
  readonly beliefs: number
  readonly words: number
  readonly kind: string
  readonly spread: Spread
}

/** Recall against store size, beside MiniSearch and SQLite FTS5 over the same forms in the same run. */
export const recallLane: Lane = {
  name: 'recall',
  summary: 'recall latency against store size, beside MiniSearch and SQLite FTS5 over the same forms',
  async run({ quick, log }) {
    const sizes = quick ? [1_000, 10_000] : [1_000, 10_000, 100_000, 1_000_000]
    const peerSizes = quick ? [1_000, 10_000] : [1_000, 10_000, 100_000]
    const messages = quick ? 100 : 400
    const rows: RecallRow[] = []
    const ingest: { beliefs: number; perSecond: number; bytesPerBelief: number }[] = []
    for (const size of sizes) {
      const dir = mkdtempSync(join(tmpdir(), 'credence-bench-'))
      try {
        const sample = await fill(dir, size, ingest)
        log(`${size} beliefs: ${ingest.at(-1)?.perSecond} a second, ${ingest.at(-1)?.bytesPerBelief} bytes each`)
        rows.push(...(await measureCredence(dir, size, sample, messages)))
        if (peerSizes.includes(size)) rows.push(...(await measurePeers(size, messages)))
      } finally {
        rmSync(dir, { recursive: true, force: true })
      }
      for (const row of rows.filter(({ beliefs }) => beliefs === size)) {
        log(
          `  ${row.system.padEnd(12)} ${String(row.words).padStart(4)} words ${row.kind.padEnd(8)} p50 ${milliseconds(row.spread.p50)} ms`,
        )
      }
    }
    return { rows, ingest }
  },
}

/** Bulk ingest through the import use case, in batches, timed without the making of the beliefs. */
async function fill(
  dir: string,
  size: number,
  ingest: { beliefs: number; perSecond: number; bytesPerBelief: number }[],
): Promise<readonly BeliefRecord[]> {
  const workshop = openWorkshop(dir)
  const sample: BeliefRecord[] = []
  let pending: { place: string; record: BeliefRecord }[] = []
  let spent = 0
  const flush = async () => {
    const start = performance.now()
    await importRecords(workshop, { user: 'local', author: { actor: 'import', origin: 'bench' } }, pending)
    spent += performance.now() - start
    pending = []
  }
  let index = 0
  for (const record of generateBeliefs({ count: size, seed: 1 })) {
    if (index % Math.max(1, Math.floor(size / 1_000)) === 0) sample.push(record)
    pending.push({ place: `belief ${index}`, record })
    index += 1
    if (pending.length === batch) await flush()
  }
  if (pending.length > 0) await flush()
  await workshop.store.close()
  const bytes = statSync(storeFile(dir)).size
  ingest.push({
    beliefs: size,
    perSecond: Math.round(size / (spent / 1_000)),
    bytesPerBelief: Math.round(bytes / size),
  })
  return sample
}

async function measureCredence(
  dir: string,
  size: number,
  sample: readonly BeliefRecord[],
  count: number,
): Promise<readonly RecallRow[]> {
  const workshop = openWorkshop(dir)
  const ask = (message: string) => recall(workshop, { user: 'local', scopes: [benchScope], message })
  const rows: RecallRow[] = []
  for (const words of wordCounts) {
    for (const { kind, mentions, slips } of kinds(words)) {
      const asked = askedMessages(sample, { count, words, mentions, slips })
      rows.push({ system: 'credence', beliefs: size, words, kind, spread: await timeEach(asked, ask) })
    }
  }
  await workshop.store.close()
  return rows
}

/** Short messages need more of them before the engine has compiled what it runs. */
const warmUps = (words: number): number => (words === 400 ? 1 : 6)

/** Messages to measure, and others of the same kind to warm up with. */
const askedMessages = (
  beliefs: readonly BeliefRecord[],
  options: { count: number; words: number; mentions: number; slips?: boolean },
) => ({
  inputs: generateMessages(beliefs, { ...options, seed: 7 + options.words }),
  warmUp: generateMessages(beliefs, {
    ...options,
    count: options.count * warmUps(options.words),
    seed: 70_000 + options.words,
  }),
})

const kinds = (words: number) => [
  { kind: 'exact', mentions: Math.max(1, Math.round(words / 20)), slips: false },
  { kind: 'slip', mentions: Math.max(1, Math.round(words / 20)), slips: true },
  { kind: 'no hit', mentions: 0, slips: false },
]

async function measurePeers(size: number, count: number): Promise<readonly RecallRow[]> {
  const beliefs = [...generateBeliefs({ count: size, seed: 1 })]
  const rows: RecallRow[] = []
  const mini = new MiniSearch<{ id: string; name: string; aliases: string }>({ fields: ['name', 'aliases'] })
  mini.addAll(beliefs.map(({ id, name, aliases }) => ({ id, name, aliases: aliases.join(' | ') })))
  const db = new Database(':memory:')
  db.exec("CREATE VIRTUAL TABLE forms USING fts5(name, aliases, tokenize = 'unicode61')")
  const insert = db.prepare('INSERT INTO forms (name, aliases) VALUES (?, ?)')
  db.transaction(() => {
    for (const { name, aliases } of beliefs) insert.run(name, aliases.join(' | '))
  })()
  const match = db.prepare('SELECT rowid FROM forms WHERE forms MATCH ? ORDER BY bm25(forms, 2.0, 1.0) LIMIT 20')
  const askFts = (message: string) =>
    match.all([...new Set(message.split(/\W+/u))].map((word) => `"${word}"`).join(' OR '))
  for (const words of wordCounts) {
    const most = Math.min(count, words === 400 ? 20 : 60)
    const asked = askedMessages(beliefs, { count: most, words, mentions: Math.max(1, Math.round(words / 20)) })
    const peer = { beliefs: size, words, kind: 'exact' }
    const askMini = (message: string) => mini.search(message, { boost: { name: 2 } })
    rows.push({ ...peer, system: 'minisearch', spread: await timeEach(asked, askMini) })
    rows.push({ ...peer, system: 'sqlite fts5', spread: await timeEach(asked, askFts) })
  }
  db.close()
  return rows
}
