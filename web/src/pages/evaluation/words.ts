import type { ListedRun } from '../../../../src/http/api/contract.ts'
import { address } from '../../navigation/match.ts'

export const runAddress = (id: string): string => address('evaluation', 'runs', id)
/** The page of a pack, optionally with the runs of one system. */
export const packAddress = (id: string, system: string | null = null): string =>
  `${address('evaluation', 'packs', id)}${system === null ? '' : `?system=${encodeURIComponent(system)}`}`
export const caseAddress = (run: string, id: string): string => address('evaluation', 'runs', run, 'cases', id)

/** The link shown if an item does not exist. */
export const allPacks = { href: '/evaluation', name: 'See all packs' } as const

export const compareAddress = (before: string, after: string): string =>
  `/evaluation/compare?${new URLSearchParams({ before, after })}`

export const runTime = ({ run }: ListedRun): string => run.completedAt ?? run.startedAt

export const systemText = ({ run }: ListedRun): string =>
  run.system === undefined ? 'unknown system' : `${run.system.name} ${run.system.version}`

/** The usual spelling of metrics that are not ordinary words. */
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

/** A failure as a sentence, with names of beliefs instead of ids. */
export function failureWords(failure: string, names: Readonly<Record<string, string>>): string {
  const words = failure.replace(/[\w.-]+/g, (word) => (Object.hasOwn(names, word) ? `“${names[word]}”` : word))
  return words.charAt(0).toUpperCase() + words.slice(1)
}
