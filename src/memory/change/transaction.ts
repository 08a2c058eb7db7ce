import { hash } from 'node:crypto'
import type { Belief } from '../../beliefs/belief.ts'
import type { CommitResult } from '../../beliefs/belief-store.ts'
import {
  type BeliefChange,
  type Commit,
  type EventKind,
  isForgetting,
  type JournalEvent,
} from '../../beliefs/journal.ts'
import { conflict, notFound } from '../../errors.ts'
import { canonicalJson } from '../../json.ts'
import type { Author, Ports } from '../ports.ts'
import { requireAuthority, requireRoomForBeliefs } from './authority.ts'

/** The fields of every request that changes something. */
export type ChangeRequest = {
  readonly user: string
  readonly author: Author
  /** Idempotency key: a retry with the same key has no second effect. */
  readonly key?: string
}

/** A commit without its author, time and key. */
export type Write = Pick<Commit, 'turns' | 'forgottenTurns'> & {
  readonly kind: EventKind
  readonly changes: readonly BeliefChange[]
  readonly undoes?: number
}

/** The decision that a use case makes after reading the store. Without `result`, `replay` makes the answer. */
export type Decision<Result> =
  | (Write & { readonly result?: (event: JournalEvent) => Result })
  | { readonly kind: 'nothing'; readonly result: Result }

const maxAttempts = 50

/**
 * Reads, decides and commits; starts again if another process committed in between. `replay` derives the answer from the event,
 * even if an earlier request with the same key made it. `made` is given only if this call committed the changes. A change
 * without a key may omit `replay`. `operation` distinguishes requests with the same key and fields but different effects.
 */
export async function change<Result>(
  ports: Ports,
  request: ChangeRequest & { readonly operation: string },
  decide: (at: string) => Promise<Decision<Result>>,
  replay: (event: JournalEvent, made?: readonly BeliefChange[]) => Promise<Result> = noReplay,
): Promise<Result> {
  const { store, now } = ports
  const { user, author } = request
  const key = request.key === undefined ? null : await requestKeyOf(request.key, request)
  const earlier = key === null ? null : await store.eventByKey(user, key)
  if (earlier !== null) return replay(earlier)
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const at = now().toISOString()
    const decision = await decide(at)
    if (decision.kind === 'nothing') return decision.result
    const { result = replay, undoes = null, turns = [], forgottenTurns = [], ...write } = decision
    requireAuthority(author, write.changes)
    await requireRoomForBeliefs({ store, now }, { user, ...author }, write)
    const committed = await commitThrough(ports, { user, ...author, at, key, undoes, turns, forgottenTurns, ...write })
    switch (committed.outcome) {
      case 'committed':
        return result(committed.event, write.changes)
      case 'replayed':
        return replay(committed.event)
      case 'stale':
        continue
    }
  }
  throw conflict(
    `The memory of "${user}" kept changing; gave up after ${maxAttempts} attempts.`,
    'Try again when fewer programs write to it.',
  )
}

/** Every commit to a memory goes through this function, except events that a sync takes from other devices. */
export async function commitThrough(ports: Ports, commit: Commit): Promise<CommitResult> {
  const { store, checkCommit, afterCommit } = ports
  checkCommit?.(commit)
  const result = await (isForgetting(commit) ? commitErasing(ports, commit) : store.commit(commit))
  if (result.outcome === 'committed') await afterCommit?.(commit)
  return result
}

async function commitErasing(ports: Ports, commit: Commit): Promise<CommitResult> {
  const { store, commitForgetting = store.commit } = ports
  const { fingerprintErased } = await import('../sync/fingerprints.ts')
  const fingerprints = await fingerprintErased(ports, commit)
  return commitForgetting(fingerprints.length === 0 ? commit : { ...commit, fingerprints })
}

const noReplay = (): Promise<never> => Promise.reject(new Error('A change without a key cannot be replayed.'))

export const createChange = (belief: Belief): BeliefChange & { readonly after: Belief } => ({
  beliefId: belief.id,
  expectedVersion: 0,
  outcome: 'present',
  after: belief,
})

/** The belief with some fields changed, at the next version. */
export function reviseChange(
  belief: Belief,
  at: string,
  fields: Partial<Belief>,
): BeliefChange & { readonly after: Belief } {
  const after = { ...belief, ...fields, updatedAt: at, version: belief.version + 1 }
  return { beliefId: belief.id, expectedVersion: belief.version, outcome: 'present', after }
}

const removeChange = ({ id, version }: Belief, outcome: 'absent' | 'erased'): BeliefChange => ({
  beliefId: id,
  expectedVersion: version,
  outcome,
  after: null,
})

export const withdrawChange = (belief: Belief): BeliefChange => removeChange(belief, 'absent')
export const eraseChange = (belief: Belief): BeliefChange => removeChange(belief, 'erased')

/** The first belief of an event, as it was right after the event. */
export async function stateAfter(
  { store }: Ports,
  event: JournalEvent,
  made: readonly BeliefChange[] = [],
): Promise<Belief> {
  const [beliefId] = event.beliefIds
  const after = made.find((change) => change.beliefId === beliefId)?.after
  if (after) return after
  const revisions = await store.revisions(event.user, event.number)
  const belief = revisions.find((revision) => revision.beliefId === beliefId)?.belief
  if (belief) return belief
  throw notFound(`The belief ${beliefId} of event ${event.number} has been forgotten.`)
}

async function requestKeyOf(given: string, request: object): Promise<NonNullable<Commit['key']>> {
  const { maskId } = await import('../learn/secrets.ts')
  return { value: maskId(given), fingerprint: hash('sha256', canonicalJson(request)) }
}
