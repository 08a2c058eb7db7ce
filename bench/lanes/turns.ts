import { randomBytes } from 'node:crypto'
import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { randomFrom } from '../../src/eval/score/statistics.ts'
import { hear } from '../../src/memory/conversation/hear.ts'
import { searchTurns } from '../../src/memory/conversation/search-turns.ts'
import { pushQuotes } from '../../src/search/turns/push.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { sentence } from '../corpus.ts'
import { timeEach } from '../measure.ts'
import type { Lane } from '../run.ts'

const user = 'local'
const scope = 'user:universal'
const turnsInSession = 12

/** What keeping and searching conversations costs, by how many turns there are. */
export const turnsLane: Lane = {
  name: 'turns',
  summary: 'conversations of 10,000 and 200,000 turns: keeping, size on disk, search, what is shown unasked',
  async run({ quick, log, stores }) {
    const rows = []
    for (const turns of quick ? [1_000] : [10_000, 200_000]) {
      const row = await measured(turns, stores.place(`turns-${turns}`))
      log(
        `  ${turns} turns: ${row.keptPerSecond}/s, search ${row.search.p50.toFixed(1)} ms, push ${row.push.p50.toFixed(1)} ms`,
      )
      rows.push(row)
    }
    return { rows }
  },
}

async function measured(turns: number, directory: string) {
  mkdirSync(directory, { recursive: true })
  const file = join(directory, 'credence.db')
  const store = openSqliteStore({ file, random: randomBytes })
  let ids = 0
  const ports = { store, now: () => new Date('2026-06-01T12:00:00Z'), newId: () => `b-${++ids}` }
  const random = randomFrom(7)
  const questions: string[] = []
  let rawBytes = 0
  let keepMs = 0
  for (let from = 0; from < turns; from += 5_000) {
    const part = Array.from({ length: Math.min(5_000, turns - from) }, (_, place) => {
      const at = from + place
      const session = Math.floor(at / turnsInSession)
      const role = at % 2 === 0 ? ('user' as const) : ('assistant' as const)
      const text = Array.from({ length: 1 + Math.floor(random() * 8) }, () => sentence(random, 12)).join(' ')
      rawBytes += Buffer.byteLength(text)
      // Asked with some of the words of what was said.
      if (at % Math.ceil(turns / 100) === 0) questions.push(`When did I say ${text.split(' ').slice(2, 8).join(' ')}?`)
      const said = new Date(Date.UTC(2020, 0, 1) + session * 3_600_000 + at * 1_000).toISOString()
      return { text, role, session: `s${session}`, at: said, scope }
    })
    const start = performance.now()
    await hear(ports, {
      ...{ user, author: { actor: 'person', origin: 'bench' }, agent: null, view: [scope], scopes: [scope] },
      ...{ turns: part, learn: 'nothing' },
    })
    keepMs += performance.now() - start
  }
  const search = (query: string) =>
    store.withSnapshot(() => searchTurns(ports, { user, query, scopes: [scope], limit: 10 }))
  const push = (message: string) => store.withSnapshot(() => pushQuotes(store, { user, scopes: [scope] }, message))
  const asked = { inputs: questions.slice(20), warmUp: questions.slice(0, 20) }
  const [searched, pushed] = [await timeEach(asked, search), await timeEach(asked, push)]
  await store.close()
  return {
    turns,
    keptPerSecond: Math.round((turns / keepMs) * 1_000),
    rawBytesPerTurn: Math.round(rawBytes / turns),
    bytesPerTurn: Math.round(statSync(file).size / turns),
    search: searched,
    push: pushed,
  }
}
