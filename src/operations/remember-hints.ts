import { type Belief, isStanding } from '../beliefs/belief.ts'
import { explainEverydayForm, refusalText } from '../memory/change/aliases.ts'
import type { CorrectResult } from '../memory/change/correct.ts'
import type { RememberResult } from '../memory/change/remember.ts'
import { findSecretIn } from '../memory/learn/secrets.ts'

/** A hint for the author of a statement. */
export type RememberHint = {
  readonly kind: 'secret' | 'everyday alias' | 'refused alias' | 'derived name' | 'other values'
  readonly text: string
}

/** `given`: the name and the aliases that the author gave. */
export async function rememberHints(
  { outcome, belief, otherValues, refusedAliases }: RememberResult,
  given: { readonly name?: string | undefined; readonly aliases?: readonly string[] },
): Promise<readonly RememberHint[]> {
  const [which, both] = otherValues.length === 1 ? ['Another belief gives', 'both'] : ['Other beliefs give', 'all']
  const others = `${which} another value of the same thing; ${both} are recalled, the newest first.`
  return [
    ...(await statedHints(belief, given.aliases)),
    ...refusedAliases.map((refused) => ({ kind: 'refused alias', text: refusalText(refused) }) as const),
    ...(given.name === undefined && outcome === 'remembered' && !isAlwaysRecalled(belief) ? [derivedName] : []),
    ...(otherValues.length === 0 ? [] : [{ kind: 'other values', text: others } as const]),
  ]
}

/** Whether every message recalls the belief, so that its name does not matter. */
const isAlwaysRecalled = (belief: Belief): boolean =>
  belief.pinned || belief.scopes.some((scope) => isStanding(belief, scope))

const derivedName: RememberHint = { kind: 'derived name', text: 'The name was derived from the statement.' }

/** The hints for a stored text with these aliases: a secret, and aliases that many messages contain. */
const statedHints = async (belief: Belief, aliases: readonly string[] = []): Promise<readonly RememberHint[]> => [
  ...(await secretHints(belief)),
  ...aliasHints(belief, aliases),
]

/** The hints for a correction, with the aliases that its author gave. */
export const correctionHints = async (
  { outcome, belief }: CorrectResult,
  { aliases }: { readonly aliases?: readonly string[] },
): Promise<readonly RememberHint[]> => (outcome === 'unchanged' ? [] : statedHints(belief, aliases))

/** Warns about new aliases that many messages would contain by chance. */
export const aliasHints = (belief: Belief, added: readonly string[] = []): readonly RememberHint[] =>
  added.filter((alias) => belief.aliases.includes(alias)).flatMap(everydayHints)

/** Warns about a secret. A person may store one, but should know that every reader of the memory sees it. */
async function secretHints({ name, content, why, aliases }: Belief): Promise<readonly RememberHint[]> {
  const secret = await findSecretIn({ name, content, why, aliases })
  if (secret === null) return []
  const text = `The statement seems to contain ${secret}, and every agent that reads this memory can see it.`
  return [{ kind: 'secret', text }]
}

function everydayHints(alias: string): readonly RememberHint[] {
  const reason = explainEverydayForm(alias)
  return reason === null
    ? []
    : [{ kind: 'everyday alias', text: `"${alias}" would be found in many messages. ${reason}` }]
}
