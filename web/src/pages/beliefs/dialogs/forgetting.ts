import { signal } from '@preact/signals'
import type { ApiBelief } from '../../../../../src/http/api/contract.ts'
import { ask } from '../../../api/client.ts'
import { sawEvent } from '../../../api/live.ts'
import { asRefusal } from '../../../api/refusal.ts'
import { counted } from '../../../format/numbers.ts'
import { navigate, path } from '../../../navigation/router.ts'
import { dismiss, say } from '../../../state/toasts.ts'

/** Forgetting erases, so nothing can bring it back. There is this long to change one's mind before it happens. */
const graceMs = 7_000

/** What goes with a belief: its other versions, and the messages that state it. */
type Extent = { readonly wholeChain: boolean; readonly keepTurns: boolean }

type Forgetting = Extent & {
  readonly belief: ApiBelief
  readonly timer: ReturnType<typeof setTimeout>
  readonly toast: number
}

const pending = signal<ReadonlyMap<string, Forgetting>>(new Map())

export const isBeingForgotten = (id: string): boolean => pending.value.has(id)

export function forgetSoon(belief: ApiBelief, extent: Extent): void {
  keepIt(belief.id)
  const toast = say(`“${belief.name}” will be erased in a few seconds.`, {
    action: { label: 'Keep it', act: () => keepIt(belief.id) },
  })
  const timer = setTimeout(() => void forgetNow(belief.id), graceMs)
  pending.value = new Map(pending.peek()).set(belief.id, { belief, ...extent, timer, toast })
}

export function keepIt(id: string): void {
  const known = pending.peek().get(id)
  if (known === undefined) return
  clearTimeout(known.timer)
  dismiss(known.toast)
  const rest = new Map(pending.peek())
  rest.delete(id)
  pending.value = rest
}

export async function forgetNow(id: string): Promise<void> {
  const known = pending.peek().get(id)
  if (known === undefined) return
  keepIt(id)
  try {
    const receipt = await erase(known)
    if (receipt.beliefIds.some((gone) => path.peek() === `/beliefs/${encodeURIComponent(gone)}`))
      navigate(`/beliefs${window.location.search}`, { replace: true })
    sawEvent(receipt.event)
    say(
      receipt.beliefIds.length === 1
        ? receipt.turns === 0
          ? 'Forgotten.'
          : `Forgotten, with ${counted(receipt.turns, 'message')}.`
        : `${receipt.beliefIds.length} beliefs forgotten.`,
    )
  } catch (error) {
    const { message, hint } = asRefusal(error)
    say(`Not forgotten: ${message} ${hint}`, { tone: 'failed' })
  }
}

const erase = ({ belief, wholeChain, keepTurns }: Forgetting, keepalive = false) =>
  ask('forgetBelief', {
    params: { id: belief.id },
    query: { expectedVersion: belief.version, wholeChain, keepTurns },
    keepalive,
  })

// Whoever said "forget" and closed the page meant it.
window.addEventListener('pagehide', () => {
  for (const known of pending.peek().values()) {
    clearTimeout(known.timer)
    erase(known, true).catch(() => undefined)
  }
  pending.value = new Map()
})
