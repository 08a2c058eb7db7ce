import { join } from 'node:path'
import { withShadow } from './eval/shadow/shadow.ts'
import type { Memory } from './memory/memory.ts'

export type ShadowRecallOptions = {
  /** The memory directory; records go to `state/evals/shadow` below it. */
  readonly dir: string
  /** Another eval store. */
  readonly evalStoreDir?: string
  /** Tells conversations apart; kept as it is, so give no text. */
  readonly sessionKey?: string
  /** Told when a record could not be kept. A recall never fails because of it. */
  readonly onProblem?: (error: unknown) => void
}

/** The same memory, with a record of every recall in ids, hashes and numbers, never text. `close` waits for the last one. */
export const shadowRecall = (
  memory: Memory,
  { dir, evalStoreDir, sessionKey, onProblem }: ShadowRecallOptions,
): Memory =>
  withShadow(memory, {
    root: evalStoreDir ?? join(dir, 'state', 'evals'),
    sessionKey: sessionKey ?? null,
    now: () => new Date(),
    clock: () => performance.now(),
    onProblem: onProblem ?? (() => {}),
  })
