import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type Refusal, toRefusal } from '../api/client.ts'
import { count as countWords } from '../format/numbers.ts'
import { useRetry } from '../state/resource.ts'
import { Button } from './elements.tsx'

/** How far outside the viewport a part of a list is loaded. */
const margin = '1500px 0px'
const itemsPerPart = 50

/** The nearest ancestor that scrolls; null for the page. */
function scrollerOf(element: Element): Element | null {
  for (let around = element.parentElement; around !== null; around = around.parentElement)
    if (around !== document.documentElement && getComputedStyle(around).overflowY === 'auto') return around
  return null
}

/** Calls `onChange` whenever an element comes near the viewport or leaves it. Returns a function that stops this. */
function observe(element: Element, onChange: (isNear: boolean, height: number) => void): () => void {
  const observer = new IntersectionObserver(
    (entries) => {
      const latest = entries.at(-1)
      if (latest !== undefined) onChange(latest.isIntersecting, latest.boundingClientRect.height)
    },
    { root: scrollerOf(element), rootMargin: margin },
  )
  observer.observe(element)
  return () => observer.disconnect()
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
  // Observed again after each load, because it may still be in view.
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
  /** Increases when loaded pages may be outdated. Only pages near the viewport are loaded again. */
  readonly freshness: number
  /** The assumed height of an item until a page is measured, in pixels. */
  readonly defaultHeight: number
  /** The index of the item that is in view at first. */
  readonly startAt?: number
  readonly load: (offset: number, limit: number, signal: AbortSignal) => Promise<Page>
  readonly children: (page: Page) => ComponentChildren
}

/** A list of any length, of which only the pages near the viewport are loaded and in the document. */
export function VirtualPages<Page>({ total, startAt = 0, ...rest }: VirtualPagesProps<Page>) {
  const first = startAt - (startAt % itemsPerPart)
  return Array.from({ length: Math.ceil(total / itemsPerPart) }, (_, part) => {
    const start = part * itemsPerPart
    const count = Math.min(itemsPerPart, total - start)
    return <PagePart key={start} {...rest} start={start} count={count} isFirst={start === first} />
  })
}

type PagePartProps<Page> = Omit<VirtualPagesProps<Page>, 'total' | 'startAt'> & {
  readonly start: number
  readonly count: number
  readonly isFirst: boolean
}

type LoadedPage<Page> = { readonly page: Page; readonly freshness: number }

function PagePart<Page>({ start, count, isFirst, freshness, defaultHeight, load, children }: PagePartProps<Page>) {
  const element = useRef<HTMLDivElement>(null)
  const [isNear, setNear] = useState(isFirst)
  const [loaded, setLoaded] = useState<LoadedPage<Page> | null>(null)
  const [error, setError] = useState<Refusal | null>(null)
  const [attempt, setAttempt] = useState(0)
  const height = useRef(count * defaultHeight)
  const isShown = isNear && loaded !== null
  const wasShown = useRef(isShown)
  wasShown.current = isShown
  const retry = () => setAttempt((before) => before + 1)
  useRetry(error, retry)

  useLayoutEffect(() => {
    if (element.current === null) return
    if (isFirst && start > 0) element.current.scrollIntoView({ block: 'start' })
    return observe(element.current, (near, measured) => {
      // A hidden list has the height 0; its last height is kept for when it is shown again.
      if (wasShown.current && measured > 0) height.current = measured
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
        if (!controller.signal.aborted) setError(toRefusal(reason))
      },
    )
    return () => controller.abort()
  }, [isNear, freshness, attempt, count])

  return (
    <div
      class="part"
      ref={element}
      aria-busy={isNear && loaded === null}
      style={{ minHeight: isShown ? '' : `${height.current}px` }}
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
