import type { FullText, TextHit } from '../../search/form-index.ts'
import { agentKey, indexedTerm, newestText, readText, type StoredText } from '../belief-row.ts'
import { BoundedCache } from '../resident/bounded-cache.ts'
import {
  rankText,
  type TermHolders,
  type TermMatch,
  type TextBase,
  type TextField,
  textFields,
  textTerm,
  textTerms,
} from '../text-terms.ts'
import type { ChangedBeliefs } from './changed-beliefs.ts'
import type { Connection } from './connection.ts'
import { damagedStore } from './migrations/migrate.ts'

type Query = Parameters<FullText['matchText']>[0]

type Occurrence = { readonly id: string; readonly words: number; readonly field: TextField; readonly count: number }

/**
 * Full-text search in the FTS5 index. The ranking of FTS5 counts every row of the table, those of other users and retired
 * ones too, so only the occurrences are read from it, and scored here within the view.
 */
export function matchText(
  connection: Connection,
  userId: number,
  query: Query,
  standings: ReturnType<typeof openRowStandings> | null,
): readonly TextHit[] {
  const { includeRetired, beginning: begun, atLeast = 1 } = query
  const inView = audiencesInView(connection, userId, query)
  const audiences = JSON.stringify(inView)
  const base = textBase(connection, audiences, includeRetired)
  const terms = [...new Set(query.words.map(textTerm))]
  if (begun === undefined && atLeast > 1) {
    standings?.catchUp()
    const rowsOf = (match: string): readonly number[] =>
      standings?.rowsHolding(match, inView, includeRetired) ??
      connection.column<number>(rowsHolding, [match, audiences, Number(!includeRetired)])
    const counts = (rows: number): Uint16Array => standings?.counts(rows) ?? new Uint16Array(rows)
    const counted = countFirst(connection, userId, { terms, rowsOf, counts, atLeast })
    if (counted !== null) return rankText(counted, base, query)
  }
  const occurrencesOf = (from: string, to: string): readonly Occurrence[] =>
    connection.all(occurrencesBetween, [
      indexedTerm(userId, from),
      indexedTerm(userId, to),
      audiences,
      Number(!includeRetired),
    ])
  const beginning = query.beginning === undefined ? null : textTerm(query.beginning)
  const matches = terms.map((term, index) => {
    if (beginning === null || index < terms.length - 1) return byBelief(occurrencesOf(term, term))
    const continued = occurrencesOf(beginning, beginning + lastCharacter)
    return byBelief(term.startsWith(beginning) ? continued : [...continued, ...occurrencesOf(term, term)])
  })
  const holders = matches.map((found) => ({ docFreq: found.length, holders: found }))
  return rankText(holders, base, query)
}

/** To read and analyse the texts of more beliefs than this takes longer than to read the occurrences of the terms. */
const mostCounted = 200

/**
 * The holders of each term among the beliefs that hold at least `atLeast` of the terms. Counts the terms of each belief
 * first, so that only the texts of those beliefs are read. Null when they are too many.
 */
function countFirst(
  connection: Connection,
  userId: number,
  asked: {
    readonly terms: readonly string[]
    /** The rows in view that hold a term, in order. */
    readonly rowsOf: (match: string) => readonly number[]
    /** A zero for each of so many rows. */
    readonly counts: (rows: number) => Uint16Array
    readonly atLeast: number
  },
): readonly TermHolders[] | null {
  const { terms, rowsOf, counts, atLeast } = asked
  // No term holds a quotation mark.
  const rows = terms.map((term) => rowsOf(`"${indexedTerm(userId, term)}"`))
  const last = rows.reduce((most, found) => Math.max(most, found.at(-1) ?? 0), 0)
  const held = counts(last + 1)
  const candidates: number[] = []
  for (const found of rows)
    for (const row of found) {
      const count = (held[row] as number) + 1
      held[row] = count
      if (count === atLeast) candidates.push(row)
    }
  for (const found of rows) for (const row of found) held[row] = 0
  if (candidates.length > mostCounted) return null
  const matches = candidates.map((row) => readMatch(connection, userId, row))
  return terms.map((term, index) => ({
    docFreq: rows[index]?.length ?? 0,
    holders: matches.flatMap(({ beliefId, length, occurrences }) => {
      const counts = occurrences.get(term)
      return counts === undefined ? [] : [{ beliefId, length, counts }]
    }),
  }))
}

const rowsHolding = `SELECT beliefs.row FROM texts CROSS JOIN beliefs ON beliefs.row = texts.rowid
  WHERE texts MATCH ? AND +beliefs.audience IN (SELECT value FROM json_each(?)) AND +beliefs.current >= ?
  ORDER BY texts.rowid`

/**
 * What searches have read of the index, for processes that go on running: the rows of terms, and audience and currency of
 * the beliefs by their row. To read these from the table for every row of an everyday word takes ten times as long as to
 * find the rows. Each is read when a search first meets it, and again after a belief has changed.
 */
