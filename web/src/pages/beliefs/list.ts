import { useRef, useState } from 'preact/hooks'
import { type BeliefType, beliefTypes } from '../../../../src/beliefs/belief.ts'
import type { BeliefOrder } from '../../../../src/beliefs/belief-store.ts'
import type { Query, RouteAnswer } from '../../../../src/http/api/contract.ts'
import { ask } from '../../api/client.ts'
import { useResource } from '../../state/resource.ts'
import { mergeRows } from './merge-rows.ts'

/** The status filters of the list. The key is part of the address, so that a view can be bookmarked. */
export const showWords = {
  current: 'Current',
  active: 'Active',
  inferred: 'Inferred',
  exploratory: 'Exploratory',
  retired: 'Superseded or settled',
  proposals: 'Proposals',
  candidates: 'Candidates',
  all: 'Everything',
} as const
export type Show = keyof typeof showWords

export const groupWords = { none: 'Not grouped', scope: 'By scope', type: 'By type' } as const
export type Group = keyof typeof groupWords

export const orderWords: Readonly<Record<BeliefOrder, string>> = {
  updated: 'Last changed',
  name: 'Name',
  recalled: 'Most recalled',
}

/** The given query parameter if it is one of the keys of `words`. */
const knownWord = <Word extends string>(words: Readonly<Record<Word, string>>, given: string | null): Word | null =>
  // The cast is safe: every key of `words` has the type Word.
  given !== null && Object.hasOwn(words, given) ? (given as Word) : null

export type Filters = {
  readonly text: string
  readonly scope: string | null
  readonly type: BeliefType | null
  readonly show: Show
  readonly isPinned: boolean
  readonly isNeverRecalled: boolean
  readonly order: BeliefOrder
  readonly group: Group
}

/** The filters in the query of an address. Ignores unknown values. */
export function filtersOf(query: URLSearchParams): Filters {
  return {
    text: query.get('q') ?? '',
    scope: query.get('scope'),
    type: beliefTypes.find((type) => type === query.get('type')) ?? null,
    show: knownWord(showWords, query.get('show')) ?? 'current',
    isPinned: query.get('pinned') === 'yes',
    isNeverRecalled: query.get('recalled') === 'never',
    order: knownWord(orderWords, query.get('sort')) ?? 'updated',
    group: knownWord(groupWords, query.get('group')) ?? 'none',
  }
}

export const isFiltered = ({ text, scope, type, show, isPinned, isNeverRecalled }: Filters): boolean =>
  text.trim() !== '' || scope !== null || type !== null || show !== 'current' || isPinned || isNeverRecalled

export function listQuery(filters: Filters): Query<'listBeliefs'> {
  const { text, scope, type, show, isPinned, isNeverRecalled, order } = filters
  return {
    ...(text.trim() === '' ? {} : { query: text.trim().slice(0, 2_000) }),
    ...(scope === null ? {} : { scope: [scope] }),
    ...(type === null ? {} : { type: [type] }),
    ...(isPinned ? { pinned: true } : {}),
    ...(isNeverRecalled ? { recalled: false } : {}),
    ...(order === 'updated' ? {} : { order }),
    ...statusQuestions[show],
  }
}

const statusQuestions: Readonly<Record<Show, Query<'listBeliefs'>>> = {
  current: { current: true },
  active: { current: true, status: ['active'] },
  inferred: { current: true, status: ['inferred'] },
  exploratory: { current: true, status: ['exploratory'] },
  retired: { current: false, proposals: false, candidates: false },
  proposals: { proposals: true },
  candidates: { candidates: true },
  all: {},
}

export type Listed = RouteAnswer<'listBeliefs'>['items'][number]

/** The number of rows loaded at first. It doubles whenever the end of the list comes near the viewport. */
const pageSize = 50
/** Max rows per request. */
const maxAtOnce = 200

/** The matching beliefs that are loaded so far. Later changes update rows without moving them. */
export function useBeliefList(question: Query<'listBeliefs'>, head: number) {
  const key = JSON.stringify(question)
  const [depth, setDepth] = useState({ key, rows: pageSize })
  const rows = depth.key === key ? depth.rows : pageSize
  const before = useRef({ key, items: [] as readonly Listed[] })
  const found = useResource(
    key,
    async (signal) => {
      const list = await loadRows(question, rows, signal)
      const items = before.current.key === key ? mergeRows(before.current.items, list.items) : list.items
      before.current = { key, items }
      return { ...list, items, key }
    },
    { freshness: `${head} ${rows}`, keep: true },
  )
  // After a failure, rows of the previous query are not shown, because they would look like the answer to this one.
  const isOther = found.error !== null && found.value?.key !== key
  const { items = null, total = 0, isCut = false } = (isOther ? null : found.value) ?? {}
  return { ...found, items, total, isCut, loadMore: () => setDepth({ key, rows: 2 * (items?.length ?? pageSize) }) }
}

async function loadRows(question: Query<'listBeliefs'>, rows: number, signal: AbortSignal) {
  const offsets = Array.from({ length: Math.ceil(rows / maxAtOnce) }, (_, part) => part * maxAtOnce)
  const pages = await Promise.all(
    offsets.map((offset) =>
      ask('listBeliefs', { query: { ...question, limit: Math.min(maxAtOnce, rows - offset), offset }, signal }),
    ),
  )
  // Distinct by id, because a change between two requests may move a row to another page.
  const byId = new Map<string, Listed>(pages.flatMap((page) => page.items.map((one) => [one.belief.id, one] as const)))
  const items: readonly Listed[] = [...byId.values()]
  const { total = 0, isCut = false } = pages.at(-1) ?? {}
  return { items, total: items.length < rows ? items.length : total, isCut }
}
