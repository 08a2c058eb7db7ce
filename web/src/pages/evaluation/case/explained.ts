/** What our own systems say about how an answer was reached. Other systems say less, or something else. */
export type Explained = {
  readonly group: string | null
  readonly query: string | null
  readonly prelude: string | null
  readonly clauses: ReadonlyMap<
    string,
    readonly { readonly field: string; readonly form: string; readonly score: number }[]
  >
  readonly nearMisses: readonly { readonly id: string; readonly reason: string }[]
}

type Loose = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Loose =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)
const list = (value: unknown): readonly Loose[] => (Array.isArray(value) ? value.filter(isObject) : [])

/** Reads what is known; null when it is in another form, to be shown as it stands. */
export function explainedOf(given: unknown): Explained | null {
  if (!isObject(given)) return null
  if (!('matches' in given || 'query' in given || 'nearMisses' in given)) return null
  return {
    group: text(given.group),
    query: text(given.query),
    prelude: text(given.prelude),
    clauses: new Map(list(given.matches).map((match) => [String(match.id), list(match.clauses).map(clauseOf)])),
    nearMisses: list(given.nearMisses).map(({ id, reason }) => ({
      id: String(id),
      reason: typeof reason === 'string' ? reason : JSON.stringify(reason),
    })),
  }
}

const clauseOf = ({ path, term, score }: Loose) => ({
  field: path === 'canonical_name' ? 'name' : String(path ?? ''),
  form: String(term ?? ''),
  score: typeof score === 'number' ? score : 0,
})
