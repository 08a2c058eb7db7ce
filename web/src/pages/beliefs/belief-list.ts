import { useEffect, useRef, useState } from 'preact/hooks'
import type { Answer, Query } from '../../../../src/http/api/contract.ts'
import { ask } from '../../api/client.ts'
import { asRefusal, type Refusal } from '../../api/refusal.ts'
import { useRetry } from '../../state/resource.ts'
import { inPlace } from './in-place.ts'

export type Listed = Answer<'listBeliefs'>['items'][number]

export type BeliefList = {
  /** Null until the first answer. */
  readonly items: readonly Listed[] | null
  readonly total: number
  readonly error: Refusal | null
  readonly isLoading: boolean
  readonly reload: () => void
  readonly loadMore: () => void
}

const pageSize = 50
const mostAtOnce = 200

type Shown = { readonly key: string; readonly items: readonly Listed[]; readonly total: number }

/** The beliefs that fit, as far as they have been looked at. A change elsewhere updates rows without moving them. */
export function useBeliefList(question: Query<'listBeliefs'>, freshness: number): BeliefList {
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
    firstOf(question, Math.max(pageSize, before?.items.length ?? 0), controller.signal).then(
      ({ items, total }) => {
        if (controller.signal.aborted) return
        setShown({ key, total, items: before === null ? items : inPlace(before.items, items) })
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
  }, [key, freshness, attempt])

  const loadMore = async () => {
    if (shown === null || shown.key !== key || isExtending.current || shown.items.length >= shown.total) return
    isExtending.current = true
    try {
      const more = await ask('listBeliefs', { query: { ...question, limit: pageSize, offset: shown.items.length } })
      if (current.current?.key !== key) return
      const known = new Set(current.current.items.map(({ belief }) => belief.id))
      const added = more.items.filter(({ belief }) => !known.has(belief.id))
      // What moved while paging would be asked for again and again if the end did not come nearer.
      const total = added.length === 0 ? known.size : more.total
      setShown({ key, total, items: [...current.current.items, ...added] })
    } catch (reason) {
      setError(asRefusal(reason))
    } finally {
      isExtending.current = false
    }
  }
  return {
    items: shown?.items ?? null,
    total: shown?.total ?? 0,
    error,
    isLoading,
    reload,
    loadMore: () => void loadMore(),
  }
}

async function firstOf(question: Query<'listBeliefs'>, wanted: number, signal: AbortSignal) {
  const items: Listed[] = []
  let total = 0
  for (let offset = 0; offset < wanted; offset += mostAtOnce) {
    const limit = Math.min(mostAtOnce, wanted - offset)
    const page = await ask('listBeliefs', { query: { ...question, limit, offset }, signal })
    items.push(...page.items)
    total = page.total
    if (page.items.length < limit) break
  }
  return { items, total }
}
