import { MemoryError } from '../errors.ts'
import { secretIn } from '../memory/learn/secrets.ts'

/** A memory is read by every agent that comes along: no place for credentials, whoever asks to keep one. */
export function refuseSecrets(texts: readonly (string | undefined)[]): void {
  for (const text of texts) {
    const secret = text === undefined ? null : secretIn(text)
    if (secret === null) continue
    throw new MemoryError('invalid', `It holds ${secret}, which does not belong in a memory.`, {
      hint: 'Say where it is kept instead, and leave the secret itself out.',
    })
  }
}
