import { signal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'

/** What one key does. Hidden ones are another way to do the same and are not listed. */
export type KeyAction = { readonly does: string; readonly act: () => void; readonly isHidden?: boolean }
export type Keys = Readonly<Record<string, KeyAction>>

type Layer = { current: Keys }

/** Keys that hold now, the innermost part of the page last. It wins. */
const layers = signal<readonly Layer[]>([])

/** All keys that can be pressed now, for the page that lists them. */
export const knownKeys = (): readonly (readonly [string, string])[] => {
  const all = new Map<string, string>()
  for (const layer of layers.value) {
    for (const [key, { does, isHidden = false }] of Object.entries(layer.current)) if (!isHidden) all.set(key, does)
  }
  // An object lists its digits first, from 0; on a keyboard 0 comes after 9.
  const digits = [...all].filter(([key]) => /^\d$/.test(key)).sort(([one], [other]) => (+one || 10) - (+other || 10))
  return [...digits, ...[...all].filter(([key]) => !/^\d$/.test(key))]
}

/** Listens to keys while the component is there. */
export function useKeys(keys: Keys): void {
  const layer = useRef<Keys>(keys)
  layer.current = keys
  // At once: a key may be pressed as soon as what it acts on can be seen.
  useLayoutEffect(() => {
    layers.value = [...layers.peek(), layer]
    return () => {
      layers.value = layers.peek().filter((one) => one !== layer)
    }
  }, [])
}

document.addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
  if (document.querySelector('dialog:modal') !== null) return
  if (isTyping(event.target) && event.key !== 'Escape') return
  for (const { current } of layers.peek().toReversed()) {
    const action = Object.hasOwn(current, event.key) ? current[event.key] : undefined
    if (action === undefined) continue
    event.preventDefault()
    action.act()
    return
  }
})

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('input:not([type=checkbox]):not([type=radio]), textarea, select'))

/** What had the focus last. */
let last: Element | null = null

document.addEventListener('focusin', ({ target }) => {
  if (target instanceof Element) last = target
})

/**
 * When what had the focus is gone, with its page or because somebody else removed it, the next Tab begins at the page
 * instead of at the top of everything.
 */
export function keepFocus(root: HTMLElement): void {
  let frame = 0
  new MutationObserver(() => {
    cancelAnimationFrame(frame)
    // Browsers take the focus off what cannot be seen only when they draw.
    frame = requestAnimationFrame(look)
  }).observe(root, { childList: true, subtree: true })
}

function look(): void {
  if (last === null || document.activeElement !== document.body) return
  if (last.isConnected && last.checkVisibility()) return
  last = null
  document.getElementById('main')?.focus({ preventScroll: true })
}
