import { hash } from 'node:crypto'
import { textFields } from '../text-terms.ts'
import type { Connection } from './connection.ts'
import { textHash } from './text-hash.ts'

/** One row of a derived table, with what its private numbers stand for in their place. */
export type DerivedRow = readonly (string | number | null)[]

const ofUser = (table: string): string => `LEFT JOIN users ON users.id = ${table}.user_id`
const inScope = (table: string): string => `LEFT JOIN scopes ON scopes.id = ${table}.scope`

/** What each derived table says, as rows that are equal in two stores exactly when they say the same. */
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
  form_heads: `SELECT users.name, head, length, count FROM form_heads ${ofUser('form_heads')}`,
  words: `SELECT users.name, word, count FROM words ${ofUser('words')}`,
  slips: `SELECT users.name, slip, words.word FROM slips ${ofUser('slips')} LEFT JOIN words ON words.id = slips.word`,
  // How many beliefs have a term in a field, how often; and how many terms each belief has in each field.
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
  // Read as lists: there are many rows, and objects of them would take several times as long.
  for (const row of connection.statement<[], DerivedRow>(contents[table]).raw().iterate()) yield row
}

/** A sum over rows that no order enters. */
export class RowSum {
  rows = 0
  #high = 0
  #low = 0

  add(row: DerivedRow): void {
    const number = textHash(JSON.stringify(row))
    this.rows += 1
    // In two halves, so that millions of them add up without rounding.
    this.#high += Math.floor(number / 0x4000000)
    this.#low += number % 0x4000000
  }

  isEqual(other: RowSum): boolean {
    return this.text() === other.text()
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

/** One hash over everything derived from the journal: equal when the derived tables say the same. */
export const fingerprintOf = (connection: Connection): string =>
  hash('sha256', JSON.stringify(derivedTables.map((table) => [table, sumOf(connection, table).text()])))

/** The lengths of a belief's fields as the full-text index writes them down. */
export function encodeLengths(lengths: readonly number[]): string {
  if (lengths.length !== textFields.length)
    throw new Error(`${lengths.length} lengths for ${textFields.length} fields.`)
  const bytes = lengths.flatMap((length) => {
    const septets = [length & 0x7f]
    for (let rest = length >>> 7; rest > 0; rest >>>= 7) septets.unshift((rest & 0x7f) | 0x80)
    return septets
  })
  return Buffer.from(bytes).toString('hex').toUpperCase()
}
