import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { asRefusal, type Refusal } from '../api/client.ts'
import { count } from '../format/numbers.ts'
import { useRetry } from '../state/resource.ts'
import { Button } from './elements.tsx'

/** Rows are rendered, and more are loaded, this far outside of what is in view. */
const margin = '1200px 0px'

/** What scrolls a list: the nearest element around it that does, or the page (null). */
export function scrollerOf(element: Element): Element | null {
  for (let around = element.parentElement; around !== null; around = around.parentElement)
    if (around !== document.documentElement && getComputedStyle(around).overflowY === 'auto') return around
  return null
}

const rowsPerPart = 50
/** A list of so many parts stays whole, so that the browser's own search finds every row of it. */
const maxWholeParts = 4
/** Of a row that has never been laid out. */
const defaultRowHeight = 77

type VirtualListProps<Item> = {
  readonly items: readonly Item[]
  /** The item that must be there with its neighbours, wherever the list is scrolled to; -1 if none. */
  readonly keep: number
  readonly isBusy: boolean
  readonly children: (item: Item) => ComponentChildren
}

/** Rows of which only the parts near the view are in the document. The others leave a gap of their height. */
export function VirtualList<Item>({ items, keep, isBusy, children }: VirtualListProps<Item>) {
  const starts = Array.from({ length: Math.ceil(items.length / rowsPerPart) }, (_, part) => part * rowsPerPart)
  return (
    <>
      {starts.map((start) => (
        <Part
          key={start}
          isFirst={start === 0}
          items={items.slice(start, start + rowsPerPart)}
          isKept={starts.length <= maxWholeParts || (keep >= 0 && keep >= start - 1 && keep <= start + rowsPerPart)}
          isBusy={isBusy}
        >
          {children}
        </Part>
      ))}
    </>
  )
}

type PartProps<Item> = Pick<VirtualListProps<Item>, 'items' | 'isBusy' | 'children'> & {
  readonly isFirst: boolean
  readonly isKept: boolean
}

function Part<Item>({ items, isFirst, isKept, isBusy, children }: PartProps<Item>) {
  const element = useRef<HTMLUListElement>(null)
  const height = useRef(0)
  const [isNear, setNear] = useState(isFirst)
  useEffect(() => {
    if (element.current === null) return
    const observer = new IntersectionObserver(
      (entries) => {
        const latest = entries.at(-1)
        if (latest === undefined) return
        // A list that is not displayed has no height; the one it had is the one it will have again.
        if (latest.boundingClientRect.height > 0) height.current = latest.boundingClientRect.height
        setNear(latest.isIntersecting)
      },
      { root: scrollerOf(element.current), rootMargin: margin },
    )
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [])
  const isShown = isNear || isKept
  const gap = height.current > 0 ? height.current : items.length * defaultRowHeight
  return (
    <ul
      class="belief-rows"
      ref={element}
      aria-busy={isBusy}
      aria-hidden={isShown ? undefined : 'true'}
      style={{ minHeight: isShown ? '' : `${gap}px` }}
    >
      {isShown ? items.map(children) : null}
    </ul>
  )
}

type MoreRowsProps = { readonly onMore: () => void; readonly shown: number; readonly total: number }

/** The end of what has been loaded: coming near, it brings more. */
export function MoreRows({ onMore, shown, total }: MoreRowsProps) {
  const element = useRef<HTMLDivElement>(null)
  const latest = useRef(onMore)
  latest.current = onMore
  // Looked at anew after more rows have come: it may still be in view.
  useEffect(() => {
    if (element.current === null) return
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) latest.current()
      },
      { root: scrollerOf(element.current), rootMargin: margin },
    )
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [shown])
  return (
    <div class="more-rows" ref={element}>
      <Button tone="quiet" onClick={onMore}>
        {count(shown)} of {count(total)}. Show more
      </Button>
    </div>
  )
}

/** Parts are loaded and rendered this far outside of what is in view. */
const pageMargin = '1500px 0px'
const itemsPerPart = 50

type Load<Page> = (offset: number, limit: number, signal: AbortSignal) => Promise<Page>

