import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { asRefusal, type Refusal } from '../api/client.ts'
import { count as countWords } from '../format/numbers.ts'
import { useRetry } from '../state/resource.ts'
import { Button } from './elements.tsx'

/** Parts of a list are loaded and rendered this far outside of the viewport. */
const margin = '1500px 0px'
const itemsPerPart = 50
/** A list of at most this many parts is always whole, so that the browser's own search finds every row. */
const maxWholeParts = 4

/** The nearest ancestor that scrolls; null for the page. */
function scrollerOf(element: Element): Element | null {
  for (let around = element.parentElement; around !== null; around = around.parentElement)
    if (around !== document.documentElement && getComputedStyle(around).overflowY === 'auto') return around
  return null
}

type OnNear = (isNear: boolean, height: number) => void

/** One observer per scrolling element: a list may have thousands of parts. */
const observers = new Map<
  Element | null,
  { readonly observer: IntersectionObserver; readonly parts: Map<Element, OnNear> }
>()

function observe(element: Element, onNear: OnNear): () => void {
  const root = scrollerOf(element)
  const known = observers.get(root) ?? makeObserver(root)
  observers.set(root, known)
  known.parts.set(element, onNear)
  known.observer.observe(element)
  return () => {
    known.parts.delete(element)
    known.observer.unobserve(element)
    if (known.parts.size === 0) observers.delete(root)
  }
}

function makeObserver(root: Element | null) {
  const parts = new Map<Element, OnNear>()
  const onChange = (entries: readonly IntersectionObserverEntry[]) => {
    for (const { target, isIntersecting, boundingClientRect } of entries)
      parts.get(target)?.(isIntersecting, boundingClientRect.height)
  }
  return { parts, observer: new IntersectionObserver(onChange, { root, rootMargin: margin }) }
}

/** Whether a part is near the viewport, and the height of the gap that it leaves while it is not rendered. */
function useNear(element: RefObject<HTMLElement | null>, { isFirst, hasRows }: { isFirst: boolean; hasRows: boolean }) {
  const height = useRef(0)
  const rendered = useRef(hasRows)
  rendered.current = hasRows
  const [isNear, setNear] = useState(isFirst)
  useLayoutEffect(() => {
    if (element.current === null) return
    return observe(element.current, (near, measured) => {
      // A hidden list has no height; its last height is the one it will have again.
      if (rendered.current && measured > 0) height.current = measured
      setNear(near)
    })
  }, [])
  return { isNear, height: height.current }
}

const startsOf = (total: number): readonly number[] =>
  Array.from({ length: Math.ceil(total / itemsPerPart) }, (_, part) => part * itemsPerPart)

type VirtualListProps<Item> = {
  readonly items: readonly Item[]
  /** The index of an item that is always rendered, with its neighbours; -1 for none. */
  readonly keep: number
  readonly isBusy: boolean
  readonly children: (item: Item) => ComponentChildren
}

/** Loaded rows of which only those near the viewport are in the document. The others leave a gap of their height. */
export function VirtualList<Item>({ items, keep, isBusy, children }: VirtualListProps<Item>) {
  const starts = startsOf(items.length)
  return (
    <>
      {starts.map((start) => (
        <ListPart
          key={start}
          isFirst={start === 0}
          items={items.slice(start, start + itemsPerPart)}
          isKept={starts.length <= maxWholeParts || (keep >= 0 && keep >= start - 1 && keep <= start + itemsPerPart)}
          isBusy={isBusy}
        >
          {children}
        </ListPart>
      ))}
    </>
  )
}

/** The height of a row before any was measured. */
const defaultRowHeight = 77

type ListPartProps<Item> = Omit<VirtualListProps<Item>, 'keep'> & {
  readonly isFirst: boolean
  readonly isKept: boolean
}

function ListPart<Item>({ items, isFirst, isKept, isBusy, children }: ListPartProps<Item>) {
  const element = useRef<HTMLUListElement>(null)
  const { isNear, height } = useNear(element, { isFirst, hasRows: true })
  const isShown = isNear || isKept
  const gap = height > 0 ? height : items.length * defaultRowHeight
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

export const MoreButton = ({ onMore, shown, total }: MoreRowsProps) => (
  <div class="more-rows">
    <Button tone="quiet" onClick={onMore} label={`${countWords(shown)} of ${countWords(total)}. Show more`} />
  </div>
)

/** The end of the loaded rows: loads more when it comes near the viewport. */
export function MoreRows(props: MoreRowsProps) {
  const element = useRef<HTMLDivElement>(null)
  const latest = useRef(props.onMore)
  latest.current = props.onMore
  // Observed again after each load: it may still be in view.
  useEffect(() => {
    if (element.current === null) return
    return observe(element.current, (isNear) => isNear && latest.current())
  }, [props.shown])
  return (
    <div ref={element}>
      <MoreButton {...props} />
    </div>
  )
}

type VirtualPagesProps<Page> = {
  readonly total: number
  /** Grows when loaded pages may be outdated. Only those near the viewport are loaded again. */
  readonly freshness: number
  /** The height of an item before any was measured, in pixels. */
  readonly defaultHeight: number
  /** The index of the item that is in view at first. */
  readonly startAt?: number
  readonly load: (offset: number, limit: number, signal: AbortSignal) => Promise<Page>
  readonly children: (page: Page) => ComponentChildren
}

/** A list of any length, of which only the pages near the viewport are loaded and in the document. */
export function VirtualPages<Page>({ total, startAt = 0, ...rest }: VirtualPagesProps<Page>) {
  const first = startAt - (startAt % itemsPerPart)
  return (
    <>
      {startsOf(total).map((start) => (
        <PagePart
          key={start}
          {...rest}
          start={start}
          count={Math.min(itemsPerPart, total - start)}
          isFirst={start === first}
        />
      ))}
    </>
  )
}

type PagePartProps<Page> = Omit<VirtualPagesProps<Page>, 'total' | 'startAt'> & {
  readonly start: number
  readonly count: number
  readonly isFirst: boolean
}

type LoadedPage<Page> = { readonly page: Page; readonly freshness: number }

function PagePart<Page>({ start, count, isFirst, freshness, defaultHeight, load, children }: PagePartProps<Page>) {
  const element = useRef<HTMLDivElement>(null)
  const [loaded, setLoaded] = useState<LoadedPage<Page> | null>(null)
  const [error, setError] = useState<Refusal | null>(null)
  const [attempt, setAttempt] = useState(0)
  const { isNear, height } = useNear(element, { isFirst, hasRows: loaded !== null })
  const retry = () => setAttempt((before) => before + 1)
  useRetry(error, retry)
  const isShown = isNear && loaded !== null

  useLayoutEffect(() => {
    if (isFirst && start > 0) element.current?.scrollIntoView({ block: 'start' })
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

  const gap = height > 0 ? height : count * defaultHeight
  return (
    <div
      class="part"
      ref={element}
      aria-busy={isNear && loaded === null}
      style={{ minHeight: isShown ? '' : `${gap}px` }}
    >
      {isShown ? children(loaded.page) : null}
      {error === null || isShown ? null : (
        <p class="note" role="alert">
          {error.message} <Button onClick={retry}>Try again</Button>
        </p>
      )}
    </div>
  )
}