export function openRowStandings(connection: Connection, changes: ChangedBeliefs) {
  /** Twice the audience, and one more for a current belief; 0 is not known. */
  let standings = new Int32Array(1_024)
  const rowsByTerm = new BoundedCache<readonly number[]>(mostTerms)
  let knownLast = 0
  /** Kept, because to make one takes longer than to count a few hundred rows. */
  let table = new Uint16Array(0)

  changes.onChanged((changed) => {
    if (changed === null || changed.length > 0) rowsByTerm.clear()
    if (changed === null) standings.fill(0)
    else for (const { user_id, belief_id } of changed) forget(user_id, belief_id)
  })
  /** Drops what has changed. To be called before a search, in its transaction. */
  function catchUp(): void {
    changes.catchUp()
    // An index that was made again has other rows, although nothing is new in the journal.
    const lastRow = connection.value<number | null>('SELECT max(row) FROM beliefs') ?? 0
    if (lastRow !== knownLast) rowsByTerm.clear()
    knownLast = lastRow
  }

  /** The rows in view of a term of the index. */
  function rowsHolding(match: string, audiences: readonly number[], includeRetired: boolean): readonly number[] {
    const inView = new Set(audiences.flatMap((id) => (includeRetired ? [id * 2, id * 2 + 1] : [id * 2 + 1])))
    return rowsOf(match).filter((row) => inView.has(standings[row] || readStanding(row)))
  }

  function rowsOf(match: string): readonly number[] {
    const known = rowsByTerm.get(match)
    if (known !== undefined) return known
    const rows = connection.column<number>('SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rowid', [match])
    if (rows.length <= mostRows) rowsByTerm.set(match, rows)
    return rows
  }

  /** A zero for each of so many rows. The caller sets those that it has used to zero again. */
  function counts(rows: number): Uint16Array {
    if (table.length < rows) table = new Uint16Array(rows * 2)
    return table
  }

  function readStanding(row: number): number {
    const standing = connection.value<number>('SELECT audience * 2 + current FROM beliefs WHERE row = ?', [row])
    if (standing === undefined) throw damagedIndex(connection)
    if (row >= standings.length) {
      const larger = new Int32Array(row * 2)
      larger.set(standings)
      standings = larger
    }
    standings[row] = standing
    return standing
  }

  /** A belief that is gone needs no change: its row is found again only once another belief has it, which is new then. */
  function forget(userId: number, id: string): void {
    const row = connection.value<number>('SELECT row FROM beliefs WHERE user_id = ? AND id = ?', [userId, id])
    if (row !== undefined && row < standings.length) standings[row] = 0
  }

  return { catchUp, rowsHolding, counts }
}

/** Rows of at least so many terms are kept, unless a term has more rows than this: some 16 megabytes at most. */
const mostTerms = 1_000
const mostRows = 1_000

const damagedIndex = ({ file }: Connection): Error =>
  damagedStore(file, 'the full-text index holds a belief that is gone')

type Counts = Partial<Record<TextField, number>>

/** The terms of one belief and how often each occurs in each field. */
function readMatch(connection: Connection, userId: number, row: number) {
  const found = connection.get<{ id: string; words: number }>('SELECT id, words FROM beliefs WHERE row = ?', [row])
  const stored = found && connection.get<StoredText>(newestText, [userId, found.id])
  const belief = stored && readText(found.id, stored)
  if (!found || !belief) throw damagedIndex(connection)
  const terms = textTerms(belief)
  const occurrences = new Map<string, Counts>()
  for (const field of textFields) {
    for (const term of terms[field]) {
      const counts = occurrences.get(term) ?? {}
      occurrences.set(term, counts)
      counts[field] = (counts[field] ?? 0) + 1
    }
  }
  return { beliefId: found.id, length: found.words, occurrences }
}

/** A prefix followed by this sorts after every word that starts with the prefix. */
const lastCharacter = '\u{10ffff}'

// The pluses keep SQLite from looking each belief up once per audience.
const occurrencesBetween = `
  SELECT beliefs.id, beliefs.words, found.col AS field, found.count
  FROM (SELECT doc, col, count(*) AS count FROM text_terms WHERE term >= ? AND term <= ? GROUP BY doc, col) AS found
  CROSS JOIN beliefs ON beliefs.row = found.doc
  WHERE +beliefs.audience IN (SELECT value FROM json_each(?)) AND +beliefs.current >= ?`

function audiencesInView(connection: Connection, userId: number, { agent, scopes }: Query): readonly number[] {
  const owner = agentKey(agent)
  if (scopes === null)
    return connection.column(`SELECT id FROM audiences WHERE user_id = ? AND agent IN ('', ?)`, [userId, owner])
  return connection.column(
    `SELECT DISTINCT audiences.id FROM json_each(:scopes) AS asked
     CROSS JOIN scopes ON scopes.user_id = :userId AND scopes.name = asked.value
     CROSS JOIN audience_scopes ON audience_scopes.user_id = :userId AND audience_scopes.scope = scopes.id
     CROSS JOIN audiences ON audiences.id = audience_scopes.audience AND audiences.agent IN ('', :owner)`,
    [{ userId, owner, scopes: JSON.stringify(scopes) }],
  )
}

function textBase(connection: Connection, audiences: string, includeRetired: boolean): TextBase {
  const row = connection.get<{ beliefs: number | null; words: number | null }>(
    `SELECT sum(current + :retired * retired) AS beliefs, sum(current_words + :retired * retired_words) AS words
     FROM audiences WHERE id IN (SELECT value FROM json_each(:audiences))`,
    [{ retired: Number(includeRetired), audiences }],
  )
  return { beliefs: row?.beliefs ?? 0, words: row?.words ?? 0 }
}

function byBelief(occurrences: readonly Occurrence[]): readonly TermMatch[] {
  const matches = new Map<string, TermMatch & { readonly counts: Partial<Record<TextField, number>> }>()
  for (const { id, words, field, count } of occurrences) {
    const match = matches.get(id) ?? { beliefId: id, length: words, counts: {} }
    matches.set(id, match)
    match.counts[field] = (match.counts[field] ?? 0) + count
  }
  return [...matches.values()]
}
