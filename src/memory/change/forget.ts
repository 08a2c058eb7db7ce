import { authorityOf, type Belief, mayChange, outranks } from '../../beliefs/belief.ts'
import { isSameStatement } from '../../beliefs/identity.ts'
import type { JournalEvent } from '../../beliefs/journal.ts'
import type { Turn } from '../../beliefs/turn.ts'
import { conflict, forbidden, type MemoryError, nullIfNotFound } from '../../errors.ts'
import { readChain } from '../explain/history.ts'
import { type BeliefReference, findBelief, requireVersion, type VersionExpectation } from '../find-belief.ts'
import type { Ports } from '../ports.ts'
import { type ChangeRequest, change, eraseChange, reviseChange } from './transaction.ts'

export type ForgetRequest = ChangeRequest &
  BeliefReference &
  VersionExpectation & {
    /** Also forgets every other belief in its chain of supersession. */
    readonly wholeChain?: boolean
    /** Keeps the turns that the belief was learned from, and other turns that state it. Only a person can forget turns. */
    readonly keepTurns?: boolean
  }

/** Shows that something was forgotten and when, but not its text. */
export type Receipt = {
  readonly beliefIds: readonly string[]
  /** The number of turns that were forgotten with the beliefs. */
  readonly turns: number
  readonly event: number
  readonly at: string
  readonly hash: string
}

/** The texts that forgetting a belief would erase. */
export type ForgetPreview = { readonly beliefs: readonly Belief[]; readonly turns: readonly Turn[] }

/** The beliefs and turns that `forget` would erase. Writes nothing. */
export async function previewForget(ports: Ports, request: ForgetRequest): Promise<ForgetPreview> {
  const beliefs = await findBeliefsToForget(ports, request)
  return { beliefs, turns: await findTurnsToForget(ports, request, beliefs) }
}

/**
 * Turns are the person's words, so no other author may forget them. The proposals for a forgotten belief are forgotten too, but
 * not the turns that they were learned from, because those turns state something else.
 */
async function findTurnsToForget(
  ports: Ports,
  { user, author, keepTurns = false }: ForgetRequest,
  beliefs: readonly Belief[],
): Promise<readonly Turn[]> {
  if (keepTurns || author.actor !== 'person') return []
  const ids = new Set(beliefs.map(({ id }) => id))
  const stated = beliefs.filter(({ proposedFor }) => proposedFor === null || !ids.has(proposedFor))
  return (await import('../conversation/turns-stating.ts')).findTurnsStating(ports, user, stated)
}

/**
 * Erases every text of a belief from all read paths and the journal. Also erases its repetitions: the same statement in its
 * chain of supersession, proposals for it, and the turns that state it. This cannot be undone.
 */
export async function forget(ports: Ports, request: ForgetRequest): Promise<Receipt> {
  const { author } = request
  // Not even the fingerprint of the request may contain the name of the belief.
  const { reference: _reference, ...withoutText } = request
  return change(
    ports,
    { ...withoutText, operation: 'forget' },
    async (at) => {
      const beliefs = await findBeliefsToForget(ports, request)
      const ids = new Set(beliefs.map(({ id }) => id))
      // A proposal of the same or a lower authority is forgotten with its target.
      for (const belief of beliefs)
        if (!mayChange(author, belief) && !ids.has(belief.proposedFor ?? ''))
          throw forbidden(
            `"${belief.name}" was written by another author, so the ${author.actor} ${author.origin} cannot forget it.`,
            'Only a person can forget beliefs of other authors.',
          )
      const forgottenTurns = (await findTurnsToForget(ports, request, beliefs)).map(({ id }) => id)
      const kept = await findProtectedProposals(ports, request, ids)
      const candidates = kept.map((belief) => reviseChange(belief, at, { proposedFor: null, candidate: true }))
      return {
        kind: 'forget',
        changes: [...beliefs.map(eraseChange), ...candidates],
        forgottenTurns,
        result: receiptOf,
      }
    },
    async (event) => {
      if (event.kind !== 'forget' || (await existedBefore(ports, request, event.number))) throw keyUsedBefore(request)
      return receiptOf(event)
    },
  )
}

const receiptOf = ({ beliefIds, turnCount, number, at, hash }: JournalEvent): Receipt => ({
  beliefIds,
  turns: turnCount,
  event: number,
  at,
  hash,
})

/** The error for a request whose key was used before, but that finds something to forget. A retry would find nothing, so it is a different request. */
export const keyUsedBefore = ({ key }: ChangeRequest): MemoryError =>
  conflict(`The idempotency key "${key}" was used before for another request.`, 'Use a new key for a new request.')

/** Whether the request names a belief that is older than the event. */
async function existedBefore(ports: Ports, request: ForgetRequest, event: number): Promise<boolean> {
  const belief = await nullIfNotFound(() => findBelief(ports, request))
  const [first] = belief === null ? [] : await ports.store.history(belief.user, belief.id)
  return first !== undefined && first.event.number < event
}

async function findBeliefsToForget(ports: Ports, request: ForgetRequest): Promise<readonly Belief[]> {
  const withdrawn = await findWithdrawnBelief(ports, request)
  if (withdrawn !== null) return [withdrawn]
  const belief = requireVersion(await findBelief(ports, request), request)
  const chain = (await readChain(ports, belief)).filter(
    ({ id, content }) => request.wholeChain === true || id === belief.id || isSameStatement(content, belief.content),
  )
  const proposals = await Promise.all(chain.map(({ user, id }) => ports.store.proposalsFor(user, id)))
  const taken = proposals.flat().filter((proposal) => !isProtected(request.author, proposal))
  return [...new Map([...chain, ...taken].map((belief) => [belief.id, belief])).values()]
}

/** Whether a proposal outranks the author, so that it stays when the author forgets the belief that it would correct. */
const isProtected = (author: ChangeRequest['author'], proposal: Belief): boolean =>
  outranks(
    { actor: authorityOf(proposal) },
    { editedByPerson: false, provenance: { ...proposal.provenance, ...author } },
  )

async function findProtectedProposals(
  { store }: Ports,
  { user, author }: ChangeRequest,
  ids: ReadonlySet<string>,
): Promise<readonly Belief[]> {
  const proposals = await Promise.all([...ids].map((id) => store.proposalsFor(user, id)))
  return proposals.flat().filter((proposal) => isProtected(author, proposal))
}

/** The last state of a belief that an undo withdrew: no read path finds it, but the journal still contains its text. */
async function findWithdrawnBelief({ store }: Ports, { user, reference }: BeliefReference): Promise<Belief | null> {
  const revisions = await store.history(user, reference.trim())
  const last = revisions.at(-1)
  const belief = revisions.findLast((revision) => revision.belief !== null)?.belief ?? null
  return last?.outcome !== 'absent' || belief === null ? null : { ...belief, version: last.version }
}
