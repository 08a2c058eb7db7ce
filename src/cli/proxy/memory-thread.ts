import { Worker } from 'node:worker_threads'
import { type ErrorCode, MemoryError } from '../../errors.ts'
import type { HeardTurn } from '../../memory/conversation/hear.ts'
import type { ShownContext } from '../../memory/recall/render.ts'
import type { ProxyMemory, View } from '../../proxy/add-memory.ts'

/** Which memory the thread opens, and how. */
export type ThreadOptions = {
  readonly dir: string
  /** The address of a PostgreSQL store. */
  readonly store?: string
  readonly everyTeam: boolean
  readonly vectors: boolean
  readonly agentShare: number
  readonly evalStoreDir: string | null
  readonly mirrorAuthority: 'document' | 'person'
  readonly maxTurnCharacters: number
  /** Where recalls are recorded; null when they are not. */
  readonly shadowRoot: string | null
}

export type ThreadCall =
  | { readonly kind: 'recall'; readonly view: View; readonly message: string }
  | { readonly kind: 'keep'; readonly view: View; readonly turns: readonly HeardTurn[] }
  | { readonly kind: 'close' }
export type ThreadRequest = { readonly id: number; readonly call: ThreadCall }
export type ThreadResponse = { readonly id: number } & (
  | { readonly value: unknown }
  | { readonly code: ErrorCode | null; readonly message: string }
)

// The thread's program is beside this file in the sources and in the package, where it has been compiled.
const program = new URL(`./memory-thread-program${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)

type Waiting = { readonly resolve: (value: unknown) => void; readonly reject: (error: unknown) => void }

/** A memory in a thread of its own, so that a slow memory never holds up what the proxy passes on. */
export class MemoryThread implements ProxyMemory {
  readonly #options: ThreadOptions
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | null = null
  #asked = 0

  constructor(options: ThreadOptions) {
    this.#options = options
  }

  // The thread answers each kind of call with a value of this type.
  recall = (view: View, message: string): Promise<ShownContext> =>
    this.#ask({ kind: 'recall', view, message }) as Promise<ShownContext>

  keep = async (view: View, turns: readonly HeardTurn[]): Promise<void> => {
    await this.#ask({ kind: 'keep', view, turns })
  }

  close = async (): Promise<void> => {
    if (this.#worker !== null) await this.#ask({ kind: 'close' })
    await this.#worker?.terminate()
  }

  #ask(call: ThreadCall): Promise<unknown> {
    this.#worker ??= this.#start()
    this.#asked += 1
    const request: ThreadRequest = { id: this.#asked, call }
    return new Promise((resolve, reject) => {
      this.#waiting.set(request.id, { resolve, reject })
      this.#worker?.postMessage(request)
    })
  }

  #start(): Worker {
    const worker = new Worker(program, { workerData: this.#options })
    worker.on('message', (response: ThreadResponse) => {
      const waiting = this.#waiting.get(response.id)
      this.#waiting.delete(response.id)
      if ('value' in response) waiting?.resolve(response.value)
      else if (response.code === null) waiting?.reject(new Error(response.message))
      else waiting?.reject(new MemoryError(response.code, response.message))
    })
    // The next call starts another one.
    const end = (cause: unknown): void => {
      this.#worker = null
      const failed = new MemoryError('unavailable', 'The memory thread ended unexpectedly.', { cause })
      for (const { reject } of this.#waiting.values()) reject(failed)
      this.#waiting.clear()
    }
    worker.on('error', end)
    worker.on('exit', end)
    return worker
  }
}
