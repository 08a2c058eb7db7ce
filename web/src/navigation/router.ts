import { computed, signal } from '@preact/signals'
import { standWhereLeft, startEntry } from './scroll.ts'

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
