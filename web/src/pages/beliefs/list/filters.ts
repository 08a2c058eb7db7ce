import { type BeliefType, beliefTypes } from '../../../../../src/beliefs/belief.ts'
import type { BeliefOrder } from '../../../../../src/beliefs/belief-store.ts'
import type { Query } from '../../../../../src/http/api/contract.ts'

/** Which beliefs the list shows. Each is a word in the address, so that a view can be kept as a bookmark. */
export const shows = [
  'current',
  'active',
  'inferred',
  'exploratory',
  'retired',
  'proposals',
  'candidates',
  'all',
] as const
export type Show = (typeof shows)[number]

export const showWords: Readonly<Record<Show, string>> = {
  current: 'Current',
  active: 'Active',
  inferred: 'Inferred',
  exploratory: 'Exploratory',
  retired: 'Superseded or settled',
  proposals: 'Proposals',
  candidates: 'Candidates',
  all: 'Everything',
}

export type Filters = {
  readonly text: string
  readonly scope: string | null
  readonly type: BeliefType | null
  readonly show: Show
  readonly isPinned: boolean
  /** Only what was never recalled. */
  readonly isNeverRecalled: boolean
  readonly order: BeliefOrder
  readonly group: Group
}

export const groups = ['none', 'scope', 'type'] as const
export type Group = (typeof groups)[number]

export const orderWords: Readonly<Record<BeliefOrder, string>> = {
  updated: 'Last changed',
  name: 'Name',
  recalled: 'Most recalled',
}

const orders: readonly BeliefOrder[] = ['updated', 'name', 'recalled']

/** Words in an address that mean nothing are as good as none. */
export function filtersOf(query: URLSearchParams): Filters {
  return {
    text: query.get('q') ?? '',
    scope: query.get('scope'),
    type: beliefTypes.find((type) => type === query.get('type')) ?? null,
    show: shows.find((show) => show === query.get('show')) ?? 'current',
    isPinned: query.get('pinned') === 'yes',
    isNeverRecalled: query.get('recalled') === 'never',
    order: orders.find((order) => order === query.get('sort')) ?? 'updated',
    group: groups.find((group) => group === query.get('group')) ?? 'none',
  }
}

export const isFiltered = ({ text, scope, type, show, isPinned, isNeverRecalled }: Filters): boolean =>
  text.trim() !== '' || scope !== null || type !== null || show !== 'current' || isPinned || isNeverRecalled

export function questionFor({
  text,
  scope,
  type,
  show,
  isPinned,
  isNeverRecalled,
  order,
}: Filters): Query<'listBeliefs'> {
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
