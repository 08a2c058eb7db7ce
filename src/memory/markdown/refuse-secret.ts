import { MemoryError } from '../../errors.ts'
import { type StatementTexts, secretTold } from '../learn/secrets.ts'

/**
 * Throws when a text from a file contains a secret: many programs read files, so a secret in one must not become a
 * belief. A secret that the belief `known` contains already may stay.
 */
export function refuseSecret(told: StatementTexts, known: StatementTexts | null = null): void {
  const secret = secretTold(told, known)
  if (secret === null) return
  throw new MemoryError('invalid', `It holds ${secret}, so it is not taken in.`, {
    hint: 'Keep it in a password manager and take it out of the file, or say it with `credence remember`.',
  })
}
