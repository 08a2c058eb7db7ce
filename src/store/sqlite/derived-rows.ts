import { hash } from 'node:crypto'
import { textHash } from './belief-row.ts'
import type { Connection } from './connection.ts'

/** One row of a derived table, with names in place of the ids of users, scopes and words. */
export type DerivedRow = readonly (string | number | null)[]

const ofUser = (table: string): string => `LEFT JOIN users ON users.id = ${table}.user_id`
const inScope = (table: string): string => `LEFT JOIN scopes ON scopes.id = ${table}.scope`

/** A query for each derived table whose rows are equal in two stores exactly when the contents are. */
const contents = {
  beliefs: `SELECT users.name, beliefs.id, label, beliefs.current, words, name_key, type, status, pinned, candidate,
      superseded_by, proposed_for, updated_at, version, crc, body
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
  typos: `SELECT users.name, deletion, words.word FROM typos ${ofUser('typos')}
    LEFT JOIN words ON words.id = typos.word`,
  // The number of beliefs with a term in a field and of its occurrences; the number of terms of each belief in each field.
  text_counts: 'SELECT term, col, doc, cnt FROM text_counts',
  text_lengths: `SELECT users.name, beliefs.id, hex(sz) FROM texts_docsize
    LEFT JOIN beliefs ON beliefs.row = texts_docsize.id ${ofUser('beliefs')}`,
  turn_scopes: `SELECT users.name, turn_scopes.name, units, length, human_words FROM turn_scopes ${ofUser('turn_scopes')}`,
  turn_speakers: `SELECT users.name, turn_scopes.name, turn_speakers.name, turns FROM turn_speakers
    LEFT JOIN turn_scopes ON turn_scopes.id = scope ${ofUser('turn_scopes')}`,
  turn_postings: `SELECT users.name, turn_scopes.name, term, block, hex(entries) FROM turn_postings
    LEFT JOIN turn_scopes ON turn_scopes.id = scope ${ofUser('turn_scopes')}`,
} as const satisfies Readonly<Record<string, string>>

export type DerivedTable = keyof typeof contents

export const derivedTables = Object.keys(contents) as readonly DerivedTable[]

/** The rows a table has now, in no particular order. */
export function* storedRows(connection: Connection, table: DerivedTable): Generator<DerivedRow> {
  // Read as arrays: objects would take several times as long.
  for (const row of connection.statement<DerivedRow>(contents[table]).raw().iterate()) yield row
}

/** A checksum of rows that does not depend on their order. */
export class RowSum {
  rows = 0
  #high = 0
  #low = 0

  add(row: DerivedRow): void {
    const number = textHash(JSON.stringify(row))
    this.rows += 1
    // In two halves, so that the sums of millions stay exact.
    this.#high += Math.floor(number / 0x4000000)
    this.#low += number % 0x4000000
  }

  text(): string {
    return `${this.rows} ${this.#high} ${this.#low}`
  }
}

export function sumOf(connection: Connection, table: DerivedTable): RowSum {
  const sum = new RowSum()
  for (const row of storedRows(connection, table)) sum.add(row)
  return sum
}

/** One hash over the contents of all derived tables. */
export const fingerprintOf = (connection: Connection): string =>
  hash('sha256', JSON.stringify(derivedTables.map((table) => [table, sumOf(connection, table).text()])))
