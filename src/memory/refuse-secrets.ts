import { MemoryError } from '../errors.ts'
import type { Author } from './workshop.ts'

type Said = {
  readonly name?: string | undefined
  readonly content?: string | undefined
  readonly why?: string | undefined
  readonly relation?: string | null | undefined
  readonly aliases?: readonly string[] | undefined
  readonly participants?: readonly string[] | undefined
}

/**
 * A memory is read by every agent that comes along: no place for credentials. A person may decide otherwise about their
 * own; an agent that was handed one, or that was talked into keeping one, may not.
 */
export async function refuseSecrets({ actor }: Author, said: Said): Promise<void> {
  if (actor === 'person' || actor === 'import') return
  const { secretIn } = await import('./learn/secrets.ts')
  for (const text of textsOf(said)) {
    const secret = secretIn(text)
    if (secret === null) continue
    throw new MemoryError('invalid', `It holds ${secret}, which does not belong in a memory.`, {
      hint: 'Say where it is kept instead, and leave the secret itself out.',
    })
  }
}

/** A number alone is a secret only beside the name that says what it opens. */
function textsOf({ name, content, why, relation, aliases = [], participants = [] }: Said): readonly string[] {
  const beside = name === undefined || content === undefined ? undefined : `${name}: ${content}`
  return [beside, name, content, why, relation, ...aliases, ...participants].filter((text) => typeof text === 'string')
}
