import { effect, type Signal, signal } from '@preact/signals'

/** A text that outlives the page. Where the browser allows no storage, it lasts as long as the page. */
export function stored(area: 'localStorage' | 'sessionStorage', key: string): Signal<string> {
  const text = signal('')
  try {
    text.value = window[area].getItem(key) ?? ''
  } catch {
    // Starts empty.
  }
  effect(() => {
    const next = text.value
    try {
      if (next === '') window[area].removeItem(key)
      else window[area].setItem(key, next)
    } catch {
      // Lasts as long as the page.
    }
  })
  return text
}
