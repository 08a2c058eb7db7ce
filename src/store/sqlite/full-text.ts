import type { FullText, TextHit } from '../../search/form-index.ts'
import { agentKey, indexedTerm, newestText, readText, type StoredText } from '../belief-row.ts'
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
import { lastCharacter } from './belief-lookups.ts'
import type { Connection } from './connection.ts'
import { damagedStore } from './migrations/migrate.ts'

type Query = Parameters<FullText['matchText']>[0]

type Occurrence = { readonly id: string; readonly words: number; readonly field: TextField; readonly count: number }

/**
 * Full-text search in the FTS5 index. The ranking of FTS5 counts every row of the table, even rows of other users and of retired beliefs.
 * Therefore only the occurrences are read from it; the scores are computed here, for the beliefs in view.
 */
export function matchText(connection: Connection, userId: number, query: Query): readonly TextHit[] {
  const { includeRetired, beginning: begun, atLeast = 1 } = query
  const audiences = JSON.stringify(audiencesInView(connection, userId, query))
  const base = textBase(connection, audiences, includeRetired)
  if (base.beliefs === 0) return []
  const isCurrent = JSON.stringify([...(includeRetired ? [0] : []), ...(includeRetired === 'only' ? [] : [1])])
  const terms = [...new Set(query.words.map(textTerm))]
  if (begun === undefined && atLeast > 1) {
    const rowsOf = (match: string): readonly number[] =>
      connection.column<number>(rowsHolding, [match, audiences, isCurrent])
    const counted = countMatches(connection, userId, {
      terms,
      rowsOf,
      atLeast,
      needsAll: atLeast >= query.words.length,
    })
    if (counted !== null) return rankText(counted, base, query)
  }
  const occurrencesOf = (from: string, to: string): readonly Occurrence[] =>
    connection.all(occurrencesBetween, [indexedTerm(userId, from), indexedTerm(userId, to), audiences, isCurrent])
  const beginning = query.beginning === undefined ? null : textTerm(query.beginning)
  const matches = terms.map((term, index) => {
    if (beginning === null || index < terms.length - 1) return groupByBelief(occurrencesOf(term, term))
    const continued = occurrencesOf(beginning, beginning + lastCharacter)
    return groupByBelief(term.startsWith(beginning) ? continued : [...continued, ...occurrencesOf(term, term)])
  })
  const holders = matches.map((found) => ({ docFreq: found.length, holders: found }))
  return rankText(holders, base, query)
}

/** Max beliefs whose texts are read and analysed. If there are more, reading the occurrences of the terms is faster. */
const maxCounted = 200

/**
 * The matches of each term among the beliefs that contain at least `atLeast` of the terms. Counts the terms of each belief first, so that
 * only the texts of those beliefs are read. Null if there are more than `maxCounted` such beliefs.
 */
function countMatches(
  connection: Connection,
  userId: number,
  query: {
    readonly terms: readonly string[]
    /** The visible rows that contain a term, in order. */
    readonly rowsOf: (match: string) => readonly number[]
    readonly atLeast: number
    /** Whether a belief must contain all terms. */
    readonly needsAll: boolean
  },
): readonly TermHolders[] | null {
  const { terms, rowsOf, atLeast, needsAll } = query
  // No term contains a quotation mark.
  const asked = terms.map((term) => `"${indexedTerm(userId, term)}"`)
  // FTS5 finds the beliefs with all terms fast. The slower query for each term is needed only to order two or more hits.
  const withAll = needsAll ? rowsOf(asked.join(' AND ')) : []
  const rows = asked.map((one) => (needsAll && withAll.length < 2 ? withAll : rowsOf(one)))
  const last = rows.reduce((max, found) => Math.max(max, found.at(-1) ?? 0), 0)
  const held = new Uint16Array(last + 1)
  const candidates: number[] = []
  for (const found of rows)
    for (const row of found) {
      const count = (held[row] as number) + 1
      held[row] = count
      if (count === atLeast) candidates.push(row)
    }
  if (candidates.length > maxCounted) return null
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
  WHERE texts MATCH ? AND +beliefs.audience IN (SELECT value FROM json_each(?))
  AND +beliefs.current IN (SELECT value FROM json_each(?))
  ORDER BY texts.rowid`

/** The terms of one belief with their frequency in each field. */
function readMatch(connection: Connection, userId: number, row: number) {
  const found = connection.get<{ id: string; words: number }>('SELECT id, words FROM beliefs WHERE row = ?', [row])
  const stored = found && connection.get<StoredText>(newestText, [userId, found.id])
  const belief = stored && readText(found.id, stored)
  if (!found || !belief)
    throw damagedStore(connection.file, 'the full-text index contains a belief that no longer exists')
  const terms = textTerms(belief)
  const occurrences = new Map<string, Partial<Record<TextField, number>>>()
  for (const field of textFields) {
    for (const term of terms[field]) {
      const counts = occurrences.get(term) ?? {}
      occurrences.set(term, counts)
      counts[field] = (counts[field] ?? 0) + 1
    }
  }
  return { beliefId: found.id, length: found.words, occurrences }
}

// The pluses prevent SQLite from looking up each belief once per audience.
const occurrencesBetween = `
  SELECT beliefs.id, beliefs.words, found.col AS field, found.count
  FROM (SELECT doc, col, count(*) AS count FROM text_terms WHERE term >= ? AND term <= ? GROUP BY doc, col) AS found
  CROSS JOIN beliefs ON beliefs.row = found.doc
  WHERE +beliefs.audience IN (SELECT value FROM json_each(?)) AND +beliefs.current IN (SELECT value FROM json_each(?))`

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

function textBase(connection: Connection, audiences: string, includeRetired: Query['includeRetired']): TextBase {
  const row = connection.get<{ beliefs: number | null; words: number | null }>(
    `SELECT sum(:current * current + :retired * retired) AS beliefs,
       sum(:current * current_words + :retired * retired_words) AS words
     FROM audiences WHERE id IN (SELECT value FROM json_each(:audiences))`,
    [{ current: Number(includeRetired !== 'only'), retired: Number(includeRetired !== false), audiences }],
  )
  return { beliefs: row?.beliefs ?? 0, words: row?.words ?? 0 }
}

function groupByBelief(occurrences: readonly Occurrence[]): readonly TermMatch[] {
  const matches = new Map<string, TermMatch & { readonly counts: Partial<Record<TextField, number>> }>()
  for (const { id, words, field, count } of occurrences) {
    const match = matches.get(id) ?? { beliefId: id, length: words, counts: {} }
    matches.set(id, match)
    match.counts[field] = (match.counts[field] ?? 0) + count
  }
  return [...matches.values()]
}
