import { MemoryError } from '../../errors.ts'
import type { HeardTurn } from '../../memory/conversation/hear.ts'
import type { ShownContext } from '../../memory/recall/render.ts'
import type { ProxyMemory, View } from '../../proxy/add-memory.ts'
import { ThreadCalls } from '../../thread-calls.ts'

/** Which memory the thread opens, and how. */
export type ThreadOptions = {
  readonly dir: string
  readonly store?: string
  readonly everyTeam: boolean
  readonly vectors: boolean
  readonly agentShare: number
  readonly recallBoldness: 'normal' | 'quiet' | 'eager'
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

// The thread's program is beside this file in the sources and in the package, where it has been compiled.
const program = new URL(`./memory-thread-program${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)

/** A memory in a thread of its own, so that a slow memory never holds up what the proxy passes on. */
export function memoryThread(workerData: ThreadOptions): ProxyMemory & { readonly close: () => Promise<void> } {
  let thread: ThreadCalls<ThreadCall> | null = null
  const lost = (cause: unknown) => new MemoryError('unavailable', 'The memory thread ended unexpectedly.', { cause })
  const onEnd = (): void => {
    thread = null
  }
  /** After the end of a thread, the next call starts another one. */
  const ask = (call: ThreadCall): Promise<unknown> => {
    thread ??= new ThreadCalls(program, { workerData, lost, onEnd })
    return thread.ask(call)
  }
  return {
    // The thread answers this kind of call with a value of this type.
    recall: (view, message) => ask({ kind: 'recall', view, message }) as Promise<ShownContext>,
    keep: async (view, turns) => void (await ask({ kind: 'keep', view, turns })),
    close: async () => thread?.close({ kind: 'close' }),
  }
}
