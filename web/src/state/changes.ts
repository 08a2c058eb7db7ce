import { ask } from '../api/client.ts'
import { sawEvent } from '../api/live.ts'
import { asRefusal, type Refusal } from '../api/refusal.ts'
import { say } from './toasts.ts'

type Changed = { readonly event: number | null; readonly outcome?: string }

/**
 * Makes a change, says so, and offers the way back. A refusal is returned to whoever can show it in place.
 */
export async function make<Result extends Changed>(
  done: string | ((result: Result) => string),
  change: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly error: null } | { readonly result: null; readonly error: Refusal }> {
  try {
    const result = await change()
    sawEvent(result.event)
    if (result.outcome === 'unchanged') say('It was like that already.')
    else sayWithUndo(typeof done === 'string' ? done : done(result), result.event)
    return { result, error: null }
  } catch (error) {
    return { result: null, error: asRefusal(error) }
  }
}

/** For changes made with one press, where there is no form to show a refusal in. */
export async function makeOrSay<Result extends Changed>(
  done: string | ((result: Result) => string),
  change: () => Promise<Result>,
): Promise<Result | null> {
  const { result, error } = await make(done, change)
  if (error !== null) say(`${error.message} ${error.hint}`, { tone: 'failed' })
  return result
}

export function sayWithUndo(text: string, event: number | null): void {
  say(text, event === null ? {} : { action: { label: 'Undo', act: () => undo(event) } })
}

/** Takes a change back, and offers to do it again after all. */
export async function undo(event: number): Promise<Refusal | null> {
  try {
    const undone = await ask('undo', { params: { number: event } })
    sawEvent(undone.event)
    say('Undone.', { action: { label: 'Redo', act: () => undo(undone.event) } })
    return null
  } catch (error) {
    const refusal = asRefusal(error)
    say(`${refusal.message} ${refusal.hint}`, { tone: 'failed' })
    return refusal
  }
}
