import { authorityOf, type Belief, isCurrent } from '../../beliefs/belief.ts'
import { universalScope, visibleScopes } from '../../beliefs/scope.ts'
import { informativeWords, searchableWords } from '../../search/searchable-text.ts'
import type { Ports } from '../ports.ts'

/** Max beliefs to compare with a statement, of those that share words with it. */
const maxCompared = 50
/** Two statements can be the same only if more than this share of the words of the longer one is in both. */
const minShared = 0.5

export type RestatementQuery = {
  readonly user: string
  readonly scopes: readonly string[]
  readonly content: string
  /** The kind of author whose beliefs are compared. */
  readonly by: 'person' | 'agent'
}

/**
 * Current beliefs that make the same statement in other words. A host with both hooks and tools sends a statement twice: the hook
 * in the person's words, and the tool in the agent's.
 */
export async function findRestatements({ store }: Ports, query: RestatementQuery): Promise<readonly Belief[]> {
  const { user, content, by } = query
  const words = [...new Set(informativeWords(content))]
  if (words.length === 0) return []
  const scopes = visibleScopes([...query.scopes, universalScope])
  const atLeast = Math.ceil(words.length * minShared)
  const filter = { user, agent: null, scopes, words, atLeast, includeRetired: false, limit: maxCompared }
  const ids = (await store.matchText(filter)).map(({ beliefId }) => beliefId)
  return (await store.getMany(user, ids)).filter(
    (belief) =>
      isCurrent(belief) && belief.agent === null && authorityOf(belief) === by && isRestated(belief.content, content),
  )
}

/**
 * Whether one of two statements has every informative word of the other, and few additional words. Numbers and negations must be
 * the same in both, because a single one changes the meaning.
 */
export function isRestated(a: string, b: string): boolean {
  const first = new Set(informativeWords(a))
  const second = new Set(informativeWords(b))
  const [shorter, longer] = first.size <= second.size ? [first, second] : [second, first]
  if (shorter.size < 2 || ![...shorter].every((word) => longer.has(word))) return false
  if (decisiveWords(a) !== decisiveWords(b)) return false
  return shorter.size / longer.size > minShared
}

const decisiveWords = (text: string): string =>
  [...new Set(searchableWords(text).filter((word) => /\d|^(?:no|not|never|without)$|n['’]t$/u.test(word)))]
    .sort()
    .join(' ')
