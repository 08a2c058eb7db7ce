import { computed, signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'

/** How far down each step of the history was read, for whoever comes back to it. */
const depths = new Map<string, number>()

/** What is still loading when one comes back gets this long to become as tall as it was. */
const maxWaitMs = 3_000

let lastKey = 0
let isSettling = false

// The browser would restore before the content is there, and then give up.
window.history.scrollRestoration = 'manual'

/** The state of a new step of the history. */
export function startEntry(): { readonly key: string } {
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

/** Goes back to where the page was left, as soon as it is tall enough, unless somebody scrolls first. */
export function standWhereLeft(): void {
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

/** Where the page is: the path and the question after it. The fragment is never part of a route. */
type Place = { readonly path: string; readonly query: string }

const read = (): Place => ({ path: window.location.pathname, query: window.location.search })

const place = signal<Place>(read())

export const path = computed(() => place.value.path)
export const query = computed(() => new URLSearchParams(place.value.query))

window.addEventListener('popstate', () => {
  place.value = read()
  standWhereLeft()
})

/** Goes to another page. `replace` leaves no step to go back to, for what is still being typed. */
export function navigate(to: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  if (to === window.location.pathname + window.location.search) return
  const before = window.location.pathname
  if (replace) window.history.replaceState(window.history.state, '', to)
  else window.history.pushState({ ...startEntry(), from: window.location.pathname + window.location.search }, '', to)
  place.value = read()
  if (!replace && window.location.pathname !== before) window.scrollTo(0, 0)
}

/** Back to a page: by the history where that was the step before, so that the page stands where it was left. */
export function goBackTo(to: string): void {
  const state: unknown = window.history.state
  const from = typeof state === 'object' && state !== null && 'from' in state ? state.from : null
  if (from === to) window.history.back()
  else navigate(to)
}

/** A page with what stands after the question mark now, but for these changes; null takes one away. */
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

type LinkProps = {
  readonly href: string
  readonly children: ComponentChildren
  readonly class?: string
  readonly title?: string
  readonly 'aria-current'?: 'page' | 'true' | undefined
  readonly 'aria-label'?: string
  /** Leaves no step to go back to, for what is only looked at in passing. */
  readonly replace?: boolean
}

/** A link inside the dashboard. Opening it in another tab works as with any link. */
export function Link({ href, children, replace = false, ...rest }: LinkProps) {
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

type Crumb = { readonly name: string; readonly href?: string }

/** The way from the outermost page to this one, which comes last and leads nowhere. */
export function Crumbs({ steps }: { readonly steps: readonly Crumb[] }) {
  return (
    <nav class="crumbs" aria-label="Where you are">
      <ol>
        {steps.map(({ name, href }) => (
          <li key={name} class="break">
            {href === undefined ? <span aria-current="page">{name}</span> : <Link href={href}>{name}</Link>}
          </li>
        ))}
      </ol>
    </nav>
  )
}
