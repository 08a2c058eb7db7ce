import { computed, effect, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { storedSignal } from './stored.ts'

/** The item that a page shows, for the window title; null on pages that show several. */
export const subject = signal<string | null>(null)

/** Sets the window's title while the component is mounted. */
export function useSubject(name: string | null): void {
  useEffect(() => {
    subject.value = name
    return () => {
      subject.value = null
    }
  }, [name])
}

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

/** Empty for the system's preference. start.js applies it before the first paint. */
const chosenTheme = storedSignal('localStorage', 'credence-theme')

/** `system` follows the preference of the operating system. */
export const theme = computed<Theme>(() => themes.find((one) => one === chosenTheme.value) ?? 'system')

effect(() => {
  if (theme.value === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme.value
})

export const nextTheme = (): void => {
  const next = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? 'system'
  chosenTheme.value = next === 'system' ? '' : next
}

const everyMs = 30_000

/** Increases with time, so that texts such as "a minute ago" are updated. */
export const tick = signal(0)

setInterval(() => {
  if (document.visibilityState === 'visible') tick.value += 1
}, everyMs)

document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') tick.value += 1
})

/** Unsaved text with the belief version it is based on. Kept when the person visits another page. */
export type Draft = { readonly text: string; readonly baseVersion: number }

const drafts = signal<ReadonlyMap<string, Draft>>(new Map())

export const draftOf = (key: string): Draft | null => drafts.value.get(key) ?? null

export const hasDrafts = computed(() => drafts.value.size > 0)

export function keepDraft(key: string, draft: Draft): void {
  drafts.value = new Map(drafts.peek()).set(key, draft)
}

export function dropDraft(key: string): void {
  const rest = new Map(drafts.peek())
  rest.delete(key)
  drafts.value = rest
}

window.addEventListener('beforeunload', (event) => {
  if (hasDrafts.peek()) event.preventDefault()
})
