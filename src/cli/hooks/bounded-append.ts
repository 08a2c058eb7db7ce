import { appendFileSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** Adds a line to a private file, making its directory when there is none. */
export function appendLine(file: string, value: unknown): void {
  const line = `${JSON.stringify(value)}\n`
  try {
    appendFileSync(file, line, { mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    appendFileSync(file, line, { mode: 0o600 })
  }
}

export const isLargerThan = (file: string, bytes: number): boolean =>
  (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > bytes
