import { createHash } from 'node:crypto'

/** The prompt with which `connect --verify` asks for a line. It is answered and never stored. */
export const canaryPrompt = (id: string): string => `Credence canary ${id}`

/** The answer of the hook. It is not part of the prompt, so a request that contains it has passed through the hook. */
export const canaryLine = (id: string): string =>
  `Credence answers ${createHash('sha256').update(id).digest('hex').slice(0, 16)}.`

/** The line for a prompt that asks for one; otherwise empty. */
export function canaryIn(prompt: string): string {
  const [, id] = /^Credence canary ([0-9a-f]{16})$/u.exec(prompt.trim()) ?? []
  return id === undefined ? '' : `${canaryLine(id)}\n`
}