type VirtualPagesProps<Page> = {
  readonly total: number
  /** Another number: what has been loaded may be old. Only parts near the view are asked for again. */
  readonly freshness: number
  /** The height of an item that has never been laid out, in pixels. */
  readonly defaultHeight: number
  /** The item that is in view at first. */
  readonly startAt?: number
  readonly load: Load<Page>
  readonly children: (page: Page) => ComponentChildren
}

/**
 * A list of any length of which only the parts near the view are loaded and in the document; the others leave a gap of
 * their height. One can scroll to any place of it at once.
 */
export function VirtualPages<Page>({ total, startAt = 0, ...rest }: VirtualPagesProps<Page>) {
  const watch = useRef<ReturnType<typeof watching> | null>(null)
  const observe: Observe = (element, onNear) => {
    watch.current ??= watching(element)
    return watch.current(element, onNear)
  }
  const starts = Array.from({ length: Math.ceil(total / itemsPerPart) }, (_, part) => part * itemsPerPart)
  const first = startAt - (startAt % itemsPerPart)
  return (
    <>
      {starts.map((start) => (
        <VirtualPage
          key={start}
          {...rest}
          start={start}
          count={Math.min(itemsPerPart, total - start)}
          isFirst={start === first}
          observe={observe}
        />
      ))}
    </>
  )
}

type Observe = (element: Element, onNear: (isNear: boolean, height: number) => void) => () => void

/** One observer for all parts: a list may have thousands. */
function watching(first: Element): Observe {
  const heard = new Map<Element, (isNear: boolean, height: number) => void>()
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting, boundingClientRect } of entries)
        heard.get(target)?.(isIntersecting, boundingClientRect.height)
    },
    { root: scrollerOf(first), rootMargin: pageMargin },
  )
  return (element, onNear) => {
    heard.set(element, onNear)
    observer.observe(element)
    return () => {
      heard.delete(element)
      observer.unobserve(element)
    }
  }
}

type PageProps<Page> = Omit<VirtualPagesProps<Page>, 'total' | 'startAt'> & {
  readonly start: number
  readonly count: number
  readonly isFirst: boolean
  readonly observe: Observe
}

type Loaded<Page> = { readonly page: Page; readonly freshness: number }

function VirtualPage<Page>({
  start,
  count,
  isFirst,
  freshness,
  defaultHeight,
  load,
  observe,
  children,
}: PageProps<Page>) {
  const element = useRef<HTMLDivElement>(null)
  const height = useRef(0)
  const [isNear, setNear] = useState(isFirst)
  const [loaded, setLoaded] = useState<Loaded<Page> | null>(null)
  const [error, setError] = useState<Refusal | null>(null)
  const [attempt, setAttempt] = useState(0)
  const again = () => setAttempt((before) => before + 1)
  useRetry(error, again)
  const isShown = isNear && loaded !== null
  const hadRows = useRef(isShown)
  hadRows.current = isShown

  useLayoutEffect(() => {
    if (element.current === null) return
    if (isFirst && start > 0) element.current.scrollIntoView({ block: 'start' })
    return observe(element.current, (near, measured) => {
      // A list that is not displayed has no height; the one it had is the one it will have again.
      if (hadRows.current && measured > 0) height.current = measured
      setNear(near)
    })
  }, [])

  useEffect(() => {
    if (!isNear || (loaded?.freshness === freshness && attempt === 0)) return
    const controller = new AbortController()
    load(start, count, controller.signal).then(
      (page) => {
        if (controller.signal.aborted) return
        setLoaded({ page, freshness })
        setError(null)
        setAttempt(0)
      },
      (reason: unknown) => {
        if (!controller.signal.aborted) setError(asRefusal(reason))
      },
    )
    return () => controller.abort()
  }, [isNear, freshness, attempt, count])

  const gap = height.current > 0 ? height.current : count * defaultHeight
  return (
    <div
      class="part"
      ref={element}
      aria-busy={isNear && loaded === null}
      style={{ minHeight: isShown ? '' : `${gap}px` }}
    >
      {isShown ? children(loaded.page) : null}
      {error === null || isShown ? null : (
        <p class="stale" role="alert">
          {error.message} <Button onClick={again}>Try again</Button>
        </p>
      )}
    </div>
  )
}
