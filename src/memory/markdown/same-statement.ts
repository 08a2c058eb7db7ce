import { type Belief, isCurrent } from '../../beliefs/belief.ts'
import { isSameStatement, numberedName } from '../../beliefs/identity.ts'
import { invalid } from '../../errors.ts'
import { questionWordsIn } from '../../search/searchable-text.ts'
import { findSecretIn, type StatementTexts } from '../learn/secrets.ts'
import type { Ports } from '../ports.ts'

/** Max beliefs to compare with a statement, of those that share words with it. */
const maxCompared = 50

/**
 * The name for a statement without one: the name of `same`, the belief that already makes the statement, or else the derived
 * name, with a number if a different statement has that name.
 */
export async function freeNameFor(
  ports: Pick<Ports, 'store'>,
  statement: Pick<Belief, 'user' | 'name' | 'scopes' | 'content'>,
): Promise<{ readonly name: string; readonly same: Belief | null }> {
  const { user, name: wanted, scopes, content } = statement
  const same = await findSameStatement(ports, statement)
  if (same !== null) return { name: same.name, same }
  for (let number = 1; ; number += 1) {
    const name = numberedName(wanted, number)
    const holders = await ports.store.holders(user, name, scopes)
    if (holders.every((holder) => isSameStatement(holder.content, content))) return { name, same: holders[0] ?? null }
  }
}

/** The belief with the same statement in one of the scopes, under any name. */
export async function findSameStatement(
  { store }: Pick<Ports, 'store'>,
  { user, scopes, content }: { readonly user: string; readonly scopes: readonly string[]; readonly content: string },
): Promise<Belief | null> {
  const words = questionWordsIn(content)
  if (words.length === 0) return null
  const hits = await store.matchText({
    user,
    agent: null,
    scopes,
    words,
    atLeast: words.length,
    includeRetired: false,
    limit: maxCompared,
  })
  const beliefs = await store.getMany(
    user,
    hits.map(({ beliefId }) => beliefId),
  )
  const isSame = (belief: Belief): boolean =>
    isCurrent(belief) &&
    belief.agent === null &&
    belief.scopes.some((scope) => scopes.includes(scope)) &&
    isSameStatement(belief.content, content)
  return beliefs.find(isSame) ?? null
}

/**
 * Throws if a text from a file contains a secret: many programs read files, so a secret in one must not become a belief. A secret
 * that the belief `known` already contains may stay.
 */
export async function refuseSecret(told: StatementTexts, known: StatementTexts | null = null): Promise<void> {
  const secret = await findSecretIn(told, known)
  if (secret === null) return
  throw invalid(
    `The text contains ${secret}, so it was not stored.`,
    'Keep it in a password manager and remove it from the file, or store it with `credence remember`.',
  )
}
