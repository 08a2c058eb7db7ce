import { unavailable } from '../../errors.ts'
import { ThreadCalls } from '../../thread-calls.ts'
import type { DatabaseOptions } from './database.ts'
import type { ThreadedCall } from './sqlite-store.ts'

export type StoreCall = { readonly name: ThreadedCall | 'close'; readonly values: readonly unknown[] }

// The thread's program is beside this file in the sources and in the package, where it has been compiled.
const program = new URL(`./store-thread-program${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)

/** A second connection to the same store, in a thread. */
export const openStoreThread = (
  workerData: DatabaseOptions & { readonly inspect?: boolean },
  onEnd: () => void = () => {},
): ThreadCalls<StoreCall> =>
  new ThreadCalls(program, {
    workerData,
    onEnd,
    lost: (cause) =>
      unavailable(
        'The thread that writes to the store failed.',
        'Check whether the change was made before you make it again.',
        cause,
      ),
  })
