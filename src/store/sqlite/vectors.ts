import { yieldToEventLoop } from '../../next-turn.ts'
import { compareWith } from '../../search/turns/cosines.ts'
import type { EmbeddedKind, MeaningIndex, MessageVectors, TurnCosines } from '../../search/turns/turn-index.ts'
import { newestText, readText, type StoredText } from '../belief-row.ts'
import { BoundedCache } from '../bounded-cache.ts'
import { originCode } from '../turn-rows.ts'
import type { Connection, ReadForUser } from './connection.ts'
import type { Users } from './sqlite-store.ts'
import { VectorList } from './vector-list.ts'

const maxLists = 50
/** The number of rows that are read before yielding to the event loop. */
const pageSize = 500
/** Max rows that one call scans for texts without vectors. */
const windowSize = 2_000
/** The number of probably nearest items of a large list whose vectors are read from the store. */
const maxNearest = 300

type VectorTable = 'turn_vectors' | 'belief_vectors'
type StoredVectors = { readonly number: number; readonly item: number; readonly vectors: Uint8Array }
/** `seen`: the value of `changes` when the list was last up to date. */
type LoadedList = { list: VectorList; loading: Promise<VectorList> | null; seen: number }

const bytesOf = (stored: Uint8Array): Int8Array => new Int8Array(stored.buffer, stored.byteOffset, stored.byteLength)

