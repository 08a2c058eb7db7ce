import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { acknowledgeEvent, ask, type Refusal, toRefusal } from '../api/client.ts'

export type Toast = {
  readonly id: number
  readonly tone: 'done' | 'failed'
  readonly text: string
  readonly action: { readonly label: string; readonly onClick: () => unknown } | null
}

export const toasts = signal<readonly Toast[]>([])

const lifetimeMs = 9_000
/** Max toasts at once. More would cover the page. */
const maxToasts = 3
let lastId = 0
const timers = new Map<number, ReturnType<typeof setTimeout>>()

export function showToast(
  text: string,
  { action = null, tone = 'done' }: Partial<Omit<Toast, 'id' | 'text'>> = {},
): number {
  lastId += 1
  toasts.value = [...toasts.peek(), { id: lastId, text, tone, action }].slice(-maxToasts)
  startFading(lastId)
  return lastId
}

export function dismissToast(id: number): void {
  holdToast(id)
  toasts.value = toasts.peek().filter((toast) => toast.id !== id)
}

/** Keeps a toast while the pointer or the focus is on it. */
export function holdToast(id: number): void {
  clearTimeout(timers.get(id))
  timers.delete(id)
}

export function startFading(id: number): void {
  holdToast(id)
  timers.set(
    id,
    setTimeout(() => dismissToast(id), lifetimeMs),
  )
}

type Changed = { readonly event: number | null; readonly outcome?: string }

/** Makes a change and confirms it with an undo button. Returns a refusal, so that the form can show it. */
export async function applyChange<Result extends Changed>(
  done: string | ((result: Result) => string),
  change: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly error: null } | { readonly result: null; readonly error: Refusal }> {
  try {
    const result = await change()
    acknowledgeEvent(result.event)
    if (result.outcome === 'unchanged') showToast('No change.')
    else showUndoToast(typeof done === 'string' ? done : done(result), result.event)
    return { result, error: null }
  } catch (error) {
    return { result: null, error: toRefusal(error) }
  }
}

/** Like `applyChange`, but shows a refusal in a toast, for changes without a form. */
export async function applyChangeOrToast<Result extends Changed>(
  done: string | ((result: Result) => string),
  change: () => Promise<Result>,
): Promise<Result | null> {
  const { result, error } = await applyChange(done, change)
  if (error !== null) toastRefusal(error)
  return result
}

export function showUndoToast(text: string, event: number | null): void {
  showToast(text, event === null ? {} : { action: { label: 'Undo', onClick: () => undo(event) } })
}

export function toastRefusal(error: unknown, prefix = ''): void {
  const { message, hint } = toRefusal(error)
  showToast(`${prefix}${message} ${hint}`, { tone: 'failed' })
}

/** Undoes a change and offers to redo it. */
export async function undo(event: number): Promise<void> {
  try {
    const undone = await ask('undo', { params: { number: event } })
    acknowledgeEvent(undone.event)
    showToast('Undone.', { action: { label: 'Redo', onClick: () => undo(undone.event) } })
  } catch (error) {
    toastRefusal(error)
  }
}

/** Runs an action and stores its refusal, so that it can be shown next to the button. */
export function useAction() {
  const [error, setError] = useState<Refusal | null>(null)
  const run = (action: () => Promise<unknown>): Promise<void> =>
    action().then(
      () => setError(null),
      (reason: unknown) => setError(toRefusal(reason)),
    )
  return { error, run }
}
