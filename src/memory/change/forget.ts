import { type Belief, mayChange } from '../../beliefs/belief.ts'
import { isSameStatement } from '../../beliefs/identity.ts'
import { forbidden } from '../../errors.ts'
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
  const { actor, origin } = request.author
  return change(
    ports,
    { ...request, operation: 'forget' },
    async () => {
      const beliefs = await beliefsToForget(ports, request)
      for (const belief of beliefs)
        if (!mayChange(actor, belief))
          throw forbidden(
            `"${belief.name}" was written by a higher authority than ${actor} "${origin}".`,
            'Only a person can forget what a person said.',
          )
      return { kind: 'forget', changes: beliefs.map(erased) }
    },
    async ({ beliefIds, number, at, hash }) => ({ beliefIds, event: number, at, hash }),
  )
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
  if (revisions.at(-1)?.outcome !== 'absent') return null
  return revisions.findLast(({ belief }) => belief !== null)?.belief ?? null
}
