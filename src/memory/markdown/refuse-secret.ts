import { invalid } from '../../errors.ts'
import { type StatementTexts, secretTold } from '../learn/secrets.ts'

/**
 * Throws when a text from a file contains a secret: many programs read files, so a secret in one must not become a
 * belief. A secret that the belief `known` contains already may stay.
 */
export function refuseSecret(told: StatementTexts, known: StatementTexts | null = null): void {
  const secret = secretTold(told, known)
  if (secret === null) return
  throw invalid(
    `The text contains ${secret}, so it was not stored.`,
    'Keep it in a password manager and remove it from the file, or store it with `credence remember`.',
  )
}
