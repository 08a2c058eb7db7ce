import { effect, signal } from '@preact/signals'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const key = 'credence-theme'

/** `system` follows the machine's preference. */
export const theme = signal<Theme>(stored())

effect(() => {
  const chosen = theme.value
  if (chosen === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = chosen
  try {
    if (chosen === 'system') localStorage.removeItem(key)
    else localStorage.setItem(key, chosen)
  } catch {
    // Without storage the choice lasts as long as the page.
  }
})

export const nextTheme = (): void => {
  theme.value = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? 'system'
}

function stored(): Theme {
  try {
    const kept = localStorage.getItem(key)
    return kept === 'light' || kept === 'dark' ? kept : 'system'
  } catch {
    return 'system'
  }
}
