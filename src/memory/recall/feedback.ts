import type { Belief } from '../../beliefs/belief.ts'
import type { FeedbackCount, FeedbackVerdict } from '../../beliefs/recall-counts.ts'
import type { Turn } from '../../beliefs/turn.ts'
import { forbidden, notFound, nullIfNotFound, unavailable } from '../../errors.ts'
import { findTurn } from '../conversation/turns.ts'
import { type BeliefReference, findBelief } from '../find-belief.ts'
import type { Author, Ports } from '../ports.ts'

/** A belief or a turn, and how often the person marked it as useful or not useful. */
export type FeedbackItem = FeedbackCount & ({ readonly belief: Belief } | { readonly turn: Turn })

export type FeedbackRequest = BeliefReference & { readonly author: Author; readonly verdict: FeedbackVerdict }

/**
 * Counts whether a recalled belief or turn was useful to the person. Only a person can give feedback. The counts are
 * only reported; recall does not depend on them.
 */
export async function giveFeedback(ports: Ports, request: FeedbackRequest): Promise<FeedbackItem> {
  const { user, verdict, author } = request
  if (author.actor !== 'person')
    throw forbidden('Only a person can give feedback on what is recalled.', 'Ask the person to give it.')
  if (ports.counts === undefined)
    throw unavailable('This memory does not count feedback.', 'Open it from a memory directory or a server.')
  const found = await findItem(ports, request)
  const { id } = 'belief' in found ? found.belief : found.turn
  await ports.counts.countFeedback(user, { id, verdict, at: ports.now().toISOString() })
  const [counted] = await ports.counts.feedback(user, [id])
  return { ...(counted as FeedbackCount), ...found }
}

/** Every belief and turn with feedback, the latest first. */
export async function listFeedback(ports: Ports, user: string): Promise<readonly FeedbackItem[]> {
  const items: FeedbackItem[] = []
  for (const counted of (await ports.counts?.feedback(user, null)) ?? []) {
    const belief = await ports.store.get(user, counted.id)
    const turn = belief === null ? await ports.store.getTurn(user, counted.id) : null
    if (belief !== null) items.push({ ...counted, belief })
    else if (turn !== null) items.push({ ...counted, turn })
  }
  return items
}

/** The counts of one belief or turn; null without feedback. */
export const feedbackOn = async ({ counts }: Ports, user: string, id: string): Promise<FeedbackCount | null> =>
  (await counts?.feedback(user, [id]))?.[0] ?? null

/** Ids of turns begin with "t-", but the name of a belief may too, such as "t-shirt", so beliefs are tried first. */
async function findItem(ports: Ports, request: BeliefReference) {
  const { user, reference } = request
  if (!reference.startsWith('t-')) return { belief: await findBelief(ports, request) }
  const belief = await nullIfNotFound(() => findBelief(ports, request))
  if (belief !== null) return { belief }
  const turn = await nullIfNotFound(() => findTurn(ports, user, reference))
  if (turn !== null) return { turn }
  throw notFound(
    `There is no belief or turn "${reference.slice(0, 80)}".`,
    'Look for words with `credence search`, which prints the ids.',
  )
}
