import { hash } from 'node:crypto'
import { typoKeys } from '../../search/typo.ts'
import { statusCode, textHash, typeCode } from '../belief-row.ts'
import { type DerivedBelief, shelfIn } from '../derived-belief.ts'
import type { Run } from './connection.ts'
import { checksumOf } from './stored-body.ts'
import { keyText } from './values.ts'

/** Tells apart texts that are too long for an index key. */
export const longTextHash = (text: string): string => hash('sha256', text)

const bounded = (text: string): string => keyText(text, longTextHash)

/** The columns of each derived table after the owner, with their types. The first ones, up to `key`, identify a row. */
const tables = {
  beliefs: {
    columns: {
      id: 'text',
      audience: 'uuid',
      current: 'boolean',
      words: 'integer',
      name_key: 'text',
      type: 'smallint',
      status: 'smallint',
      pinned: 'boolean',
      candidate: 'boolean',
      superseded_by: 'text',
      proposed_for: 'text',
      updated_at: 'text',
      version: 'integer',
      crc: 'bigint',
      body: 'text',
    },
    key: 1,
  },
  members: {
    columns: {
      scope: 'text',
      belief: 'text',
      name_key: 'text',
      current: 'boolean',
      agent: 'text',
      pinned: 'boolean',
      edited: 'boolean',
      shelf: 'smallint',
      reinforced: 'bigint',
    },
    key: 2,
  },
  forms: {
    columns: {
      key: 'text',
      current: 'boolean',
      scope: 'text',
      agent: 'text',
      belief: 'text',
      ordinal: 'integer',
      breaks: 'integer',
      flags: 'integer',
      reinforced: 'bigint',
    },
    key: 5,
  },
  text_terms: {
    columns: { term: 'text', belief: 'text', name: 'integer', aliases: 'integer', content: 'integer', why: 'integer' },
    key: 2,
  },
  typos: { columns: { key: 'bigint', word: 'text' }, key: 2 },
  audience_scopes: { columns: { scope: 'text', audience: 'uuid' }, key: 2 },
  scopes: { columns: { scope: 'text', beliefs: 'integer', current: 'integer' }, key: 1 },
  audiences: {
    columns: {
      audience: 'uuid',
      agent: 'text',
      current: 'integer',
      current_words: 'integer',
      retired: 'integer',
      retired_words: 'integer',
    },
    key: 1,
  },
  phrase_prefixes: { columns: { word: 'text', length: 'integer', count: 'integer' }, key: 2 },
  words: { columns: { word: 'text', count: 'integer' }, key: 1 },
} as const

export type BeliefTable = keyof typeof tables
export const beliefTables = Object.keys(tables) as readonly BeliefTable[]
export const columnsOf = (table: BeliefTable): readonly string[] => Object.keys(tables[table].columns)

export type Row = readonly (string | number | boolean | null)[]

/** Rows by their text, so that what is removed and added again in one change is not written at all. */
type Changes = Map<string, { readonly row: Row; count: number }>

/** The columns that are summed over all beliefs; the columns before them identify the row. */
const sums: Partial<Record<BeliefTable, number>> = { scopes: 1, audiences: 2, phrase_prefixes: 2, words: 1 }

/**
 * What a set of beliefs that come and go changes in the derived tables of one owner. The rows of a belief depend on the belief
 * alone, so that all rows of an owner are the sum over its beliefs.
 */
export class BeliefRows {
  readonly #own = new Map<BeliefTable, Changes>()
  readonly #sums = new Map<BeliefTable, Map<string, number[]>>()

  /** `body` is the text of the belief as the journal has it. */
  add(derived: DerivedBelief, body: string, step: 1 | -1): void {
    for (const [table, row] of ownRows(derived, body)) this.#count(table, row, step)
    for (const [table, key, amounts] of summedRows(derived)) this.#sum(table, key, amounts, step)
  }

