import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Creates a directory and its missing parents, for the owner alone unless `mode` allows more. Not `mkdirSync` with
 * `recursive`: in Node 24 that call never returns below a file system that refuses new entries with ENOENT, such as /proc.
 */
export function makeDirectory(path: string, mode = 0o700): void {
  const missing: string[] = []
  // A root is its own parent, and a drive of Windows may be missing.
  for (let at = resolve(path); !existsSync(at) && at !== missing.at(-1); at = dirname(at)) missing.push(at)
  if (missing.length === 0 && !statSync(path).isDirectory()) missing.push(path)
  for (const directory of missing.reverse()) {
    try {
      mkdirSync(directory, { mode })
    } catch (error) {
      // Another process may have created it in the meantime.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !statSync(directory).isDirectory()) throw error
    }
  }
}
