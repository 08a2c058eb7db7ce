import { signal } from '@preact/signals'
import { acknowledgeEvent, ask, asRefusal, type Refusal } from '../api/client.ts'

export type Toast = {
  readonly id: number
  readonly tone: 'done' | 'failed'
  readonly text: string
  readonly action: { readonly label: string; readonly act: () => unknown } | null
}

export const toasts = signal<readonly Toast[]>([])

const lifetimeMs = 9_000
/** More would cover what the person is working on. */
const maxToasts = 3
let lastId = 0
const timers = new Map<number, ReturnType<typeof setTimeout>>()

export function showToast(
  text: string,
  { action = null, tone = 'done' }: Partial<Omit<Toast, 'id' | 'text'>> = {},
): number {
  lastId += 1
  toasts.value = [...toasts.peek(), { id: lastId, text, tone, action }].slice(-maxToasts)
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

type Changed = { readonly event: number | null; readonly outcome?: string }

/**
 * Makes a change, says so, and offers the way back. A refusal is returned to whoever can show it in place.
 */
export async function applyChange<Result extends Changed>(
  done: string | ((result: Result) => string),
  change: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly error: null } | { readonly result: null; readonly error: Refusal }> {
  try {
    const result = await change()
    acknowledgeEvent(result.event)
    if (result.outcome === 'unchanged') showToast('It was like that already.')
    else showUndoToast(typeof done === 'string' ? done : done(result), result.event)
    return { result, error: null }
  } catch (error) {
    return { result: null, error: asRefusal(error) }
  }
}

/** For changes made with one press, where there is no form to show a refusal in. */
export async function applyChangeOrToast<Result extends Changed>(
  done: string | ((result: Result) => string),
  change: () => Promise<Result>,
): Promise<Result | null> {
  const { result, error } = await applyChange(done, change)
  if (error !== null) showToast(`${error.message} ${error.hint}`, { tone: 'failed' })
  return result
}

export function showUndoToast(text: string, event: number | null): void {
  showToast(text, event === null ? {} : { action: { label: 'Undo', act: () => undo(event) } })
}

/** Takes a change back, and offers to do it again after all. */
export async function undo(event: number): Promise<Refusal | null> {
  try {
    const undone = await ask('undo', { params: { number: event } })
    acknowledgeEvent(undone.event)
    showToast('Undone.', { action: { label: 'Redo', act: () => undo(undone.event) } })
    return null
  } catch (error) {
    const refusal = asRefusal(error)
    showToast(`${refusal.message} ${refusal.hint}`, { tone: 'failed' })
    return refusal
  }
}