  #count(table: BeliefTable, row: Row, step: 1 | -1): void {
    const changes = this.#own.get(table) ?? new Map()
    this.#own.set(table, changes)
    const text = JSON.stringify(row)
    const change = changes.get(text) ?? { row, count: 0 }
    changes.set(text, change)
    change.count += step
  }

  #sum(table: BeliefTable, key: Row, amounts: readonly number[], step: 1 | -1): void {
    const totals = this.#sums.get(table) ?? new Map<string, number[]>()
    this.#sums.set(table, totals)
    const text = JSON.stringify(key)
    const total = totals.get(text) ?? amounts.map(() => 0)
    totals.set(text, total)
    for (const [at, amount] of amounts.entries()) total[at] = (total[at] ?? 0) + step * amount
  }

  /** All rows, where every belief of an owner was added. */
  *all(): Generator<readonly [BeliefTable, Row]> {
    for (const [table, changes] of this.#own) for (const { row } of changes.values()) yield [table, row]
    for (const [table, totals] of this.#sums)
      for (const [key, total] of totals) yield [table, [...(JSON.parse(key) as Row).slice(0, sums[table]), ...total]]
    for (const audience of this.#sums.get('audiences')?.keys() ?? [])
      for (const row of audienceScopes(audience)) yield ['audience_scopes', row]
    for (const word of this.#sums.get('words')?.keys() ?? []) for (const row of typosOf(word)) yield ['typos', row]
  }

  /** Sends every statement that is needed, without waiting for the answers. */
  write(run: Run, owner: string): readonly Promise<unknown>[] {
    const sent: Promise<unknown>[] = []
    for (const [table, changes] of this.#own) {
      const rows = [...changes.values()]
      const gone = rows.filter(({ count }) => count < 0).map(({ row }) => row)
      if (gone.length > 0) sent.push(remove(run, owner, table, gone))
    }
    // Names are handed over: every row is gone before the first is added.
    for (const [table, changes] of this.#own) {
      const fresh = [...changes.values()].filter(({ count }) => count > 0).map(({ row }) => row)
      if (fresh.length > 0) sent.push(insert(run, owner, table, fresh))
    }
    for (const [table, totals] of this.#sums) sent.push(...this.#writeSums(run, owner, table, totals))
    return sent
  }

  #writeSums(run: Run, owner: string, table: BeliefTable, totals: Map<string, number[]>): readonly Promise<unknown>[] {
    const changed = [...totals].filter(([, total]) => total.some((amount) => amount !== 0))
    if (changed.length === 0) return []
    const rows = changed.map(([key, total]) => [...(JSON.parse(key) as Row).slice(0, sums[table]), ...total])
    const sent = [addUp(run, owner, table, rows)]
    const fewer = changed.filter(([, total]) => total.some((amount) => amount < 0)).map(([key]) => key)
    const more = changed.filter(([, total]) => total.some((amount) => amount > 0)).map(([key]) => key)
    if (table === 'audiences' && more.length > 0)
      sent.push(insert(run, owner, 'audience_scopes', more.flatMap(audienceScopes), true))
    if (table === 'words' && more.length > 0) sent.push(insert(run, owner, 'typos', more.flatMap(typosOf), true))
    if (fewer.length === 0) return sent
    sent.push(
      removeEmpty(
        run,
        owner,
        table,
        fewer.map((key) => JSON.parse(key) as Row),
      ),
    )
    if (table === 'audiences') sent.push(removeOrphans(run, owner, 'audience_scopes', fewer.flatMap(audienceScopes)))
    if (table === 'words') sent.push(removeOrphans(run, owner, 'typos', fewer.flatMap(typosOf)))
    return sent
  }
}

/** The rows that a belief has for itself. */
function* ownRows(derived: DerivedBelief, body: string): Generator<readonly [BeliefTable, Row]> {
  const { belief, current, scopes, agent, reinforced, flags } = derived
  const { id, type, status, supersededBy, proposedFor, updatedAt, version } = belief
  const nameKey = bounded(derived.nameKey)
  const codes = [typeCode(type), statusCode(status), belief.pinned, belief.candidate]
  const links = [supersededBy, proposedFor, updatedAt, version, checksumOf(body), body]
  yield ['beliefs', [id, audienceId(derived), current, derived.words, nameKey, ...codes, ...links]]
  for (const scope of scopes) {
    const standing = [derived.isPinned, belief.editedByPerson, shelfIn(scope, belief), reinforced]
    yield ['members', [scope, id, nameKey, current, agent, ...standing]]
    for (const { key, ordinal, breaks } of derived.forms)
      yield ['forms', [bounded(key), current, scope, agent, id, ordinal, breaks, flags, reinforced]]
  }
  const counts = new Map<string, number[]>()
  for (const [field, words] of derived.texts.entries())
    for (const word of words) {
      const fields = counts.get(word) ?? [0, 0, 0, 0]
      counts.set(word, fields)
      fields[field] = (fields[field] ?? 0) + 1
    }
  for (const [term, fields] of counts) yield ['text_terms', [term, id, ...fields]]
}

/** What a belief adds to the rows that beliefs share. */
function* summedRows(derived: DerivedBelief): Generator<readonly [BeliefTable, Row, readonly number[]]> {
  const [current, retired] = derived.current ? [1, 0] : [0, 1]
  for (const scope of derived.scopes) yield ['scopes', [scope], [1, current]]
  const words = [current, current * derived.words, retired, retired * derived.words]
  // The scopes are only for `audienceScopes`.
  yield ['audiences', [audienceId(derived), derived.agent, ...derived.scopes], words]
  for (const form of derived.forms) yield ['phrase_prefixes', [bounded(form.words[0] ?? ''), form.words.length], [1]]
  for (const word of derived.typoTargets) yield ['words', [word], [1]]
}

/** An agent and a set of scopes as a number of 128 bits. */
function audienceId({ audience }: DerivedBelief): string {
  const digits = hash('sha256', audience).slice(0, 32)
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/u, '$1-$2-$3-$4-$5')
}

function audienceScopes(key: string): readonly Row[] {
  const [audience, , ...scopes] = JSON.parse(key) as string[]
  return scopes.map((scope) => [scope, audience as string])
}

function typosOf(key: string): readonly Row[] {
  const [word] = JSON.parse(key) as [string]
  return [...new Set(typoKeys(word).map(textHash))].map((typo) => [typo, word])
}

/** The rows as one array for each column. */
const columnArrays = (rows: readonly Row[], count: number): readonly unknown[] =>
  Array.from({ length: count }, (_, at) => rows.map((row) => row[at] ?? null))

/** `unnest($2::text[], …) AS rows (scope, …)`. */
function unnested(table: BeliefTable, count: number): string {
  const entries = Object.entries(tables[table].columns).slice(0, count)
  const arrays = entries.map(([, type], at) => `$${at + 2}::${type}[]`).join(', ')
  return `unnest(${arrays}) AS rows (${entries.map(([name]) => name).join(', ')})`
}

function insert(run: Run, owner: string, table: BeliefTable, rows: readonly Row[], mayExist = false): Promise<unknown> {
  const columns = columnsOf(table)
  const conflict = mayExist ? 'ON CONFLICT DO NOTHING' : ''
  return run(
    `INSERT INTO credence.${table} (owner, ${columns.join(', ')}) SELECT $1, rows.* FROM ${unnested(table, columns.length)} ${conflict}`,
    [owner, ...columnArrays(rows, columns.length)],
  )
}

const isSameKey = (table: BeliefTable, count: number): string =>
  columnsOf(table)
    .slice(0, count)
    .map((column) => `${table}.${column} = rows.${column}`)
    .join(' AND ')

function remove(run: Run, owner: string, table: BeliefTable, rows: readonly Row[]): Promise<unknown> {
  const { key } = tables[table]
  return run(
    `DELETE FROM credence.${table} USING ${unnested(table, key)} WHERE ${table}.owner = $1 AND ${isSameKey(table, key)}`,
    [owner, ...columnArrays(rows, key)],
  )
}

/** Adds to the sums of rows, and makes those that are not there. */
function addUp(run: Run, owner: string, table: BeliefTable, rows: readonly Row[]): Promise<unknown> {
  const columns = columnsOf(table)
  const summed = columns.slice(sums[table])
  const updates = summed.map((column) => `${column} = ${table}.${column} + excluded.${column}`).join(', ')
  const key = columns.slice(0, tables[table].key).join(', ')
  return run(
    `INSERT INTO credence.${table} (owner, ${columns.join(', ')}) SELECT $1, rows.* FROM ${unnested(table, columns.length)}
     ON CONFLICT (owner, ${key}) DO UPDATE SET ${updates}`,
    [owner, ...columnArrays(rows, columns.length)],
  )
}

/** What a row counts when no belief is left that adds to it. */
const isEmpty: Partial<Record<BeliefTable, string>> = {
  scopes: 'scopes.beliefs <= 0',
  audiences: 'audiences.current + audiences.retired <= 0',
  phrase_prefixes: 'phrase_prefixes.count <= 0',
  words: 'words.count <= 0',
}

function removeEmpty(run: Run, owner: string, table: BeliefTable, keys: readonly Row[]): Promise<unknown> {
  const { key } = tables[table]
  return run(
    `DELETE FROM credence.${table} USING ${unnested(table, key)}
     WHERE ${table}.owner = $1 AND ${isSameKey(table, key)} AND ${isEmpty[table]}`,
    [owner, ...columnArrays(keys, key)],
  )
}

/** Removes rows whose audience or word is gone. */
function removeOrphans(
  run: Run,
  owner: string,
  table: 'audience_scopes' | 'typos',
  rows: readonly Row[],
): Promise<unknown> {
  const parent = table === 'typos' ? 'words' : 'audiences'
  const column = table === 'typos' ? 'word' : 'audience'
  return run(
    `DELETE FROM credence.${table} USING ${unnested(table, 2)} WHERE ${table}.owner = $1 AND ${isSameKey(table, 2)}
     AND NOT EXISTS (SELECT 1 FROM credence.${parent} AS parent WHERE parent.owner = $1 AND parent.${column} = rows.${column})`,
    [owner, ...columnArrays(rows, 2)],
  )
}
