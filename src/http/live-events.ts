/** What a page needs to know to look again. */
export type LiveState = { readonly journalHead: number; readonly evalsStamp: string }

export type LiveOptions = {
  /** Cheap, for it is asked over and over while anybody listens. */
  readonly state: () => Promise<LiveState>
  readonly everyMs?: number
  readonly most?: number
  readonly onProblem: (error: unknown) => void
}

/** So often a line is sent that says nothing, so that a connection that has gone is noticed. */
const heartbeatMs = 15_000

type Listener = { readonly send: (text: string) => void; readonly end: () => void }

/**
 * Tells pages that something has changed, whoever changed it: other processes write to the same store, and nothing but
 * looking shows that. Looks only while somebody listens.
 */
export class LiveEvents {
  readonly #options: LiveOptions
  readonly #listeners = new Set<Listener>()
  #timer: NodeJS.Timeout | null = null
  #isLooking = false
  #last: LiveState | null = null
  #quietMs = 0
  #isClosed = false

  constructor(options: LiveOptions) {
    this.#options = options
  }

  /** Answers with a stream that stays open until the reader or the server goes. */
  async subscribe(request: Request): Promise<Response> {
    if (this.#isClosed || this.#listeners.size >= (this.#options.most ?? 50)) return tooMany()
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
        listener = {
          send: (text) => controller.enqueue(encoder.encode(text)),
          end: () => controller.close(),
        }
        this.#listeners.add(listener)
        listener.send(`retry: 2000\n${message('hello', state)}`)
      },
      cancel: leave,
    })
    request.signal.addEventListener('abort', leave, { once: true })
    this.#start()
    return new Response(body, {
      headers: { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' },
    })
  }

  /** Ends every stream, so that a server can close. */
  close(): void {
    this.#isClosed = true
    this.#stop()
    for (const { end } of this.#listeners) end()
    this.#listeners.clear()
  }

  #start(): void {
    this.#timer ??= setInterval(() => void this.#look(), this.#options.everyMs ?? 500)
  }

  #stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
    this.#last = null
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    try {
      const state = await this.#options.state()
      const last = this.#last
      this.#last = state
      const news = [
        ...(last !== null && last.journalHead !== state.journalHead ? [message('journal', state)] : []),
        ...(last !== null && last.evalsStamp !== state.evalsStamp ? [message('evals', state)] : []),
      ]
      if (news.length > 0) this.#tell(news.join(''))
      else this.#beQuiet()
    } catch (error) {
      this.#options.onProblem(error)
    } finally {
      this.#isLooking = false
    }
  }

  #beQuiet(): void {
    this.#quietMs += this.#options.everyMs ?? 500
    if (this.#quietMs >= heartbeatMs) this.#tell(': still here\n\n')
  }

  #tell(text: string): void {
    this.#quietMs = 0
    for (const listener of this.#listeners) listener.send(text)
  }
}

const message = (event: 'hello' | 'journal' | 'evals', state: LiveState): string =>
  `event: ${event}\ndata: ${JSON.stringify(state)}\n\n`

const tooMany = (): Response =>
  Response.json(
    { error: { code: 'too_many', message: 'Too many pages are listening.', hint: 'Close some of them.' } },
    { status: 429 },
  )
