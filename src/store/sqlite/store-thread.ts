import { Worker } from 'node:worker_threads'
import { type ErrorCode, MemoryError } from '../../errors.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import type { DatabaseOptions } from './database.ts'
import type { ThreadedCall } from './sqlite-store.ts'

export type ThreadRequest = {
  readonly id: number
  readonly call: ThreadedCall | 'close'
  readonly values: readonly unknown[]
}
export type ThreadResponse = { readonly id: number } & (
  | { readonly value: unknown }
  | { readonly refusal: { readonly code: ErrorCode; readonly message: string; readonly hint: string | undefined } }
  | { readonly failure: unknown }
)

type Waiting = { readonly resolve: (value: unknown) => void; readonly reject: (error: unknown) => void }

// The thread's program is beside this file in the sources and in the package, where it has been compiled.
const program = new URL(`./store-thread-program${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)

/** A second connection to the same store, in a thread. It keeps the process alive only while a call is under way. */
export class StoreThread {
  readonly #worker: Worker
  readonly #waiting = new Map<number, Waiting>()
  #asked = 0

  constructor(options: DatabaseOptions & { readonly inspect?: boolean }, onEnd: () => void) {
    this.#worker = new Worker(program, { workerData: options })
    this.#worker.unref()
    this.#worker.on('message', (answer: ThreadResponse) => this.#settle(answer))
    this.#worker.on('error', (error) => this.#abandon(error))
    this.#worker.on('exit', () => {
      onEnd()
      this.#abandon(new Error('The thread ended.'))
    })
  }

  ask(call: ThreadRequest['call'], values: readonly unknown[]): Promise<unknown> {
    this.#asked += 1
    const request: ThreadRequest = { id: this.#asked, call, values }
    return new Promise((resolve, reject) => {
      this.#waiting.set(request.id, { resolve, reject })
      this.#worker.ref()
      this.#worker.postMessage(request)
    })
  }

  #settle(answer: ThreadResponse): void {
    const waiting = this.#waiting.get(answer.id)
    this.#waiting.delete(answer.id)
    if (this.#waiting.size === 0) this.#worker.unref()
    if ('value' in answer) waiting?.resolve(answer.value)
    else if ('failure' in answer) waiting?.reject(answer.failure)
    else {
      const { code, message, hint } = answer.refusal
      waiting?.reject(new MemoryError(code, message, omitUndefined({ hint })))
    }
  }

  /** Calls under way may or may not have taken effect, so they are not tried again. */
  #abandon(cause: unknown): void {
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    const failed = new MemoryError('unavailable', 'The thread that writes to the store failed.', {
      hint: 'Check whether the change was made before you make it again.',
      cause,
    })
    for (const { reject } of waiting) reject(failed)
  }
}
