import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * A new directory that is removed with its contents at the end of the block: `using directory = ...`. A background process of the test,
 * such as a hook's, may still write into it, so the removal is retried for some ten seconds.
 */
export function temporaryDirectory(): Disposable & { readonly path: string } {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'credence-')))
  return {
    path,
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }),
  }
}
