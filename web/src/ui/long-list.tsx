import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { count } from '../format/numbers.ts'
import { Button } from './button.tsx'

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
const mostWholeParts = 4
/** Of a row that has never been laid out. */
const usualRowHeight = 77

type LongListProps<Item> = {
  readonly items: readonly Item[]
  /** The item that must be there with its neighbours, wherever the list is scrolled to; -1 if none. */
  readonly keep: number
  readonly isBusy: boolean
  readonly children: (item: Item) => ComponentChildren
}

/** Rows of which only the parts near the view are in the document. The others leave a gap of their height. */
export function LongList<Item>({ items, keep, isBusy, children }: LongListProps<Item>) {
  const starts = Array.from({ length: Math.ceil(items.length / rowsPerPart) }, (_, part) => part * rowsPerPart)
  return (
    <>
      {starts.map((start) => (
        <Part
          key={start}
          isFirst={start === 0}
          items={items.slice(start, start + rowsPerPart)}
          isKept={starts.length <= mostWholeParts || (keep >= 0 && keep >= start - 1 && keep <= start + rowsPerPart)}
          isBusy={isBusy}
        >
          {children}
        </Part>
      ))}
    </>
  )
}

type PartProps<Item> = Pick<LongListProps<Item>, 'items' | 'isBusy' | 'children'> & {
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
  const gap = height.current > 0 ? height.current : items.length * usualRowHeight
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
