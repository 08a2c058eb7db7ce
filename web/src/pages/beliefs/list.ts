import { useEffect, useRef, useState } from 'preact/hooks'
import { type BeliefType, beliefTypes } from '../../../../src/beliefs/belief.ts'
import type { BeliefOrder } from '../../../../src/beliefs/belief-store.ts'
import type { Query, RouteAnswer } from '../../../../src/http/api/contract.ts'
import { ask, asRefusal, type Refusal } from '../../api/client.ts'
import { useRetry } from '../../state/resource.ts'
import { mergeRows } from './merge-rows.ts'

/** Which beliefs the list shows. Each is a word in the address, so that a view can be bookmarked. */
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

/** A word of the address if it is one of the known ones. */
const knownWord = <Word extends string>(words: Readonly<Record<Word, string>>, given: string | null): Word | null =>
  // The keys of `words` are all of its type.
  given !== null && Object.hasOwn(words, given) ? (given as Word) : null

export type Filters = {
  readonly text: string
  readonly scope: string | null
  readonly type: BeliefType | null
  readonly show: Show
  readonly isPinned: boolean
  /** Only beliefs that were never recalled. */
  readonly isNeverRecalled: boolean
  readonly order: BeliefOrder
  readonly group: Group
}

/** Unknown words in an address are ignored. */
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

export function questionFor(filters: Filters): Query<'listBeliefs'> {
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

export type BeliefList = {
  /** Null until the first answer. */
  readonly items: readonly Listed[] | null
  readonly total: number
  /** More beliefs match than were counted. */
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

/** The matching beliefs, as far as they were scrolled to. A change elsewhere updates rows without moving them. */
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
        // The rows of another query would look like the answer to this one.
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
      // Extends the current rows, which may have changed since the last render.
      setShown((now) => {
        if (now?.key !== key) return now
        const known = new Set(now.items.map(({ belief }) => belief.id))
        const added = more.items.filter(({ belief }) => !known.has(belief.id))
        // Rows that moved while paging must not be loaded again and again.
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

/** The current list. Of a long list only the changed rows are loaded, if they are known. */
async function fresh(question: Query<'listBeliefs'>, before: Shown | null, signal: AbortSignal) {
  if (before === null) return firstOf(question, pageSize, signal)
  const isByChange = question.query === undefined && question.order === undefined
  if (isByChange && before.items.length > pageSize) {
    const [changed, top] = await Promise.all([
      changedSince(before.head, signal),
      ask('listBeliefs', { query: { ...question, limit: pageSize, offset: 0 }, signal }),
    ])
    const onTop = new Set(top.items.map(({ belief }) => belief.id))
    // Changed beliefs are on top now. One that is not was undone, or no longer matches.
    if (changed?.every((id) => onTop.has(id))) {
      const below = before.items.filter(({ belief }) => !onTop.has(belief.id))
      return { items: mergeRows(before.items, [...top.items, ...below]), total: top.total, isCut: false }
    }
  }
  const all = await firstOf(question, Math.max(pageSize, before.items.length), signal)
  return { ...all, items: mergeRows(before.items, all.items) }
}

/** The beliefs that changed after an event; null if there are too many to list. */
async function changedSince(head: number, signal: AbortSignal): Promise<readonly string[] | null> {
  const { items, nextBefore } = await ask('journal', { query: { limit: pageSize }, signal })
  const later = items.filter(({ event }) => event.number > head)
  if (later.length === items.length && nextBefore !== null) return null
  if (later.some(({ event }) => event.beliefCount > event.beliefIds.length)) return null
  return later.flatMap(({ event }) => event.beliefIds)
}

async function firstOf(question: Query<'listBeliefs'>, wanted: number, signal: AbortSignal) {
  const items: Listed[] = []
  let total = 0
  let isCut = false
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
