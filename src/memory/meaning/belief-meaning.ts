import { parseQuestion } from '../../search/turns/question.ts'
import { meaningFor } from '../conversation/meaning-for.ts'
import type { Ports } from '../ports.ts'
import threshold from './belief-threshold.json' with { type: 'json' }

/** Beliefs by meaning are few: each is a guess. */
const maxBeliefs = 5

export type NearBelief = { readonly beliefId: string; readonly cosine: number }

/**
 * The beliefs of a user whose content is near to a message in meaning, best first. The least cosine was chosen by
 * `scripts/calibrate-beliefs.ts` for the model of this package; none are found by another model.
 */
export async function beliefsByMeaning(
  { store, embedder }: Pick<Ports, 'store'> & { readonly embedder: Ports['embedder'] | undefined },
  { user, message }: { readonly user: string; readonly message: string },
): Promise<readonly NearBelief[]> {
  const meaning = await meaningFor({ store, embedder }, { user, question: parseQuestion(message), message })
  if (meaning === undefined || meaning.model !== threshold.model) return []
  const near = await store.beliefCosines(user, meaning.model, meaning, maxBeliefs)
  return near.filter(({ cosine }) => cosine >= threshold.minCosine)
}
