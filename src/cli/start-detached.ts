import { spawn } from 'node:child_process'
import { programFile } from './program-file.ts'

/** Starts this program once more, so that it goes on when this process has ended, and nobody has to wait for it. */
export function startDetached(argv: readonly string[]): void {
  const child = spawn(process.execPath, [programFile, ...argv], { detached: true, stdio: 'ignore', windowsHide: true })
  // Whoever may not start programs leaves the work to the next one that may.
  child.on('error', () => {})
  child.unref()
}
