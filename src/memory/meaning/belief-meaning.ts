import { parseQuestion } from '../../search/turns/question.ts'
import { meaningFor } from '../conversation/meaning-for.ts'
import type { Ports } from '../ports.ts'
import threshold from './belief-threshold.json' with { type: 'json' }

/** Beliefs by meaning are few: each is a guess. */
export const maxNearBeliefs = 5
/** More are compared, because some belong to other scopes. */
const maxCompared = 100

export type NearBelief = { readonly beliefId: string; readonly cosine: number }

/**
 * The beliefs of a user whose content is nearest to a message in meaning, best first, of every scope. None are found by a model
 * other than the one of this package, because `minCosine` was chosen for that one, by `scripts/calibrate-beliefs.ts`.
 */
export async function beliefsByMeaning(
  { store, embedder }: Pick<Ports, 'store'> & { readonly embedder: Ports['embedder'] | undefined },
  { user, message }: { readonly user: string; readonly message: string },
  maxWaitMs?: number,
): Promise<readonly NearBelief[]> {
  const meaning = await meaningFor({ store, embedder }, { user, question: parseQuestion(message), message }, maxWaitMs)
  if (meaning === undefined || meaning.model !== threshold.model) return []
  return store.beliefCosines(user, meaning.model, meaning, maxCompared)
}

/** From this cosine on, a belief counts as found by meaning. */
export const minCosine = threshold.minCosine
