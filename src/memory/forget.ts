import { mayChange } from '../beliefs/authority.ts'
import type { Belief } from '../beliefs/belief.ts'
import { MemoryError } from '../errors.ts'
import { type BeliefReference, findBelief } from './find-belief.ts'
import { chainOf } from './history.ts'
import { type ChangeRequest, change, erased, type Workshop } from './workshop.ts'

export type ForgetRequest = ChangeRequest &
  BeliefReference & {
    /** Also forgets everything it superseded, was superseded by, and what is proposed for it. */
    readonly wholeChain?: boolean
  }

/** What remains: that something was forgotten, when and by whom, but not what it said. */
export type Receipt = {
  readonly beliefIds: readonly string[]
  readonly event: number
  readonly at: string
  readonly hash: string
}

/** Removes every text of a belief, from every read path and from the journal. It cannot be undone. */
export async function forget(workshop: Workshop, request: ForgetRequest): Promise<Receipt> {
  return change(
    workshop,
    request,
    async () => {
      const belief = await findBelief(workshop, request)
      const doomed = request.wholeChain ? await everythingAbout(workshop, belief) : [belief]
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

async function everythingAbout(workshop: Workshop, belief: Belief): Promise<readonly Belief[]> {
  const chain = await chainOf(workshop, belief)
  const proposals = await Promise.all(chain.map(({ user, id }) => workshop.store.proposalsFor(user, id)))
  return [...new Map([...chain, ...proposals.flat()].map((one) => [one.id, one])).values()]
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
