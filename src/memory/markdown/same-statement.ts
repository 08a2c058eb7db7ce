import { type Belief, isCurrent } from '../../beliefs/belief.ts'
import { isSameStatement } from '../../beliefs/identity.ts'
import { askedWords } from '../../search/searchable-text.ts'
import type { Ports } from '../ports.ts'

/** How many beliefs with the same words are compared. */
const mostCompared = 50

/** The belief that makes the same statement in one of the scopes, whatever its name. */
export async function sameStatement(
  { store }: Pick<Ports, 'store'>,
  { user, scopes, content }: { readonly user: string; readonly scopes: readonly string[]; readonly content: string },
): Promise<Belief | null> {
  const words = askedWords(content)
  if (words.length === 0) return null
  const hits = await store.matchText({
    user,
    agent: null,
    scopes,
    words,
    atLeast: words.length,
    includeRetired: false,
    limit: mostCompared,
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
