import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Connection } from '../connection.ts'

/** The key of a row of a derived table, with names in place of the ids of users, scopes and words. */
export type DerivedRow = readonly (string | number | null)[]

/** Takes a row of a derived table, or a part of one: the counts of rows with the same key add up. */
export type Emit = (table: DerivedTable, key: DerivedRow, counts?: readonly number[]) => void

const ofUser = (table: string): string => `LEFT JOIN users ON users.id = ${table}.user_id`
const inScope = (table: string): string => `LEFT JOIN scopes ON scopes.id = ${table}.scope`

/** A query for each derived table whose rows are equal in two stores exactly when the contents are. */
const contents = {
  beliefs: `SELECT users.name, beliefs.id, label, beliefs.current, words, name_key, type, status, pinned, candidate,
      superseded_by, proposed_for, updated_at, version
    FROM beliefs ${ofUser('beliefs')} LEFT JOIN audiences ON audiences.id = audience`,
  scopes: `SELECT users.name, scopes.name, beliefs, current FROM scopes ${ofUser('scopes')}`,
  audiences: `SELECT users.name, agent, label, current, current_words, retired, retired_words
    FROM audiences ${ofUser('audiences')}`,
  audience_scopes: `SELECT users.name, scopes.name, label FROM audience_scopes
    ${ofUser('audience_scopes')} ${inScope('audience_scopes')} LEFT JOIN audiences ON audiences.id = audience`,
  members: `SELECT users.name, scopes.name, belief, name_key, members.current, agent, pinned, edited, shelf, reinforced
    FROM members ${ofUser('members')} ${inScope('members')}`,
  forms: `SELECT users.name, key, forms.current, scopes.name, agent, belief, ordinal, breaks, flags, reinforced
    FROM forms ${ofUser('forms')} ${inScope('forms')}`,
  phrase_prefixes: `SELECT users.name, word, length, count FROM phrase_prefixes ${ofUser('phrase_prefixes')}`,
  words: `SELECT users.name, word, count FROM words ${ofUser('words')}`,
  typos: `SELECT users.name, half, word FROM typos ${ofUser('typos')}`,
  // The number of beliefs with a term in a field and of its occurrences; the number of terms of each belief in each field.
  text_counts: 'SELECT term, col, doc, cnt FROM text_counts',
  text_lengths: `SELECT users.name, beliefs.id, hex(sz) FROM texts_docsize
    LEFT JOIN beliefs ON beliefs.row = texts_docsize.id ${ofUser('beliefs')}`,
  // A scope stays when nothing said in it is left, so that it counts itself too.
  turn_scopes: `SELECT users.name, turn_scopes.name, 1, units, length, human_words FROM turn_scopes ${ofUser('turn_scopes')}`,
  turn_speakers: `SELECT users.name, turn_scopes.name, turn_speakers.name, turns FROM turn_speakers
    LEFT JOIN turn_scopes ON turn_scopes.id = scope ${ofUser('turn_scopes')}`,
  turn_postings: `SELECT users.name, turn_scopes.name, term, block, hex(entries) FROM turn_postings
    LEFT JOIN turn_scopes ON turn_scopes.id = scope ${ofUser('turn_scopes')}`,
} as const satisfies Readonly<Record<string, string>>

export type DerivedTable = keyof typeof contents

export const derivedTables = Object.keys(contents) as readonly DerivedTable[]

/** How many columns at the end of a row are counts. A row of any other table counts once. */
const countColumns: Readonly<Partial<Record<DerivedTable, number>>> = {
  scopes: 2,
  audiences: 4,
  phrase_prefixes: 1,
  words: 1,
  text_counts: 2,
  turn_scopes: 4,
  turn_speakers: 1,
}

/** The rows a table has now, in no particular order. */
export function eachStoredRow(connection: Connection, table: DerivedTable, emit: Emit): void {
  const counted = countColumns[table] ?? 0
  // Read as arrays: objects would take several times as long.
  for (const row of connection.statement<DerivedRow>(contents[table]).raw().iterate()) {
    const counts = counted === 0 ? [] : row.slice(-counted)
    // A row that counts nothing should not be there. With its counts in the key it is like no expected row.
    if (isCounts(counts) && counts.some((count) => count !== 0)) emit(table, row.slice(0, -counted), counts)
    else emit(table, row)
  }
}

const isCounts = (values: DerivedRow): values is readonly number[] => values.every(Number.isSafeInteger)

/** The checksum of a longer text takes less time than the loop over its characters. */
const longText = 100

const once = [1]

type Sum = readonly number[]

/** Adds a row to a checksum, which depends neither on the order of rows nor on the parts in which their counts are added. */
function addRow(sum: Uint32Array, key: DerivedRow, counts: readonly number[] = once): void {
  let high = 0x811c9dc5
  let low = 0x9747b28c
  for (const value of key) {
    // Numbers have another start than texts, so that 1 and '1' are not the same.
    const isLong = typeof value === 'string' && value.length > longText
    const text = typeof value === 'string' && !isLong ? value : String(isLong ? crc32(value) : value)
    high = Math.imul(high ^ (typeof value === 'string' ? 1 : 2), 0x01000193)
    for (let at = 0; at < text.length; at += 1) {
      const unit = text.charCodeAt(at)
      high = Math.imul(high ^ unit, 0x01000193)
      low = Math.imul(low ^ unit, 0x85ebca6b)
    }
    // With the length, so that ['ab', 'c'] and ['a', 'bc'] are not the same.
    high = Math.imul(high ^ text.length, 0x01000193)
  }
  for (const count of counts) {
    // An odd factor, so that no wrong count of one row is lost.
    high = Math.imul(high, 0x01000193) | 1
    low = Math.imul(low ^ 0x5bd1e995, 0x85ebca6b) | 1
    sum[0] = (sum[0] as number) + Math.imul(high, count)
    sum[1] = (sum[1] as number) + Math.imul(low, count)
  }
}

/** The checksum of every derived table. */
export class RowSums {
  readonly #sums = new Map(derivedTables.map((table) => [table, new Uint32Array(2)]))
  rows = 0

  readonly add: Emit = (table, key, counts) => {
    this.rows += 1
    addRow(this.#sums.get(table) as Uint32Array, key, counts)
  }

  /** Adds what was summed elsewhere. */
  addSums(sums: Readonly<Record<DerivedTable, Sum>>): void {
    for (const [table, sum] of this.#sums) sum.set(sums[table].map((part, at) => part + (sum[at] ?? 0)))
  }

  values(): Readonly<Record<DerivedTable, Sum>> {
    return Object.fromEntries([...this.#sums].map(([table, sum]) => [table, [...sum]])) as never
  }
}

export function storedSums(connection: Connection): RowSums {
  const sums = new RowSums()
  for (const table of derivedTables) eachStoredRow(connection, table, sums.add)
  return sums
}

/** One hash over the contents of all derived tables. */
export const fingerprintOf = (connection: Connection): string =>
  hash('sha256', JSON.stringify(storedSums(connection).values()))
