import { effect, type Signal, signal } from '@preact/signals'

/** A text in the browser's storage. If the browser forbids storage, it is kept until the page is closed. */
export function storedSignal(area: 'localStorage' | 'sessionStorage', key: string): Signal<string> {
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
