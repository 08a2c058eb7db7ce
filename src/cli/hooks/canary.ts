import { createHash } from 'node:crypto'

/** The prompt with which `connect --verify` requests a line. It is answered but never stored. */
export const canaryPrompt = (id: string): string => `Credence canary ${id}`

/** The line that the hook adds. The prompt does not contain it, so a request with this line has passed through the hook. */
export const canaryLine = (id: string): string =>
  `Credence answers ${createHash('sha256').update(id).digest('hex').slice(0, 16)}.`

/** The line for a canary prompt; empty for any other prompt. */
export function canaryIn(prompt: string): string {
  const [, id] = /^Credence canary ([0-9a-f]{16})$/u.exec(prompt.trim()) ?? []
  return id === undefined ? '' : `${canaryLine(id)}\n`
}
