import { mayChange } from '../../beliefs/authority.ts'
import type { Belief } from '../../beliefs/belief.ts'
import { isSameStatement } from '../../beliefs/identity.ts'
import { MemoryError } from '../../errors.ts'
import { chainOf } from '../explain/history.ts'
import { type BeliefReference, findBelief } from '../find-belief.ts'
import { requireVersion, type VersionExpectation } from './correct.ts'
import { type ChangeRequest, change, erased, type Ports } from './transaction.ts'

export type ForgetRequest = ChangeRequest &
  BeliefReference &
  VersionExpectation & {
    /** Also forgets everything it superseded and was superseded by. */
    readonly wholeChain?: boolean
  }

/** What remains: that something was forgotten, when and by whom, but not what it said. */
export type Receipt = {
  readonly beliefIds: readonly string[]
  readonly event: number
  readonly at: string
  readonly hash: string
}

/**
 * Removes every text of a belief, from every read path and from the journal, together with what may repeat it: the same
 * statement in its line of supersession, and what is proposed for it. It cannot be undone.
 */
export async function forget(ports: Ports, request: ForgetRequest): Promise<Receipt> {
  return change(
    ports,
    { ...request, operation: 'forget' },
    async () => {
      const doomed = await doomedBy(ports, request)
      for (const one of doomed) refuseAboveAuthority(request, one)
      return {
        kind: 'forget',
        changes: doomed.map(erased),
        result: (event) => ({ beliefIds: event.beliefIds, event: event.number, at: event.at, hash: event.hash }),
      }
    },
    async (event) => ({ beliefIds: event.beliefIds, event: event.number, at: event.at, hash: event.hash }),
  )
}

async function doomedBy(ports: Ports, request: ForgetRequest): Promise<readonly Belief[]> {
  const withdrawn = await withdrawnBelief(ports, request)
  if (withdrawn !== null) return [withdrawn]
  const belief = requireVersion(await findBelief(ports, request), request)
  const chain = (await chainOf(ports, belief)).filter(
    ({ id, content }) => request.wholeChain === true || id === belief.id || isSameStatement(content, belief.content),
  )
  const proposals = await Promise.all(chain.map(({ user, id }) => ports.store.proposalsFor(user, id)))
  return [...new Map([...chain, ...proposals.flat()].map((one) => [one.id, one])).values()]
}

/** The last state of a belief that undo took back: nothing finds it any more, but the journal still holds its text. */
async function withdrawnBelief({ store }: Ports, { user, reference }: BeliefReference): Promise<Belief | null> {
  const revisions = await store.history(user, reference.trim())
  if (revisions.at(-1)?.outcome !== 'absent') return null
  return revisions.findLast(({ belief }) => belief !== null)?.belief ?? null
}

function refuseAboveAuthority({ author }: ForgetRequest, belief: Belief): void {
  if (mayChange(author.actor, belief)) return
  throw new MemoryError(
    'forbidden',
    `"${belief.name}" was written by a higher authority than ${author.actor} "${author.origin}".`,
    {
      hint: 'Only a person can forget what a person said.',
    },
  )
}
