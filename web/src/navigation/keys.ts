import { signal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'

/** The action of a key. A hidden key is an alternative for another key, and is not listed in the help. */
export type KeyAction = { readonly does: string; readonly onPress: () => unknown; readonly isHidden?: boolean }
export type Keys = Readonly<Record<string, KeyAction>>

type Layer = { current: Keys }

/** The active keys. The last layer, of the innermost component, takes precedence. */
const layers = signal<readonly Layer[]>([])

/** All active keys with their descriptions, for the help. */
export const knownKeys = (): readonly (readonly [string, string])[] => {
  const all = new Map<string, string>()
  for (const layer of layers.value) {
    for (const [key, { does, isHidden = false }] of Object.entries(layer.current)) if (!isHidden) all.set(key, does)
  }
  return [...all]
}

/** Handles keys while the component is mounted. */
export function useKeys(keys: Keys): void {
  const layer = useRef<Keys>(keys)
  layer.current = keys
  // A layout effect, so that a key works as soon as its element is visible.
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
    action.onPress()
    return
  }
})

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('input:not([type=checkbox]):not([type=radio]), textarea, select'))
