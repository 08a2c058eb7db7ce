import type { FullText, TextHit } from '../../search/form-index.ts'
import { rankText, type TermMatch, type TextBase, type TextField, textTerm } from '../text-terms.ts'
import { agentKey, indexedTerm } from './belief-row.ts'
import type { Connection } from './connection.ts'

type Query = Parameters<FullText['matchText']>[0]

type Occurrence = { readonly id: string; readonly words: number; readonly field: TextField; readonly count: number }

/**
 * Full-text search in the FTS5 index. The ranking of FTS5 counts every row of the table, those of other users and retired
 * ones too, so only the occurrences are read from it, and scored here within the view.
 */
export function matchText(connection: Connection, userId: number, query: Query): readonly TextHit[] {
  const { includeRetired } = query
  const audiences = JSON.stringify(audiencesInView(connection, userId, query))
  const occurrencesOf = (from: string, to: string): readonly Occurrence[] =>
    connection.all(occurrencesBetween, [
      indexedTerm(userId, from),
      indexedTerm(userId, to),
      audiences,
      Number(!includeRetired),
    ])
  const terms = [...new Set(query.words.map(textTerm))]
  const beginning = query.beginning === undefined ? null : textTerm(query.beginning)
  const matches = terms.map((term, index) => {
    if (beginning === null || index < terms.length - 1) return byBelief(occurrencesOf(term, term))
    const begun = occurrencesOf(beginning, beginning + lastCharacter)
    return byBelief(term.startsWith(beginning) ? begun : [...begun, ...occurrencesOf(term, term)])
  })
  return rankText(matches, textBase(connection, audiences, includeRetired), query)
}

/** A prefix followed by this sorts after every word that starts with the prefix. */
const lastCharacter = '\u{10ffff}'

// The pluses keep SQLite from looking each belief up once per audience.
const occurrencesBetween = `
  SELECT beliefs.id, beliefs.words, found.col AS field, found.count
  FROM (SELECT doc, col, count(*) AS count FROM text_terms WHERE term >= ? AND term <= ? GROUP BY doc, col) AS found
  CROSS JOIN beliefs INDEXED BY beliefs_by_row ON beliefs.row = found.doc
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
