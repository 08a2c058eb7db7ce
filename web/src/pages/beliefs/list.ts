import { useEffect, useRef, useState } from 'preact/hooks'
import { type BeliefType, beliefTypes } from '../../../../src/beliefs/belief.ts'
import type { BeliefOrder } from '../../../../src/beliefs/belief-store.ts'
import type { Query, RouteAnswer } from '../../../../src/http/api/contract.ts'
import { ask, asRefusal, type Refusal } from '../../api/client.ts'
import { useRetry } from '../../state/resource.ts'
import { mergeRows } from './merge-rows.ts'

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

export type Listed = RouteAnswer<'listBeliefs'>['items'][number]

export type BeliefList = {
  /** Null until the first answer. */
  readonly items: readonly Listed[] | null
  readonly total: number
  /** More fit than were pluralize. */
  readonly isCut: boolean
  readonly error: Refusal | null
  readonly isLoading: boolean
  readonly reload: () => void
  readonly loadMore: () => void
}

const pageSize = 50
const maxAtOnce = 200

type Shown = {
  readonly key: string
  /** The newest change that the items show. */
  readonly head: number
  readonly items: readonly Listed[]
  readonly total: number
  readonly isCut: boolean
}

/** The beliefs that fit, as far as they have been looked at. A change elsewhere updates rows without moving them. */
export function useBeliefList(question: Query<'listBeliefs'>, head: number): BeliefList {
  const key = JSON.stringify(question)
  const [shown, setShown] = useState<Shown | null>(null)
  const [error, setError] = useState<Refusal | null>(null)
  const [isLoading, setLoading] = useState(true)
  const [attempt, setAttempt] = useState(0)
  const current = useRef<Shown | null>(null)
  current.current = shown
  const isExtending = useRef(false)
  const reload = () => setAttempt((before) => before + 1)
  useRetry(error, reload)

  useEffect(() => {
    const controller = new AbortController()
    const before = current.current?.key === key ? current.current : null
    setLoading(true)
    fresh(question, before, controller.signal).then(
      (answer) => {
        if (controller.signal.aborted) return
        setShown({ key, head, ...answer })
        setError(null)
        setLoading(false)
      },
      (reason: unknown) => {
        if (controller.signal.aborted) return
        // What another question found would look like the answer to this one.
        if (before === null) setShown(null)
        setError(asRefusal(reason))
        setLoading(false)
      },
    )
    return () => controller.abort()
  }, [key, head, attempt])

  const loadMore = async () => {
    if (shown === null || shown.key !== key || isExtending.current || shown.items.length >= shown.total) return
    isExtending.current = true
    try {
      const more = await ask('listBeliefs', { query: { ...question, limit: maxAtOnce, offset: shown.items.length } })
      // Rows may have been updated since the last render, so they are extended as they are now.
      setShown((now) => {
        if (now?.key !== key) return now
        const known = new Set(now.items.map(({ belief }) => belief.id))
        const added = more.items.filter(({ belief }) => !known.has(belief.id))
        // What moved while paging would be asked for again and again if the end did not come nearer.
        const total = added.length === 0 ? known.size : more.total
        return { ...now, total, isCut: more.isCut, items: [...now.items, ...added] }
      })
    } catch (reason) {
      setError(asRefusal(reason))
    } finally {
      isExtending.current = false
    }
  }
  return {
    items: shown?.items ?? null,
    total: shown?.total ?? 0,
    isCut: shown?.isCut ?? false,
    error,
    isLoading,
    reload,
    loadMore: () => void loadMore(),
  }
}

/** The list as it is now. Of a long one that has been loaded only what changed is asked for, where that can be told. */
async function fresh(question: Query<'listBeliefs'>, before: Shown | null, signal: AbortSignal) {
  if (before === null) return firstOf(question, pageSize, signal)
  const isByChange = question.query === undefined && question.order === undefined
  if (isByChange && before.items.length > pageSize) {
    const [changed, top] = await Promise.all([
      changedSince(before.head, signal),
      ask('listBeliefs', { query: { ...question, limit: pageSize, offset: 0 }, signal }),
    ])
    const onTop = new Set(top.items.map(({ belief }) => belief.id))
    // What changed stands on top now. What does not was undone, or fits no longer.
    if (changed?.every((id) => onTop.has(id))) {
      const below = before.items.filter(({ belief }) => !onTop.has(belief.id))
      return { items: mergeRows(before.items, [...top.items, ...below]), total: top.total, isCut: false }
    }
  }
  const all = await firstOf(question, Math.max(pageSize, before.items.length), signal)
  return { ...all, items: mergeRows(before.items, all.items) }
}

/** The beliefs that changed after a change; null if they are too many to name. */
async function changedSince(head: number, signal: AbortSignal): Promise<readonly string[] | null> {
  const { items, nextBefore } = await ask('journal', { query: { limit: pageSize }, signal })
  const later = items.filter(({ event }) => event.number > head)
  if (later.length === items.length && nextBefore !== null) return null
  if (later.some(({ event }) => event.beliefCount > event.beliefIds.length)) return null
  return later.flatMap(({ event }) => event.beliefIds)
}

async function firstOf(question: Query<'listBeliefs'>, wanted: number, signal: AbortSignal) {
  const items: Listed[] = []
  let [total, isCut] = [0, false]
  for (let offset = 0; offset < wanted; offset += maxAtOnce) {
    const limit = Math.min(maxAtOnce, wanted - offset)
    const page = await ask('listBeliefs', { query: { ...question, limit, offset }, signal })
    items.push(...page.items)
    total = page.total
    isCut = page.isCut
    if (page.items.length < limit) break
  }
  return { items, total, isCut }
}
