import { createHash } from 'node:crypto'
import type { ActorKind, Belief } from '../../beliefs/belief.ts'
import type { BeliefChange, Commit, EventKind, JournalEvent } from '../../beliefs/journal.ts'
import { MemoryError } from '../../errors.ts'
import type { Embedder } from '../../search/embedder.ts'
import type { Store } from '../store.ts'

/** What every use case works with. Nothing here reads the clock, the disk or chance by itself. */
export type Ports = {
  readonly store: Store
  readonly now: () => Date
  readonly newId: () => string
  /** A store with nothing in it that is gone with the process; needed to look at the memory as it was. */
  readonly emptyStore?: () => Promise<Store>
  /** The model that says what sentences mean, where one is to be used. */
  readonly embedder?: () => Promise<Embedder>
}

/** Who is changing the memory. Set by the channel the request came through, never by what it says. */
export type Author = { readonly actor: ActorKind; readonly origin: string }

/** Part of every request that changes something. */
export type ChangeRequest = {
  readonly user: string
  readonly author: Author
  /** A retry with the same key has no second effect. */
  readonly key?: string
}

/** What a use case wants to do after looking at the store: change something, or leave it because nothing has to. */
export type Decision<Result> =
  | (Pick<Commit, 'turns' | 'forgottenTurns'> & {
      readonly kind: EventKind
      readonly changes: readonly BeliefChange[]
      readonly undoes?: number
      readonly result: (event: JournalEvent) => Result
    })
  | { readonly kind: 'nothing'; readonly result: Result }

const mostAttempts = 50

/**
 * Reads, decides and commits; if another process got in between, reads and decides again. `replay` answers for a
 * request whose key was used before; `operation` keeps requests of the same form but another meaning apart.
 */
export async function change<Result>(
  { store, now }: Ports,
  request: ChangeRequest & { readonly operation: string },
  decide: (at: string) => Promise<Decision<Result>>,
  replay: (event: JournalEvent) => Promise<Result>,
): Promise<Result> {
  const key = request.key === undefined ? null : { value: request.key, fingerprint: fingerprintOf(request) }
  if (key !== null) {
    const earlier = await store.eventByKey(request.user, key.value)
    if (earlier !== null) {
      if (earlier.key?.fingerprint === key.fingerprint) return replay(earlier)
      throw keyReused(key.value)
    }
  }
  for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
    const at = now().toISOString()
    const decision = await decide(at)
    if (decision.kind === 'nothing') return decision.result
    const { kind, changes, undoes = null, turns = [], forgottenTurns = [] } = decision
    const { actor, origin } = request.author
    const committed = await store.commit({
      user: request.user,
      kind,
      actor,
      origin,
      at,
      key,
      undoes,
      changes,
      turns,
      forgottenTurns,
    })
    switch (committed.outcome) {
      case 'committed':
        return decision.result(committed.event)
      case 'replayed':
        return replay(committed.event)
      case 'stale':
        continue
    }
  }
  throw new MemoryError(
    'conflict',
    `The memory of "${request.user}" kept changing; gave up after ${mostAttempts} attempts.`,
    {
      hint: 'Try again when fewer programs are writing.',
    },
  )
}

export const created = (belief: Belief): BeliefChange => ({
  beliefId: belief.id,
  expectedVersion: 0,
  outcome: 'present',
  after: belief,
})

/** The belief with some fields changed, one version on. */
export function revised(
  belief: Belief,
  at: string,
  fields: Partial<Belief>,
): BeliefChange & { readonly after: Belief } {
  const after = { ...belief, ...fields, updatedAt: at, version: belief.version + 1 }
  return { beliefId: belief.id, expectedVersion: belief.version, outcome: 'present', after }
}

export const withdrawn = (belief: Belief): BeliefChange => ({
  beliefId: belief.id,
  expectedVersion: belief.version,
  outcome: 'absent',
  after: null,
})

export const erased = (belief: Belief): BeliefChange => ({
  beliefId: belief.id,
  expectedVersion: belief.version,
  outcome: 'erased',
  after: null,
})

/** The state of a belief right after an event, for answering a repeated request. */
export async function stateAfter({ store }: Ports, event: JournalEvent, beliefId: string): Promise<Belief> {
  const revisions = await store.revisions(event.user, event.number)
  const belief = revisions.find((revision) => revision.beliefId === beliefId)?.belief
  if (belief) return belief
  throw new MemoryError('not_found', `The belief ${beliefId} of event ${event.number} has been forgotten.`)
}

function fingerprintOf(request: object): string {
  return createHash('sha256')
    .update(JSON.stringify(inKeyOrder(request)))
    .digest('hex')
}

/** The same value with its keys in order, so that equal values are equal texts. */
export function inKeyOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inKeyOrder)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, inner]) => [name, inKeyOrder(inner)]),
  )
}

const keyReused = (key: string): MemoryError =>
  new MemoryError('conflict', `The idempotency key "${key}" was used before for another request.`, {
    hint: 'Use a new key for a new request.',
  })