/** Reads and writes vectors. The data for searches is cached in process memory, and read again when the store has changed. */
export function vectorIndex(connection: Connection, users: Users, reading: ReadForUser): MeaningIndex {
  const known = new BoundedCache<LoadedList>(maxLists)
  let changes = 0
  connection.onChange(() => {
    changes += 1
  })

  /** Brings a list up to date with the store. Concurrent callers share one read. */
  async function loadList(table: VectorTable, id: number, model: string, dimensions: number): Promise<VectorList> {
    const key = JSON.stringify([table, id, model, dimensions])
    const loaded = known.get(key) ?? { list: new VectorList(), loading: null, seen: -1 }
    known.set(key, loaded)
    // A read transaction notices changes by other processes.
    connection.read(() => {})
    if (loaded.seen === changes) return loaded.list
    loaded.loading ??= readNew(table, id, model, dimensions, loaded).finally(() => {
      loaded.loading = null
    })
    return loaded.loading
  }

  async function readNew(table: VectorTable, id: number, model: string, dimensions: number, loaded: LoadedList) {
    const page = `SELECT number, item, vectors FROM ${table} WHERE list = ? AND model = ? AND number > ? ORDER BY number LIMIT ?`
    // Whether a row of the sample was deleted. Any other deleted row is noticed when its vectors are read, so it is not looked for here.
    const missing = `SELECT EXISTS (SELECT 1 FROM json_each(?) WHERE NOT EXISTS (SELECT 1 FROM ${table} WHERE number = value))`
    for (;;) {
      const { list } = loaded
      const { isWhole, isOutdated, at } = connection.read(() => {
        const rows = connection.all<StoredVectors>(page, [id, model, list.last, pageSize])
        for (const { number, item, vectors } of rows) list.add(number, item, bytesOf(vectors), dimensions)
        const isWhole = rows.length < pageSize
        const isOutdated = isWhole && connection.value<number>(missing, [JSON.stringify(list.sampledNumbers)]) === 1
        return { isWhole, isOutdated, at: changes }
      })
      if (isOutdated) loaded.list = new VectorList()
      else if (!isWhole) await yieldToEventLoop()
      else {
        loaded.seen = at
        return list
      }
    }
  }

  /** The items of a list with their cosines: all items of a small list, or the nearest ones. */
  function compareList(
    table: VectorTable,
    list: VectorList,
    message: MessageVectors,
    among: ReadonlySet<number> | null,
  ) {
    if (list.isSmall) return list.compareSample(message)
    const cosineOf = compareWith(message)
    const ofRows = `SELECT number, item, vectors FROM ${table} WHERE number IN (SELECT value FROM json_each(?))`
    for (;;) {
      const near = list.nearest(message, maxNearest, among)
      const rows = connection.read(() => connection.all<StoredVectors>(ofRows, [JSON.stringify(near)]))
      if (rows.length === near.length)
        return rows.map(({ item, vectors }) => ({ item, cosine: cosineOf(bytesOf(vectors)) }))
      const found = new Set(rows.map(({ number }) => number))
      list.drop(near.filter((number) => !found.has(number)))
    }
  }

  function textOf(userId: number, kind: EmbeddedKind, row: number, id: string): string {
    if (kind === 'turn') return connection.value<string>('SELECT text FROM turn_texts WHERE row = ?', [row]) ?? ''
    const stored = connection.get<StoredText>(newestText, [userId, id])
    return (stored === undefined ? null : readText(id, stored))?.content ?? ''
  }

  return {
    turnCosines: async ({ user, scopes }, model, message, among = null) => {
      const inView =
        scopes === null
          ? 'SELECT id FROM turn_scopes WHERE user_id = ?'
          : 'SELECT id FROM turn_scopes WHERE user_id = ? AND name IN (SELECT value FROM json_each(?))'
      const ids = await reading(user, [], (userId) =>
        connection.column<number>(inView, scopes === null ? [userId] : [userId, JSON.stringify(scopes)]),
      )
      const lists = []
      for (const id of ids) {
        const list = await loadList('turn_vectors', id, model, message.dimensions)
        const found = compareList('turn_vectors', list, message, among)
        const sample = list.isSmall ? found : list.compareSample(message)
        lists.push({ found, sample, size: list.size, isEvery: list.isSmall })
      }
      return joinLists(lists)
    },
    beliefCosines: async (user, model, message, limit) => {
      const userId = await reading<number | null>(user, null, (id) => id)
      if (userId === null) return []
      const list = await loadList('belief_vectors', userId, model, message.dimensions)
      const found = compareList('belief_vectors', list, message, null)
      const best = found.toSorted((a, b) => b.cosine - a.cosine || a.item - b.item).slice(0, limit)
      const idOf = 'SELECT id FROM beliefs WHERE row = ? AND user_id = ?'
      return connection.read(() =>
        best.flatMap(({ item, cosine }) => {
          const beliefId = connection.value<string>(idOf, [item, userId])
          return beliefId === undefined ? [] : [{ beliefId, cosine }]
        }),
      )
    },
    vectorsAt: (user, model, rows) => {
      const ofTurn =
        'SELECT vectors FROM turn_vectors WHERE item = (SELECT max(row) FROM turns WHERE row <= ?) AND model = ?'
      return reading(user, new Map(), () => {
        const found = rows.map((row) => [row, connection.value<Uint8Array>(ofTurn, [row, model])] as const)
        return new Map(found.flatMap(([row, bytes]) => (bytes === undefined ? [] : [[row, new Int8Array(bytes)]])))
      })
    },
    withoutVectors: (user, model, kind, { limit, before = Number.MAX_SAFE_INTEGER }) =>
      reading(user, { texts: [], next: null }, (userId) => {
        const table = kind === 'turn' ? 'turns' : 'beliefs'
        const end = `SELECT min(row) FROM (SELECT row FROM ${table} WHERE row < ? ORDER BY row DESC LIMIT ${windowSize})`
        const from = connection.value<number | null>(end, [before]) ?? null
        if (from === null) return { texts: [], next: null }
        const missing = connection.all<{ row: number; id: string }>(
          `SELECT row, id ${missingOf[kind]} ORDER BY row DESC LIMIT ?`,
          [model, userId, from, before, limit],
        )
        const texts = missing.map(({ row, id }) => ({ row, text: textOf(userId, kind, row, id) }))
        return { texts, next: missing.length === limit ? (missing.at(-1)?.row ?? from) : from }
      }),
    keepVectors: async (user, model, kind, vectors) => {
      await reading(user, null, () => null)
      await connection.writeInTurn(() => {
        const userId = users.find(user)
        const insert = connection.statement(insertOf[kind])
        for (const { row, vectors: own } of vectors)
          insert.run(model, Buffer.from(own.buffer, own.byteOffset, own.byteLength), row, userId, model)
      })
    },
    hasVectors: (user) => reading(user, false, (userId) => connection.value<number>(hasAny, [userId, userId]) === 1),
    vectorCounts: (user, model) =>
      reading(user, { indexed: 0, waiting: 0 }, (userId) => {
        const indexed = connection.value<number>(countIndexed, [model, userId, model, userId]) ?? 0
        const waiting = Object.values(missingOf).map((missing) =>
          connection.value<number>(`SELECT count(*) ${missing}`, [model, userId, 0, Number.MAX_SAFE_INTEGER]),
        )
        return { indexed, waiting: waiting.reduce<number>((sum, count) => sum + (count ?? 0), 0) }
      }),
  }
}

