import { parseQuestion } from '../../search/turns/question.ts'
import { meaningFor } from '../conversation/meaning-for.ts'
import type { Ports } from '../ports.ts'
import threshold from './belief-threshold.json' with { type: 'json' }

/** Max beliefs that a search finds by meaning: few, because each is a guess. */
export const maxNearBeliefs = 5
/** Max nearest beliefs to look up: more than `maxNearBeliefs`, because some belong to other scopes. */
const maxCompared = 100

export type NearBelief = { readonly beliefId: string; readonly cosine: number }

/**
 * The beliefs of a user, in any scope, whose content is nearest to a message in meaning, best first. Empty for any model except
 * the one in this package, because `scripts/calibrate-beliefs.ts` chose `minCosine` for that model only.
 */
export async function findBeliefsByMeaning(
  { store, embedder }: Pick<Ports, 'store'> & { readonly embedder: Ports['embedder'] | undefined },
  { user, message }: { readonly user: string; readonly message: string },
  maxWaitMs?: number,
): Promise<readonly NearBelief[]> {
  const meaning = await meaningFor({ store, embedder }, { user, question: parseQuestion(message), message }, maxWaitMs)
  if (meaning === undefined || meaning.model !== threshold.model) return []
  return store.beliefCosines(user, meaning.model, meaning, maxCompared)
}

/** The min cosine of a belief that is found by meaning. */
export const minCosine = threshold.minCosine
