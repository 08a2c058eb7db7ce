import type { Belief } from '../../beliefs/belief.ts'
import type { Page } from '../../beliefs/belief-store.ts'
import { compareStrings } from '../../beliefs/identity.ts'
import { parseScopes } from '../../beliefs/scope.ts'
import type { Turn } from '../../beliefs/turn.ts'
import type { Ports } from '../ports.ts'
import { requirePage } from '../recall/search.ts'
import { isRemoval, reasonOf, withTarget } from './proposals.ts'

/** If the item is accepted, a `statement` is added, a `correction` replaces its target, and a `removal` retires its target. */
export type ReviewKind = 'statement' | 'correction' | 'removal'

/** An item that waits for a person: a candidate found in a conversation, or a proposal. */
export type ReviewItem = {
  readonly kind: ReviewKind
  readonly belief: Belief
  /** The belief that the item would change, or its current successor; null for a new statement. */
  readonly target: Belief | null
  /** The belief after acceptance. */
  readonly accepted: Belief
  /** Why it waits, in one sentence. */
  readonly reason: string
  /** The turn it was found in; null if it has another source, or if the turn was forgotten. */
  readonly turn: Turn | null
  /** When the turn was said, or when the item was proposed if it has no turn. */
  readonly at: string
}

export type ReviewRequest = {
  readonly user: string
  /** Only items that would apply in these scopes. */
  readonly scopes?: readonly string[]
  readonly limit?: number
  readonly offset?: number
}

const everyOne = { limit: Number.MAX_SAFE_INTEGER, offset: 0 }

/** Everything that waits for a person's decision, newest turn first. Default 50 at a time. */
export async function reviewItems(
  ports: Ports,
  { user, scopes, limit = 50, offset = 0 }: ReviewRequest,
): Promise<Page<ReviewItem>> {
  requirePage({ limit, offset })
  const { store } = ports
  const filter = { user, ...(scopes === undefined ? {} : { scopes: parseScopes(scopes) }) }
  const { items: candidates } = await store.list({ ...filter, candidates: true }, everyOne)
  const { items: proposals } = await store.list({ ...filter, proposals: true }, everyOne)
  const waiting: Pick<ReviewItem, 'belief' | 'turn' | 'at'>[] = []
  for (const belief of [...candidates, ...proposals]) {
    const { sourceId } = belief.provenance
    const turn = sourceId === null ? null : await store.getTurn(user, sourceId)
    waiting.push({ belief, turn, at: turn?.at ?? belief.createdAt })
  }
  waiting.sort((a, b) => compareStrings(b.at, a.at) || compareStrings(a.belief.id, b.belief.id))
  const shown = waiting.slice(offset, offset + limit)
  const items: ReviewItem[] = []
  for (const belief of shown) {
    const { target, accepted } = await withTarget(ports, belief.belief)
    items.push({ ...belief, kind: kindOf(belief.belief), target, accepted, reason: reasonOf(belief.belief) })
  }
  return { items, total: waiting.length }
}

const kindOf = (belief: Belief): ReviewKind =>
  isRemoval(belief) ? 'removal' : belief.proposedFor === null ? 'statement' : 'correction'
