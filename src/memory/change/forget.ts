import { type Belief, mayChange } from '../../beliefs/belief.ts'
import { isSameStatement } from '../../beliefs/identity.ts'
import type { JournalEvent } from '../../beliefs/journal.ts'
import { conflict, forbidden, MemoryError } from '../../errors.ts'
import { chainOf } from '../explain/history.ts'
import { type BeliefReference, findBelief, requireVersion, type VersionExpectation } from '../find-belief.ts'
import type { Ports } from '../ports.ts'
import { type ChangeRequest, change, erased } from './transaction.ts'

export type ForgetRequest = ChangeRequest &
  BeliefReference &
  VersionExpectation & {
    /** Also forgets everything it superseded and was superseded by. */
    readonly wholeChain?: boolean
  }

/** Records that something was forgotten, when and by whom, but not what it said. */
export type Receipt = {
  readonly beliefIds: readonly string[]
  readonly event: number
  readonly at: string
  readonly hash: string
}

/**
 * Removes every text of a belief, from every read path and from the journal, together with what may repeat it: the same
 * statement in its chain of supersession, and proposals for it. It cannot be undone.
 */
export async function forget(ports: Ports, request: ForgetRequest): Promise<Receipt> {
  const { author } = request
  // The name of the belief must not stay, not even as part of a fingerprint.
  const { reference: _reference, ...withoutText } = request
  return change(
    ports,
    { ...withoutText, operation: 'forget' },
    async () => {
      const beliefs = await beliefsToForget(ports, request)
      const ids = new Set(beliefs.map(({ id }) => id))
      // A proposal is forgotten with its target, whichever author made it.
      for (const belief of beliefs)
        if (!mayChange(author, belief) && !ids.has(belief.proposedFor ?? ''))
          throw forbidden(
            `"${belief.name}" was written by another author, so the ${author.actor} ${author.origin} cannot forget it.`,
            'Only a person can forget beliefs of other authors.',
          )
      return { kind: 'forget', changes: beliefs.map(erased), result: receiptOf }
    },
    async (event) => {
      if (event.kind !== 'forget' || (await wasThere(ports, request, event.number))) throw keyUsedBefore(request)
      return receiptOf(event)
    },
  )
}

const receiptOf = ({ beliefIds, number, at, hash }: JournalEvent): Receipt => ({ beliefIds, event: number, at, hash })

/** A retry finds nothing left that was there before; a request that does is another one under the same key. */
export const keyUsedBefore = ({ key }: ChangeRequest): MemoryError =>
  conflict(`The idempotency key "${key}" was used before for another request.`, 'Use a new key for a new request.')

/** Whether the request names a belief that is older than the event. */
async function wasThere(ports: Ports, request: ForgetRequest, event: number): Promise<boolean> {
  try {
    const { user, id } = await findBelief(ports, request)
    const [first] = await ports.store.history(user, id)
    return first !== undefined && first.event.number < event
  } catch (error) {
    if (error instanceof MemoryError && error.code === 'not_found') return false
    throw error
  }
}

async function beliefsToForget(ports: Ports, request: ForgetRequest): Promise<readonly Belief[]> {
  const withdrawn = await withdrawnBelief(ports, request)
  if (withdrawn !== null) return [withdrawn]
  const belief = requireVersion(await findBelief(ports, request), request)
  const chain = (await chainOf(ports, belief)).filter(
    ({ id, content }) => request.wholeChain === true || id === belief.id || isSameStatement(content, belief.content),
  )
  const proposals = await Promise.all(chain.map(({ user, id }) => ports.store.proposalsFor(user, id)))
  return [...new Map([...chain, ...proposals.flat()].map((one) => [one.id, one])).values()]
}

/** The last state of a belief that undo withdrew: no read path finds it, but the journal still holds its text. */
async function withdrawnBelief({ store }: Ports, { user, reference }: BeliefReference): Promise<Belief | null> {
  const revisions = await store.history(user, reference.trim())
  const last = revisions.at(-1)
  const belief = revisions.findLast((revision) => revision.belief !== null)?.belief ?? null
  return last?.outcome !== 'absent' || belief === null ? null : { ...belief, version: last.version }
}
