import { effect, signal } from '@preact/signals'
import type { Answer } from '../../../src/http/api/contract.ts'
import { isSignedIn } from './client.ts'

/** The number of the newest change anybody made. Pages that show beliefs ask again when it grows. */
export const journalHead = signal(0)

/** Grows when a run, a pack or a baseline changes. */
export const evalsChange = signal(0)

/** Whether changes of others arrive by themselves at the moment. */
export const isLive = signal(false)

/** What this page has changed itself it need not be told about. */
export const sawEvent = (event: number | null): void => {
  if (event !== null && event > journalHead.peek()) journalHead.value = event
}

let lastStamp: string | null = null

function hear(data: string): void {
  const news: Answer<'events'> = JSON.parse(data)
  journalHead.value = Math.max(journalHead.peek(), news.journalHead)
  if (lastStamp !== null && lastStamp !== news.evalsStamp) evalsChange.value += 1
  lastStamp = news.evalsStamp
}

effect(() => {
  if (isSignedIn.value !== true) return
  const source = new EventSource('/api/v1/events')
  const listen = (event: MessageEvent<string>) => {
    isLive.value = true
    hear(event.data)
  }
  for (const name of ['hello', 'journal', 'evals'] as const) source.addEventListener(name, listen)
  source.addEventListener('error', () => {
    isLive.value = false
  })
  return () => {
    source.close()
    isLive.value = false
  }
})
