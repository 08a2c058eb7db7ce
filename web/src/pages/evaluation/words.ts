import type { ListedRun } from '../../../../src/http/api/contract.ts'
import { address } from '../../navigation/match.ts'

export const runAddress = (id: string): string => address('evaluation', 'runs', id)
/** The page of a pack; with a system, of its runs by that one. */
export const packAddress = (id: string, system: string | null = null): string =>
  `${address('evaluation', 'packs', id)}${system === null ? '' : `?system=${encodeURIComponent(system)}`}`
export const caseAddress = (run: string, id: string): string => address('evaluation', 'runs', run, 'cases', id)

/** The link on pages of missing items. */
export const allPacks = { href: '/evaluation', name: 'See all packs' } as const

export const compareAddress = (before: string, after: string): string =>
  `/evaluation/compare?${new URLSearchParams({ before, after })}`

export const whenOf = ({ run }: ListedRun): string => run.completedAt ?? run.startedAt

export const systemOf = ({ run }: ListedRun): string =>
  run.system === undefined ? 'unknown system' : `${run.system.name} ${run.system.version}`

/** Figures that the field writes in another way than as words. */
const knownAs: Readonly<Record<string, string>> = { mrr: 'MRR', ndcg: 'NDCG', r: 'recall' }

/** `retrievalPrecision` as `Retrieval precision`, `session-r@10` as `Session recall@10`. */
export function metricName(name: string): string {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[_.-]+/g, ' ')
    .toLowerCase()
    .replace(/\b(?:mrr|(?:ndcg|r)(?=@))/g, (word) => knownAs[word] ?? word)
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** A failure as a sentence, with the names of beliefs in place of their ids. */
export function failureWords(failure: string, names: Readonly<Record<string, string>>): string {
  const words = failure.replace(/[\w.-]+/g, (word) => (Object.hasOwn(names, word) ? `“${names[word]}”` : word))
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Our own systems' explanation of an answer. Other systems have a shorter one or another form. */
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

/** Parses the known form; null for another form, which is shown unchanged. */
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
