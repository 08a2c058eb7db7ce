import { parentPort, Worker } from 'node:worker_threads'
import { DamagedStore, expectedError, MemoryError } from './errors.ts'
import { omitUndefined } from './omit-undefined.ts'

type Request<Call> = { readonly id: number; readonly call: Call }
type Warning = { readonly warning: string }
type Response = { readonly id: number } & (
  | { readonly value: unknown }
  | { readonly refusal: Pick<MemoryError, 'code' | 'message' | 'hint'> & { readonly isDamage: boolean } }
  | { readonly failure: unknown }
)
type Waiting = { readonly resolve: (value: unknown) => void; readonly reject: (error: unknown) => void }

type ThreadOptions = {
  readonly workerData: unknown
  /** The error of calls under way when the thread ends. They may or may not have taken effect, so they are not repeated. */
  readonly lost: (cause: unknown) => MemoryError
  readonly onEnd: () => void
}

/** A thread that carries out calls, see `answerCalls`. It keeps the process alive only while a call is under way. */
export class ThreadCalls<Call> {
  readonly #worker: Worker
  readonly #waiting = new Map<number, Waiting>()
  #asked = 0

  constructor(program: URL, { workerData, lost, onEnd }: ThreadOptions) {
    const end = (cause: unknown): void => {
      onEnd()
      const waiting = [...this.#waiting.values()]
      this.#waiting.clear()
      for (const { reject } of waiting) reject(lost(cause))
    }
    // The thread may have files of a store open, and to close one of them drops the locks of the whole process.
    this.#worker = new Worker(program, { workerData, trackUnmanagedFds: false })
    this.#worker.unref()
    this.#worker.on('message', (message: Response | Warning) => {
      if ('warning' in message) process.emitWarning(message.warning)
      else this.#settle(message)
    })
    this.#worker.on('error', end)
    this.#worker.on('exit', () => end(new Error('The thread ended.')))
  }

  ask(call: Call): Promise<unknown> {
    this.#asked += 1
    const request: Request<Call> = { id: this.#asked, call }
    return new Promise((resolve, reject) => {
      this.#waiting.set(request.id, { resolve, reject })
      this.#worker.ref()
      this.#worker.postMessage(request)
    })
  }

  /** Ends the thread after a last call. */
  async close(last: Call): Promise<void> {
    await this.ask(last)
    await this.#worker.terminate()
  }

  #settle(response: Response): void {
    const waiting = this.#waiting.get(response.id)
    this.#waiting.delete(response.id)
    if (this.#waiting.size === 0) this.#worker.unref()
    if ('value' in response) waiting?.resolve(response.value)
    else if ('failure' in response) waiting?.reject(response.failure)
    else {
      const { code, message, hint, isDamage } = response.refusal
      const details = omitUndefined({ hint })
      waiting?.reject(isDamage ? new DamagedStore(message, details) : new MemoryError(code, message, details))
    }
  }
}

/** The other end, for the program of a thread. Errors and warnings are sent back, too. */
export function answerCalls<Call>(carryOut: (call: Call) => Promise<unknown>): void {
  const port = parentPort
  if (port === null) throw new Error('This file is run as a thread.')
  process.removeAllListeners('warning')
  process.on('warning', ({ message }) => port.postMessage({ warning: message } satisfies Warning))
  const answerTo = async ({ id, call }: Request<Call>): Promise<Response> => {
    try {
      return { id, value: await carryOut(call) }
    } catch (error) {
      const expected = expectedError(error)
      if (expected === null) return { id, failure: error }
      const { code, message, hint } = expected
      return { id, refusal: { code, message, hint, isDamage: expected instanceof DamagedStore } }
    }
  }
  port.on('message', async (request: Request<Call>) => port.postMessage(await answerTo(request)))
}
