import type { FullText, TextHit } from '../../search/form-index.ts'
import { rankText, type TermMatch, type TextField, textFields, textTerm } from '../text-terms.ts'
import { lastCharacter, ownersOf } from './belief-lookups.ts'
import type { Connection } from './connection.ts'

type Query = Parameters<FullText['matchText']>[0]

type TermRow = Readonly<Record<TextField, number>> & {
  readonly term: string
  readonly belief: string
  readonly words: number
}

const audiencesInView = `SELECT audience FROM credence.audiences WHERE owner = $1 AND agent = ANY($2::text[])
  AND ($3::text[] IS NULL OR audience IN (
    SELECT audience FROM credence.audience_scopes WHERE owner = $1 AND scope = ANY($3::text[])))`

const matching = (condition: string): string => `
  SELECT term, belief, words, terms.name, terms.aliases, terms.content, terms.why
  FROM credence.text_terms AS terms JOIN credence.beliefs ON beliefs.owner = terms.owner AND beliefs.id = terms.belief
  WHERE terms.owner = $1 AND ${condition} AND beliefs.audience IN (${audiencesInView}) AND (beliefs.current OR $4)`

/** Full-text search in the table of terms, scored within the view. */
export async function matchText(connection: Connection, query: Query): Promise<readonly TextHit[]> {
  const { user, agent, scopes, includeRetired } = query
  const terms = [...new Set(query.words.map(textTerm))]
  const beginning = query.beginning === undefined ? null : textTerm(query.beginning)
  const view = [user, ownersOf(agent), scopes, includeRetired]
  const [exact, begun, base] = await connection.read((run) =>
    Promise.all([
      run<TermRow>(matching('term = ANY($5::text[])'), [...view, terms]),
      beginning === null
        ? []
        : run<TermRow>(matching('term >= $5 AND term < $6'), [...view, beginning, beginning + lastCharacter]),
      run<{ beliefs: number | null; words: number | null }>(
        `SELECT sum(current + CASE WHEN $4 THEN retired ELSE 0 END) AS beliefs,
           sum(current_words + CASE WHEN $4 THEN retired_words ELSE 0 END) AS words
         FROM credence.audiences WHERE owner = $1 AND audience IN (${audiencesInView})`,
        view,
      ),
    ]),
  )
  const matches = terms.map((term, index) => {
    const isLast = beginning !== null && index === terms.length - 1
    const whole = exact.filter((row) => row.term === term)
    const holders = byBelief(isLast ? [...begun, ...(term.startsWith(beginning) ? [] : whole)] : whole)
    return { docFreq: holders.length, holders }
  })
  return rankText(matches, { beliefs: Number(base[0]?.beliefs ?? 0), words: Number(base[0]?.words ?? 0) }, query)
}

function byBelief(rows: readonly TermRow[]): readonly TermMatch[] {
  const matches = new Map<string, TermMatch & { readonly counts: Partial<Record<TextField, number>> }>()
  for (const row of rows) {
    const match = matches.get(row.belief) ?? { beliefId: row.belief, length: row.words, counts: {} }
    matches.set(row.belief, match)
    for (const field of textFields) if (row[field] > 0) match.counts[field] = (match.counts[field] ?? 0) + row[field]
  }
  return [...matches.values()]
}
