import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { asRefusal, type Refusal } from '../api/refusal.ts'
import { useRetry } from '../state/resource.ts'
import { Button } from './button.tsx'
import { scrollerOf } from './long-list.tsx'

/** Parts are loaded and rendered this far outside of what is in view. */
const margin = '1500px 0px'
const itemsPerPart = 50

type Load<Page> = (offset: number, limit: number, signal: AbortSignal) => Promise<Page>

type WindowedProps<Page> = {
  readonly total: number
  /** Another number: what has been loaded may be old. Only parts near the view are asked for again. */
  readonly freshness: number
  /** The height of an item that has never been laid out, in pixels. */
  readonly usualHeight: number
  /** The item that is in view at first. */
  readonly startAt?: number
  readonly load: Load<Page>
  readonly children: (page: Page) => ComponentChildren
}

/**
 * A list of any length of which only the parts near the view are loaded and in the document; the others leave a gap of
 * their height. One can scroll to any place of it at once.
 */
export function Windowed<Page>({ total, startAt = 0, ...rest }: WindowedProps<Page>) {
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
        <Part
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
    { root: scrollerOf(first), rootMargin: margin },
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

type PartProps<Page> = Omit<WindowedProps<Page>, 'total' | 'startAt'> & {
  readonly start: number
  readonly count: number
  readonly isFirst: boolean
  readonly observe: Observe
}

type Loaded<Page> = { readonly page: Page; readonly freshness: number }

function Part<Page>({ start, count, isFirst, freshness, usualHeight, load, observe, children }: PartProps<Page>) {
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

  const gap = height.current > 0 ? height.current : count * usualHeight
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
