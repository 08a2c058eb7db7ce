import { MemoryError } from '../../errors.ts'
import { type StatementTexts, secretTold } from '../learn/secrets.ts'

/**
 * A file is read by many programs: what opens something does not become a belief because it stands there. A secret that
 * `known` says already was told to the memory by somebody, and may stay.
 */
export function refuseSecret(told: StatementTexts, known: StatementTexts | null = null): void {
  const secret = secretTold(told, known)
  if (secret === null) return
  throw new MemoryError('invalid', `It holds ${secret}, so it is not taken in.`, {
    hint: 'Keep it in a password manager and take it out of the file, or say it with `credence remember`.',
  })
}