/** Merges the answers for the lists of several scopes. Mean and deviation are those of the samples, weighted by the sizes of the lists. */
function joinLists(
  lists: readonly {
    readonly found: readonly { readonly item: number; readonly cosine: number }[]
    readonly sample: readonly { readonly cosine: number }[]
    readonly size: number
    readonly isEvery: boolean
  }[],
): TurnCosines {
  let count = 0
  let sum = 0
  let squares = 0
  for (const { sample, size } of lists)
    for (const { cosine } of sample) {
      const weight = size / sample.length
      count += weight
      sum += weight * cosine
      squares += weight * cosine * cosine
    }
  const mean = sum / Math.max(1, count)
  const found = lists.flatMap((list) => list.found)
  return {
    rows: Int32Array.from(found, ({ item }) => item),
    cosines: Float32Array.from(found, ({ cosine }) => cosine),
    isEvery: lists.every(({ isEvery }) => isEvery),
    mean,
    deviation: Math.sqrt(Math.max(0, squares / Math.max(1, count) - mean * mean)),
  }
}

/** Selects a user's texts that have no vectors of a model, in a range of rows. */
const missingOf: Readonly<Record<EmbeddedKind, string>> = {
  turn: `FROM turns LEFT JOIN turn_vectors ON item = row AND model = ?
    WHERE user_id = ? AND row >= ? AND row < ? AND role = 0 AND origin = ${originCode('person')} AND item IS NULL`,
  belief: `FROM beliefs LEFT JOIN belief_vectors ON item = row AND model = ?
    WHERE user_id = ? AND row >= ? AND row < ? AND current = 1 AND item IS NULL`,
}

/** Inserts vectors only for texts that still exist and for which no other process has stored vectors meanwhile. */
const insertOf: Readonly<Record<EmbeddedKind, string>> = {
  turn: `INSERT OR REPLACE INTO turn_vectors (item, list, model, vectors)
    SELECT row, scope, ?, ? FROM turns WHERE row = ? AND user_id = ? AND session IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM turn_vectors WHERE item = row AND model = ?)`,
  belief: `INSERT OR REPLACE INTO belief_vectors (item, list, model, vectors)
    SELECT row, user_id, ?, ? FROM beliefs WHERE row = ? AND user_id = ?
      AND NOT EXISTS (SELECT 1 FROM belief_vectors WHERE item = row AND model = ?)`,
}

const hasAny = `SELECT EXISTS (SELECT 1 FROM belief_vectors WHERE list = ?)
  OR EXISTS (SELECT 1 FROM turn_vectors WHERE list IN (SELECT id FROM turn_scopes WHERE user_id = ?))`
const countIndexed = `SELECT (SELECT count(*) FROM belief_vectors WHERE model = ? AND list = ?)
  + (SELECT count(*) FROM turn_vectors WHERE model = ? AND list IN (SELECT id FROM turn_scopes WHERE user_id = ?))`
