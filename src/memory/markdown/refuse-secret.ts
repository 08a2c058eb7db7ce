import { MemoryError } from '../../errors.ts'
import { secretsIn } from '../learn/secrets.ts'

type Said = {
  readonly name: string
  readonly content: string
  readonly why: string
  readonly aliases: readonly string[]
}

/**
 * A file is read by many programs: what opens something does not become a belief because it stands there. A secret that
 * `known` says already was told to the memory by somebody, and may stay.
 */
export function refuseSecret(said: Said, known: Said | null = null): void {
  const knownText = known === null ? '' : textsOf(known).join('\n')
  for (const text of textsOf(said)) {
    const secret = secretsIn(text).find(({ start, end }) => !knownText.includes(text.slice(start, end)))
    if (secret === undefined) continue
    throw new MemoryError('invalid', `It holds ${secret.what}, so it is not taken in.`, {
      hint: 'Keep it in a password manager and take it out of the file, or say it with `credence remember`.',
    })
  }
}

/** A number alone is a secret only beside the name that says what it opens. */
const textsOf = ({ name, content, why, aliases }: Said): readonly string[] => [
  name === '' ? content : `${name}: ${content}`,
  content,
  why,
  ...aliases,
]
