import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * A new directory that goes away, with all that is in it, at the end of the block: `using directory = ...`. A process that
 * the test left in the background (a hook's) may still write into it, so removing it is tried for some ten seconds.
 */
export function temporaryDirectory(): Disposable & { readonly path: string } {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'credence-')))
  return {
    path,
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }),
  }
}
