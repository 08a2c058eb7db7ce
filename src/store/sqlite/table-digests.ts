import { hash } from 'node:crypto'
import type { Connection } from './connection.ts'
import { slipHash } from './slip-hash.ts'

/** How many rows a derived table has, and a sum over them that no order and no private number enters. */
export type TableDigest = { readonly rows: number; readonly sum: string }

/** The rows of each derived table with every private number replaced by what it stands for. */
const contents: Readonly<Record<string, string>> = {
  beliefs: `SELECT users.name, beliefs.id, label, beliefs.current, words, name_key, type, status, pinned, superseded_by,
      proposed_for, updated_at, version, crc, body
    FROM beliefs LEFT JOIN users ON users.id = beliefs.user_id LEFT JOIN audiences ON audiences.id = audience`,
  scopes: `SELECT users.name, scopes.name, beliefs, current FROM scopes LEFT JOIN users ON users.id = scopes.user_id`,
  audiences: `SELECT users.name, agent, label, current, current_words, retired, retired_words
    FROM audiences LEFT JOIN users ON users.id = audiences.user_id`,
  audience_scopes: `SELECT users.name, scopes.name, label FROM audience_scopes AS link
    LEFT JOIN users ON users.id = link.user_id LEFT JOIN scopes ON scopes.id = link.scope
    LEFT JOIN audiences ON audiences.id = link.audience`,
  members: `SELECT users.name, scopes.name, belief, name_key, members.current, agent, pinned, edited, shelf, reinforced
    FROM members
    LEFT JOIN users ON users.id = members.user_id LEFT JOIN scopes ON scopes.id = members.scope`,
  forms: `SELECT users.name, key, forms.current, scopes.name, agent, belief, ordinal, breaks, flags, reinforced FROM forms
    LEFT JOIN users ON users.id = forms.user_id LEFT JOIN scopes ON scopes.id = forms.scope`,
  form_heads: `SELECT users.name, head, length, count FROM form_heads LEFT JOIN users ON users.id = form_heads.user_id`,
  words: `SELECT users.name, word, count FROM words LEFT JOIN users ON users.id = words.user_id`,
  slips: `SELECT users.name, slip, words.word FROM slips
    LEFT JOIN users ON users.id = slips.user_id LEFT JOIN words ON words.id = slips.word`,
}

export const digestedTables: readonly string[] = [...Object.keys(contents), 'texts']

/** Every row of a derived table as text, in no particular order. */
export function* rowsOf(connection: Connection, table: string): Generator<string> {
  const sql = contents[table]
  if (sql === undefined) yield* textRows(connection)
  else for (const row of connection.statement<[], object>(sql).iterate()) yield JSON.stringify(Object.values(row))
}

export function digestOf(connection: Connection, table: string): TableDigest {
  const half = 2 ** 48
  let rows = 0
  let high = 0
  let low = 0
  for (const row of rowsOf(connection, table)) {
    const digest = hash('sha256', row, 'buffer')
    rows += 1
    high = (high + digest.readUIntBE(0, 6)) % half
    low = (low + digest.readUIntBE(6, 6)) % half
  }
  return { rows, sum: `${high.toString(16)}-${low.toString(16)}` }
}

/** One hash over everything derived from the journal: equal when the derived tables say the same. */
export function fingerprintOf(connection: Connection): string {
  return hash('sha256', JSON.stringify(digestedTables.map((table) => [table, digestOf(connection, table)])))
}

/** Per belief, how many words the full-text index has for it and a sum over which and where. */
function* textRows(connection: Connection): Generator<string> {
  const owners = new Map<number, string>()
  const beliefs = connection.statement<[], { row: number; name: string; id: string }>(
    'SELECT row, users.name, beliefs.id FROM beliefs LEFT JOIN users ON users.id = beliefs.user_id',
  )
  for (const { row, name, id } of beliefs.iterate()) owners.set(row, JSON.stringify([name, id]))

  const sums = new Map<number, { count: number; sum: number }>()
  const occurrences = connection.statement<[], { term: string; doc: number; col: string; offset: number }>(
    'SELECT term, doc, col, offset FROM text_terms',
  )
  for (const { term, doc, col, offset } of occurrences.iterate()) {
    const sum = sums.get(doc) ?? { count: 0, sum: 0 }
    sums.set(doc, sum)
    sum.count += 1
    sum.sum = (sum.sum + slipHash(`${term} ${col} ${offset}`)) % 2 ** 53
  }
  for (const [doc, { count, sum }] of sums) yield JSON.stringify([owners.get(doc) ?? null, count, sum])
}
