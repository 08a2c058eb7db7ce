import { createHash } from 'node:crypto'
import type { OnProgress } from '../../../beliefs/store-care.ts'
import type { Connection } from '../connection.ts'
import { deriveRows } from '../derivation.ts'

/**
 * A query for each derived table, with names instead of the ids of users, scopes and audiences, so that its rows are equal in two stores
 * if, and only if, the contents are.
 */
const tableContents = (schema: 'main' | 'temp'): Readonly<Record<string, string>> => {
  const ofUser = (table: string): string => `LEFT JOIN users ON users.id = ${table}.user_id`
  const inScope = (table: string): string => `LEFT JOIN ${schema}.scopes ON scopes.id = ${table}.scope`
  const ofAudience = `LEFT JOIN ${schema}.audiences ON audiences.id = audience`
  const inTurnScope = `LEFT JOIN ${schema}.turn_scopes ON turn_scopes.id = scope ${ofUser('turn_scopes')}`
  return {
    beliefs: `SELECT users.name, beliefs.id, label, beliefs.current, words, name_key, type, status, pinned, candidate,
      superseded_by, proposed_for, updated_at, version FROM ${schema}.beliefs ${ofUser('beliefs')} ${ofAudience}`,
    scopes: `SELECT users.name, scopes.name, beliefs, current FROM ${schema}.scopes ${ofUser('scopes')}`,
    audiences: `SELECT users.name, agent, label, current, current_words, retired, retired_words
      FROM ${schema}.audiences ${ofUser('audiences')}`,
    audience_scopes: `SELECT users.name, scopes.name, label FROM ${schema}.audience_scopes
      ${ofUser('audience_scopes')} ${inScope('audience_scopes')} ${ofAudience}`,
    members: `SELECT users.name, scopes.name, belief, name_key, members.current, agent, pinned, edited, shelf, reinforced
      FROM ${schema}.members ${ofUser('members')} ${inScope('members')}`,
    forms: `SELECT users.name, key, forms.current, scopes.name, agent, belief, ordinal, breaks, flags, reinforced
      FROM ${schema}.forms ${ofUser('forms')} ${inScope('forms')}`,
    phrase_prefixes: `SELECT users.name, word, length, count FROM ${schema}.phrase_prefixes ${ofUser('phrase_prefixes')}`,
    words: `SELECT users.name, word, count FROM ${schema}.words ${ofUser('words')}`,
    typos: `SELECT users.name, half, word FROM ${schema}.typos ${ofUser('typos')}`,
    // For each term and field, the number of beliefs and of occurrences; for each belief and field, the number of terms.
    text_counts: `SELECT term, col, doc, cnt FROM ${schema}.text_counts`,
    text_lengths: `SELECT users.name, beliefs.id, hex(sz) FROM ${schema}.texts_docsize
      LEFT JOIN ${schema}.beliefs ON beliefs.row = texts_docsize.id ${ofUser('beliefs')}`,
    turn_scopes: `SELECT users.name, turn_scopes.name, units, length, human_words
      FROM ${schema}.turn_scopes ${ofUser('turn_scopes')}`,
    turn_lengths: `SELECT row, lengths FROM ${schema}.turns`,
    turn_speakers: `SELECT users.name, turn_scopes.name, turn_speakers.name, turns FROM ${schema}.turn_speakers ${inTurnScope}`,
    turn_postings: `SELECT users.name, turn_scopes.name, term, block, hex(entries)
      FROM ${schema}.turn_postings ${inTurnScope}`,
  }
}

/** One hash over the contents of all derived tables. */
export function fingerprintOf(connection: Connection): string {
  const hash = createHash('sha256')
  for (const [table, query] of Object.entries(tableContents('main'))) {
    hash.update(table)
    const columns = connection.statement(query).columns().length
    const order = Array.from({ length: columns }, (_, index) => index + 1).join()
    for (const row of connection.iterateLists(`${query} ORDER BY ${order}`)) hash.update(JSON.stringify(row))
  }
  return hash.digest('hex')
}

/**
 * Rebuilds all tables as temporary tables of the same names, and compares the contents. Runs inside the caller's transaction, which must
 * be rolled back to remove the temporary tables. Writes nothing to the store.
 */
export function compareDerived(connection: Connection, onProgress: OnProgress) {
  const total = connection.value<number>('SELECT count(*) FROM main.beliefs') ?? 0
  shadowDerivedTables(connection)
  deriveRows(connection, (done) => onProgress('index', done, Math.max(done, total)))
  const stored = tableContents('main')
  let rows = 0
  const complaints = Object.entries(tableContents('temp')).flatMap(([table, expected]) => {
    const found = stored[table] ?? ''
    rows += connection.value<number>(`SELECT count(*) FROM (${found})`) ?? 0
    const missing = differenceOf(connection, expected, found)
    const surplus = differenceOf(connection, found, expected)
    if (missing.count + surplus.count === 0) return []
    const example = (missing.example ?? surplus.example ?? '').slice(0, 120)
    return [`${table}: ${missing.count} rows are missing and ${surplus.count} too many, such as ${example}`]
  })
  return { detail: `${rows} rows of ${Object.keys(stored).length} tables match the journal`, complaints }
}

function differenceOf(connection: Connection, a: string, b: string) {
  let count = 0
  let example: string | null = null
  for (const row of connection.iterateLists(`${a} EXCEPT ${b}`)) {
    count += 1
    example ??= JSON.stringify(row)
  }
  return { count, example }
}

/** The derived tables; in `turns` and `turn_scopes` only some columns are derived. */
const shadowed =
  'beliefs members forms phrase_prefixes typos words audience_scopes audiences scopes turn_postings turn_speakers texts text_counts turns turn_scopes'

/** Creates the temporary tables, which take precedence over the store's tables of the same names. */
function shadowDerivedTables(connection: Connection): void {
  const names = JSON.stringify(shadowed.split(' '))
  const definitions = connection.column<string>(
    `SELECT sql FROM main.sqlite_schema WHERE tbl_name IN (SELECT value FROM json_each(?))
       AND (type = 'table' OR name = 'members_holding_name') ORDER BY rowid`,
    [names],
  )
  // Foreign keys cannot refer to tables of another schema.
  const asTemporary = (sql: string): string =>
    sql.replace(/^CREATE (?:VIRTUAL TABLE|TABLE|UNIQUE INDEX) /u, '$&temp.').replaceAll(/ REFERENCES \w+ \(\w+\)/gu, '')
  for (const sql of definitions) connection.run(asTemporary(sql))
  for (const table of ['turns', 'turn_scopes']) connection.run(`INSERT INTO temp.${table} SELECT * FROM main.${table}`)
}
