import { effect, signal } from '@preact/signals'
import type { RouteAnswer } from '../../../src/http/api/contract.ts'
import { ask, isSignedIn } from './client.ts'

/** The number of the newest change anybody made. Pages that show beliefs ask again when it grows. */
export const journalHead = signal(0)

/** Grows when a run, a pack or a baseline changes. */
export const evalsChange = signal(0)

/** Whether changes of others arrive by themselves at the moment; null until the first word. */
export const isLive = signal<boolean | null>(null)

/** Grows each time the server answers again after it did not. What failed meanwhile is asked for again. */
export const comebacks = signal(0)

/** What this page has changed itself it need not be told about. */
export const sawEvent = (event: number | null): void => {
  if (event !== null && event > journalHead.peek()) journalHead.value = event
}

const reopenAfterMs = 2_000

let lastStamp: string | null = null

function hear(data: string): void {
  const news: RouteAnswer<'events'> = JSON.parse(data)
  sawEvent(news.journalHead)
  if (lastStamp !== null && lastStamp !== news.evalsStamp) evalsChange.value += 1
  lastStamp = news.evalsStamp
}

/**
 * Listens to changes. The browser connects anew by itself, but for a stream that was refused: that is opened again. Tabs
 * that nobody sees do not listen: browsers allow few connections to one server, and each of them would hold one.
 */
function listen(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let source: EventSource | null = null
  const open = () => {
    if (document.hidden) return
    source = new EventSource('/api/v1/events')
    for (const name of ['hello', 'journal', 'evals'] as const) source.addEventListener(name, heard)
    source.addEventListener('error', lost)
  }
  const heard = (event: MessageEvent<string>) => {
    if (isLive.peek() === false) comebacks.value += 1
    isLive.value = true
    hear(event.data)
  }
  const lost = () => {
    isLive.value = false
    if (source?.readyState === EventSource.CLOSED) timer = setTimeout(again, reopenAfterMs)
  }
  // Whoever is no longer signed in learns it from this; then nothing is opened any more.
  const again = () => {
    ask('health').then(open, () => {
      if (isSignedIn.peek() === true) timer = setTimeout(again, reopenAfterMs)
    })
  }
  const close = () => {
    clearTimeout(timer)
    source?.close()
    isLive.value = null
  }
  const look = () => {
    close()
    open()
  }
  document.addEventListener('visibilitychange', look)
  open()
  return () => {
    document.removeEventListener('visibilitychange', look)
    close()
  }
}

effect(() => (isSignedIn.value === true ? listen() : undefined))
