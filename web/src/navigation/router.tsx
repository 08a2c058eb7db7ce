import { computed, signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { findMovedPath } from './match.ts'

/** The scroll position of each history entry. */
const depths = new Map<string, number>()

/** Max time to wait until a loading page is tall enough to restore its scroll position. */
const maxWaitMs = 3_000

let lastKey = 0
let isSettling = false

// The browser would try to restore the position before the content is loaded, and fail.
window.history.scrollRestoration = 'manual'

/** The state of a new history entry. */
function startEntry(): { readonly key: string } {
  lastKey += 1
  return { key: `${performance.timeOrigin}-${lastKey}` }
}

const keyNow = (): string => {
  const state: unknown = window.history.state
  return typeof state === 'object' && state !== null && 'key' in state ? String(state.key) : ''
}

window.addEventListener('scroll', () => {
  if (!isSettling) depths.set(keyNow(), window.scrollY)
})

for (const sign of ['wheel', 'touchmove', 'keydown', 'mousedown'] as const)
  window.addEventListener(
    sign,
    () => {
      isSettling = false
    },
    { passive: true },
  )

/** Restores the scroll position once the page is tall enough, unless the person scrolls first. */
function restoreScroll(): void {
  const wanted = depths.get(keyNow()) ?? 0
  const until = performance.now() + maxWaitMs
  isSettling = true
  const step = () => {
    if (!isSettling) return
    window.scrollTo(0, wanted)
    if (Math.abs(window.scrollY - wanted) < 2 || performance.now() > until) isSettling = false
    else requestAnimationFrame(step)
  }
  requestAnimationFrame(step)
}

/** Path and query of the address. Routes ignore the fragment. */
type Place = { readonly path: string; readonly query: string }

function readPlace(): Place {
  const { pathname, search } = window.location
  const target = findMovedPath(pathname)
  if (target !== null) window.history.replaceState(window.history.state, '', target + search)
  return { path: target ?? pathname, query: search }
}

const place = signal<Place>(readPlace())

export const path = computed(() => place.value.path)
export const query = computed(() => new URLSearchParams(place.value.query))

window.addEventListener('popstate', () => {
  place.value = readPlace()
  restoreScroll()
})

/** Goes to another address. `replace` adds no history entry, for example while a search is being typed. */
export function navigate(to: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  if (to === window.location.pathname + window.location.search) return
  const before = window.location.pathname
  if (replace) window.history.replaceState(window.history.state, '', to)
  else window.history.pushState({ ...startEntry(), from: window.location.pathname + window.location.search }, '', to)
  place.value = readPlace()
  if (!replace && window.location.pathname !== before) window.scrollTo(0, 0)
}

/** Goes back to a page. If it is the previous history entry, this restores its scroll position. */
export function goBackTo(to: string): void {
  const state: unknown = window.history.state
  const from = typeof state === 'object' && state !== null && 'from' in state ? state.from : null
  if (from === to) window.history.back()
  else navigate(to)
}

/** The address of a page with the current query and these changes; null removes a parameter. */
export function withQuery(
  changes: Readonly<Record<string, string | readonly string[] | null>>,
  base: string = path.value,
): string {
  const next = new URLSearchParams(query.value)
  for (const [name, value] of Object.entries(changes)) {
    next.delete(name)
    if (value === null || value === '') continue
    for (const one of typeof value === 'string' ? [value] : value) next.append(name, one)
  }
  const text = next.toString()
  return text === '' ? base : `${base}?${text}`
}

/** Changes the query of the page without a new history entry; null removes a parameter. */
export const setQuery = (changes: Parameters<typeof withQuery>[0]): void =>
  navigate(withQuery(changes), { replace: true })

type LinkProps = {
  readonly href: string
  /** The text; use children for other content. */
  readonly text?: string
  readonly children?: ComponentChildren
  readonly class?: string
  readonly title?: string
  readonly 'aria-current'?: 'page' | 'true' | undefined
  readonly 'aria-label'?: string
  /** Replaces the current history entry. */
  readonly replace?: boolean
}

/** A link within the dashboard. The browser handles clicks with modifier keys, such as opening it in another tab. */
export function Link({ href, text, children = text, replace = false, ...rest }: LinkProps) {
  const follow = (event: MouseEvent) => {
    if (event.defaultPrevented || event.button !== 0) return
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    navigate(href, { replace })
  }
  return (
    <a {...rest} href={href} onClick={follow}>
      {children}
    </a>
  )
}
