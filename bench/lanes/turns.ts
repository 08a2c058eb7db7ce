import { randomBytes } from 'node:crypto'
import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { randomFrom } from '../../src/eval/score/statistics.ts'
import { hear } from '../../src/memory/conversation/hear.ts'
import { searchTurns } from '../../src/memory/conversation/search-turns.ts'
import { recall } from '../../src/memory/recall/recall.ts'
import { openMiniLm } from '../../src/search/minilm/minilm.ts'
import { sentencesOf } from '../../src/search/sentences.ts'
import { pushQuotes } from '../../src/search/turns/push.ts'
import { openSqliteStore, type SqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { sentence } from '../corpus.ts'
import { timeEach } from '../measure.ts'
import type { Lane } from '../run.ts'

const user = 'local'
const scope = 'user:universal'
const turnsInSession = 12

/** The cost of storing and searching conversations, by number of turns. */
export const turnsLane: Lane = {
  name: 'turns',
  summary:
    'conversations of 10,000 and 200,000 turns: keeping, size on disk, search without and with vectors, what is shown unasked',
  async run({ quick, log, stores }) {
    const rows = []
    for (const turns of quick ? [1_000] : [10_000, 200_000]) {
      const row = await measured(turns, stores.place(`turns-${turns}`))
      log(
        `  ${turns} turns: ${row.keptPerSecond}/s (${row.keptPerCpuSecond} per CPU second), search ${shown(row.search)}, with vectors ${shown(row.vectorSearch)}, of which the question's vector ${shown(row.embedding)}, quotes ${shown(row.push)}, recall with vectors ${shown(row.vectorRecall)}`,
      )
      rows.push(row)
    }
    return { rows }
  },
}

type Measured = Awaited<ReturnType<typeof timeEach>> & { readonly cpuMs: number }

const cpuNow = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** Also measures the mean processor time of a call, which other programs on the machine hardly affect. */
async function measureEach<Input>(
  { inputs, warmUp }: { readonly inputs: readonly Input[]; readonly warmUp: readonly Input[] },
  call: (input: Input) => unknown,
): Promise<Measured> {
  await timeEach({ inputs: warmUp, warmUp: [] }, call)
  const start = cpuNow()
  const spread = await timeEach({ inputs, warmUp: [] }, call)
  return { ...spread, cpuMs: (cpuNow() - start) / inputs.length }
}

const shown = ({ p50, cpuMs }: Measured): string => `${p50.toFixed(1)} ms (CPU ${cpuMs.toFixed(1)})`

async function measured(turns: number, directory: string) {
  mkdirSync(directory, { recursive: true })
  const file = join(directory, 'credence.db')
  let store = openSqliteStore({ file, random: randomBytes })
  let ids = 0
  const ports = { store, now: () => new Date('2026-06-01T12:00:00Z'), newId: () => `b-${++ids}` }
  const random = randomFrom(7)
  const questions: string[] = []
  let rawBytes = 0
  let keepMs = 0
  let keepCpuMs = 0
  for (let from = 0; from < turns; from += 5_000) {
    const part = Array.from({ length: Math.min(5_000, turns - from) }, (_, place) => {
      const at = from + place
      const session = Math.floor(at / turnsInSession)
      const role = at % 2 === 0 ? ('user' as const) : ('assistant' as const)
      const text = Array.from({ length: 1 + Math.floor(random() * 8) }, () => sentence(random, 12)).join(' ')
      rawBytes += Buffer.byteLength(text)
      // Asks with some of the words of the turn.
      if (at % Math.ceil(turns / 100) === 0) questions.push(`When did I say ${text.split(' ').slice(2, 8).join(' ')}?`)
      const said = new Date(Date.UTC(2020, 0, 1) + session * 3_600_000 + at * 1_000).toISOString()
      return { text, role, session: `s${session}`, at: said, scope }
    })
    const start = performance.now()
    const cpuStart = cpuNow()
    await hear(ports, {
      user,
      author: { actor: 'person', origin: 'bench' },
      agent: null,
      view: [scope],
      scopes: [scope],
      turns: part,
      learn: 'nothing',
    })
    keepMs += performance.now() - start
    keepCpuMs += cpuNow() - cpuStart
  }
  const searchWith = (own: Parameters<typeof searchTurns>[0]) => (query: string) =>
    store.withSnapshot(() => searchTurns(own, { user, query, scopes: [scope], limit: 10 }))
  const push = (message: string) => store.withSnapshot(() => pushQuotes(store, { user, scopes: [scope] }, message))
  const asked = { inputs: questions.slice(20), warmUp: questions.slice(0, 20) }
  const search = await measureEach(asked, searchWith(ports))
  // Closing moves the write-ahead log into the file.
  await store.close()
  const bytes = statSync(file).size
  store = openSqliteStore({ file, random: randomBytes })
  const pushed = await measureEach(asked, push)
  // The stored vectors are random, because computing them with the model would take hours. The question is embedded by
  // the model.
  const model = await openMiniLm()
  await keepRandomVectors(store, model, random)
  const withModel = { ...ports, store, embedder: async () => model }
  const vectorSearch = await measureEach(asked, searchWith(withModel))
  const vectorRecall = await measureEach(asked, (message) => recall(withModel, { user, scopes: [scope], message }))
  const embedding = await measureEach(asked, (query) => model.embed([query]))
  await store.close()
  return {
    turns,
    keptPerSecond: Math.round((turns / keepMs) * 1_000),
    keptPerCpuSecond: Math.round((turns / keepCpuMs) * 1_000),
    rawBytesPerTurn: Math.round(rawBytes / turns),
    bytesPerTurn: Math.round(bytes / turns),
    vectorBytesPerTurn: Math.round((statSync(file).size - bytes) / turns),
    search,
    vectorSearch,
    embedding,
    push: pushed,
    vectorRecall,
  }
}

const maxSentences = 20

/** Stores a vector for each sentence of people's turns, as `embedTexts` does, but for many turns at once. */
async function keepRandomVectors(
  store: SqliteStore,
  { model, dimensions }: { readonly model: string; readonly dimensions: number },
  random: () => number,
): Promise<void> {
  const pool = Int8Array.from({ length: 100 * dimensions }, () => Math.floor((random() - 0.5) * 20))
  for (let before: number | undefined; ; ) {
    const page = { limit: 5_000, ...(before === undefined ? {} : { before }) }
    const { texts: turns, next } = await store.withoutVectors(user, model, 'turn', page)
    const kept = turns.map(({ row, text }) => {
      const first = Math.floor(random() * (100 - maxSentences)) * dimensions
      const sentences = Math.min(maxSentences, sentencesOf(text).length)
      return { row, vectors: pool.slice(first, first + sentences * dimensions) }
    })
    await store.keepVectors(user, model, 'turn', kept)
    if (next === null) return
    before = next
  }
}
