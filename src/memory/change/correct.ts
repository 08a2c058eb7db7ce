import { mayChange } from '../../beliefs/authority.ts'
import { type Belief, type BeliefType, isCurrent } from '../../beliefs/belief.ts'
import { nameKey } from '../../beliefs/identity.ts'
import { MemoryError } from '../../errors.ts'
import { type BeliefReference, findBelief } from '../find-belief.ts'
import { type BeliefDraft, parseDraft } from './draft.ts'
import { refuseSecrets } from './refuse-secrets.ts'
import { inherit, newBelief, proposal, replacedBy, superseded } from './remember.ts'
import { type ChangeRequest, change, created, type Ports, stateAfter } from './transaction.ts'

export type CorrectRequest = ChangeRequest &
  BeliefReference &
  VersionExpectation & {
    readonly content: string
    /** A new name; the old one stays as an alias. */
    readonly name?: string
    readonly why?: string
    readonly aliases?: readonly string[]
    readonly type?: BeliefDraft['type']
    readonly status?: BeliefDraft['status']
    readonly confidence?: number
    readonly model?: string
    readonly sourceId?: string
  }

export type Corrected = {
  readonly outcome: 'corrected' | 'proposed'
  readonly belief: Belief
  readonly replaced: readonly Belief[]
  readonly event: number
}

/** Replaces a belief by a newer one. The old one is kept and never recalled again. */
export async function correct(ports: Ports, request: CorrectRequest): Promise<Corrected> {
  return change<Corrected>(
    ports,
    { ...request, operation: 'correct' },
    async (at) => {
      const old = await currentBelief(ports, request)
      await refuseSecrets(request.author, { ...request, name: request.name ?? old.name })
      const statement = parseDraft({
        ...draftOf(old, request.type ?? old.type),
        content: request.content,
        ...(request.name === undefined ? {} : { name: request.name }),
        ...(request.why === undefined ? {} : { why: request.why }),
        ...(request.confidence === undefined ? {} : { confidence: request.confidence }),
        status: request.status ?? 'active',
        aliases: request.aliases ?? [],
      })
      const provenance = { ...request.author, sourceId: request.sourceId ?? null, model: request.model ?? null, at }
      const belief = inherit(newBelief(ports, { user: request.user, statement, provenance }), [old])
      await refuseTakenName(ports, old, belief)
      if (!mayChange(request.author.actor, old)) {
        return proposal(ports, [old], belief, at, (made): Corrected => ({ ...made, outcome: 'proposed' }))
      }
      return {
        kind: 'correct',
        changes: [created(belief), superseded(old, belief, at)],
        result: (event) => ({ outcome: 'corrected', belief, replaced: [old], event: event.number }),
      }
    },
    async (event) => {
      const belief = await stateAfter(ports, event, event.beliefIds[0] as string)
      const replaced = await replacedBy(ports, event, belief)
      return { outcome: event.kind === 'propose' ? 'proposed' : 'corrected', belief, replaced, event: event.number }
    },
  )
}

/** Which version somebody was looking at when they decided on a change. */
export type VersionExpectation = {
  /** If the belief has changed since, nothing is done. */
  readonly expectedVersion?: number
}

/** Finds a belief that can still be changed, or says what became of it. */
export async function currentBelief(ports: Ports, reference: BeliefReference & VersionExpectation): Promise<Belief> {
  const belief = await findBelief(ports, reference)
  if (isCurrent(belief)) return requireVersion(belief, reference)
  if (belief.supersededBy !== null) {
    throw new MemoryError(
      'conflict',
      `The belief ${belief.id} ("${belief.name}") was superseded by ${belief.supersededBy}.`,
      {
        hint: `Use ${belief.supersededBy}, or undo the correction first.`,
      },
    )
  }
  if (belief.proposedFor !== null) {
    throw new MemoryError('conflict', `The belief ${belief.id} is only proposed.`, {
      hint: 'Accept or reject it with `credence proposals`.',
    })
  }
  if (belief.candidate) {
    throw new MemoryError('conflict', `The belief ${belief.id} is a candidate that nobody has confirmed yet.`, {
      hint: `Run \`credence confirm ${belief.id}\`, or reject it with \`credence proposals reject ${belief.id}\`.`,
    })
  }
  throw new MemoryError('conflict', `The belief ${belief.id} ("${belief.name}") is no longer open to change.`, {
    hint: 'See what happened to it with `credence history`.',
  })
}

/** Nobody decides about what they have not seen. */
export function requireVersion(belief: Belief, { expectedVersion }: VersionExpectation): Belief {
  if (expectedVersion === undefined || expectedVersion === belief.version) return belief
  throw new MemoryError(
    'conflict',
    `The belief ${belief.id} ("${belief.name}") is at version ${belief.version} now, not ${expectedVersion}.`,
    { hint: 'Somebody changed it meanwhile. Look at it again, then repeat the change if it is still wanted.' },
  )
}

async function refuseTakenName({ store }: Ports, old: Belief, belief: Belief): Promise<void> {
  if (nameKey(old.name) === nameKey(belief.name)) return
  const taken = (await store.holders(old.user, belief.name, belief.scopes)).find((holder) => holder.id !== old.id)
  if (taken === undefined) return
  throw new MemoryError(
    'conflict',
    `The name "${belief.name}" already belongs to ${taken.id} in ${taken.scopes.join(' ')}.`,
    {
      hint: `Correct ${taken.id} instead, or choose another name.`,
    },
  )
}

/** What a correction keeps unless told otherwise. How sure one was of the old statement says nothing about the new. */
function draftOf(belief: Belief, type: BeliefType): BeliefDraft {
  const { name, content, scopes, why, pinned, agent } = belief
  const kept = { name, content, scopes, type, why, pinned, agent }
  if (type === 'preference') return { ...kept, subtype: belief.subtype, expertise: belief.expertise }
  if (type === 'relation') return { ...kept, participants: belief.participants, relation: belief.relation }
  return kept
}
