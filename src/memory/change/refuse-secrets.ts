import { MemoryError } from '../../errors.ts'
import type { Told } from '../learn/secrets.ts'
import type { Author } from './transaction.ts'

/**
 * A memory is read by every agent that comes along: no place for credentials. A person may decide otherwise about their
 * own; an agent that was handed one, or that was talked into keeping one, may not.
 */
export async function refuseSecrets({ actor }: Author, told: Told): Promise<void> {
  if (actor === 'person' || actor === 'import') return
  const { secretTold } = await import('../learn/secrets.ts')
  const secret = secretTold(told)
  if (secret === null) return
  throw new MemoryError('invalid', `It holds ${secret}, which does not belong in a memory.`, {
    hint: 'Say where it is kept instead, and leave the secret itself out.',
  })
}
