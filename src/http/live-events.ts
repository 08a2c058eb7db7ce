import type { Context } from 'hono'
import { refuse } from './error-answers.ts'

/** Pages reload their data when one of these values changes. */
type LiveState = { readonly journalHead: number; readonly evalsStamp: string }

type LiveOptions = {
  /** Must be cheap, because it is polled while a page listens. */
  readonly state: () => Promise<LiveState>
  readonly everyMs: number
  readonly onProblem: (error: unknown) => void
}

/** Interval of the comment lines by which broken connections are detected. */
const heartbeatMs = 15_000
const maxListeners = 50

type Listener = { readonly send: (text: string) => void; readonly end: () => void }

/**
 * Sends server-sent events when the memory or the eval store changes. The state is polled while a page listens, because
 * other processes may write to the same store.
 */
export class LiveEvents {
  readonly #options: LiveOptions
  readonly #listeners = new Set<Listener>()
  #timer: NodeJS.Timeout | null = null
  #isPolling = false
  #last: LiveState | null = null
  #silentMs = 0
  #isClosed = false

  constructor(options: LiveOptions) {
    this.#options = options
  }

  /** Answers with a stream that stays open until the client or the server closes it. */
  async subscribe(context: Context): Promise<Response> {
    if (this.#isClosed || this.#listeners.size >= maxListeners) {
      const message = 'Too many pages are listening.'
      return refuse(context, 429, { code: 'too_many', message, hint: 'Close some of them.' })
    }
    const state = await this.#options.state()
    this.#last ??= state
    const encoder = new TextEncoder()
    let listener: Listener | null = null
    const leave = (): void => {
      if (listener !== null) this.#listeners.delete(listener)
      if (this.#listeners.size === 0) this.#stop()
    }
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        listener = { send: (text) => controller.enqueue(encoder.encode(text)), end: () => controller.close() }
        this.#listeners.add(listener)
        listener.send(`retry: 2000\n${message('hello', state)}`)
      },
      cancel: leave,
    })
    context.req.raw.signal.addEventListener('abort', leave, { once: true })
    this.#timer ??= setInterval(() => void this.#poll(), this.#options.everyMs)
    return new Response(body, {
      headers: { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' },
    })
  }

  /** Ends all streams, so that the server can close. */
  close(): void {
    this.#isClosed = true
    this.#stop()
    for (const { end } of this.#listeners) end()
    this.#listeners.clear()
  }

  #stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
    this.#last = null
  }

  async #poll(): Promise<void> {
    if (this.#isPolling) return
    this.#isPolling = true
    try {
      const state = await this.#options.state()
      const last = this.#last ?? state
      this.#last = state
      if (last.journalHead !== state.journalHead) this.#send(message('journal', state))
      if (last.evalsStamp !== state.evalsStamp) this.#send(message('evals', state))
      this.#silentMs += this.#options.everyMs
      if (this.#silentMs >= heartbeatMs) this.#send(': still here\n\n')
    } catch (error) {
      this.#options.onProblem(error)
    } finally {
      this.#isPolling = false
    }
  }

  #send(text: string): void {
    this.#silentMs = 0
    for (const listener of this.#listeners) listener.send(text)
  }
}

const message = (event: 'hello' | 'journal' | 'evals', state: LiveState): string =>
  `event: ${event}\ndata: ${JSON.stringify(state)}\n\n`
