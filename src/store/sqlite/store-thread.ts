import { Worker } from 'node:worker_threads'
import { type ErrorCode, MemoryError } from '../../errors.ts'
import type { DatabaseOptions } from './database.ts'
import type { ThreadedCall } from './with-thread.ts'

export type Asked = { readonly id: number; readonly call: ThreadedCall | 'close'; readonly values: readonly unknown[] }
export type Answered = { readonly id: number } & (
  | { readonly value: unknown }
  | { readonly refusal: { readonly code: ErrorCode; readonly message: string; readonly hint: string | undefined } }
  | { readonly failure: unknown }
)

type Waiting = { readonly resolve: (value: unknown) => void; readonly reject: (error: unknown) => void }

// Beside this file in the sources and in the package, where it has been compiled.
const program = new URL(`./store-thread-program${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)

/** A second connection to the same store, in a thread of its own. It keeps the process alive only while it is working. */
export class StoreThread {
  readonly #worker: Worker
  readonly #waiting = new Map<number, Waiting>()
  #asked = 0

  constructor(options: DatabaseOptions, onEnd: () => void) {
    this.#worker = new Worker(program, { workerData: options })
    this.#worker.unref()
    this.#worker.on('message', (answer: Answered) => this.#settle(answer))
    this.#worker.on('error', (error) => this.#abandon(error))
    this.#worker.on('exit', () => {
      onEnd()
      this.#abandon(new Error('it ended'))
    })
  }

  ask(call: Asked['call'], values: readonly unknown[]): Promise<unknown> {
    this.#asked += 1
    const asked: Asked = { id: this.#asked, call, values }
    return new Promise((resolve, reject) => {
      this.#waiting.set(asked.id, { resolve, reject })
      this.#worker.ref()
      this.#worker.postMessage(asked)
    })
  }

  #settle(answer: Answered): void {
    const waiting = this.#waiting.get(answer.id)
    this.#waiting.delete(answer.id)
    if (this.#waiting.size === 0) this.#worker.unref()
    if ('value' in answer) waiting?.resolve(answer.value)
    else if ('failure' in answer) waiting?.reject(answer.failure)
    else waiting?.reject(new MemoryError(answer.refusal.code, answer.refusal.message, hintOf(answer.refusal.hint)))
  }

  /** Nobody knows whether what was under way took effect, so it is not tried again. */
  #abandon(cause: unknown): void {
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const { reject } of waiting) reject(threadFailed(cause))
  }
}

const hintOf = (hint: string | undefined): { readonly hint?: string } => (hint === undefined ? {} : { hint })

const threadFailed = (cause: unknown): MemoryError =>
  new MemoryError('unavailable', 'The thread that writes to the store failed.', {
    hint: 'Look whether the change was made before you make it again.',
    cause,
  })
