import { secretsIn } from './secrets.ts'

/** The texts of a statement, as far as it has them. */
export type Told = {
  readonly name?: string | undefined
  readonly content?: string | undefined
  readonly why?: string | undefined
  readonly relation?: string | null | undefined
  readonly aliases?: readonly string[] | undefined
  readonly participants?: readonly string[] | undefined
}

/** What kind of secret a statement tells, in words. Null when it tells none, or none that `known` has not told already. */
export function secretTold(told: Told, known: Told | null = null): string | null {
  const knownText = known === null ? '' : textsOf(known).join('\n')
  for (const text of textsOf(told)) {
    const secret = secretsIn(text).find(({ start, end }) => !knownText.includes(text.slice(start, end)))
    if (secret !== undefined) return secret.what
  }
  return null
}

/** A number alone is a secret only beside the name that says what it opens. */
function textsOf({ name, content, why, relation, aliases = [], participants = [] }: Told): readonly string[] {
  const beside = name === undefined || content === undefined ? undefined : `${name}: ${content}`
  return [beside, name, content, why, relation, ...aliases, ...participants].filter((text) => typeof text === 'string')
}
