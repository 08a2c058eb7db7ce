import { signal } from '@preact/signals'

export type Toast = {
  readonly id: number
  readonly tone: 'done' | 'failed'
  readonly text: string
  readonly action: { readonly label: string; readonly act: () => unknown } | null
}

export const toasts = signal<readonly Toast[]>([])

const lifetimeMs = 9_000
/** More would cover what the person is working on. */
const mostToasts = 3
let lastId = 0
const timers = new Map<number, ReturnType<typeof setTimeout>>()

export function say(text: string, { action = null, tone = 'done' }: Partial<Omit<Toast, 'id' | 'text'>> = {}): number {
  lastId += 1
  toasts.value = [...toasts.peek(), { id: lastId, text, tone, action }].slice(-mostToasts)
  letFade(lastId)
  return lastId
}

export function dismiss(id: number): void {
  hold(id)
  toasts.value = toasts.peek().filter((toast) => toast.id !== id)
}

/** Keeps a toast while somebody is reading it or about to press its button. */
export function hold(id: number): void {
  clearTimeout(timers.get(id))
  timers.delete(id)
}

export function letFade(id: number): void {
  hold(id)
  timers.set(
    id,
    setTimeout(() => dismiss(id), lifetimeMs),
  )
}
