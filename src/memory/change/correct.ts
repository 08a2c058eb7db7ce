import { isDeepStrictEqual } from 'node:util'
import { authorityOf, type Belief, type BeliefType, mayChange } from '../../beliefs/belief.ts'
import { nameKey } from '../../beliefs/identity.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import { type BeliefReference, currentBelief, requireFreeName, type VersionExpectation } from '../find-belief.ts'
import type { Ports } from '../ports.ts'
import { reasonToWait } from './authority.ts'
import { type BeliefDraft, fieldsOfType, parseDraft, refuseSecrets } from './draft.ts'
import { inherit, newBelief, proposal, replacedBy, superseded } from './remember.ts'
import { type ChangeRequest, change, created, stateAfter } from './transaction.ts'

export type CorrectRequest = ChangeRequest &
  BeliefReference &
  VersionExpectation &
  Pick<BeliefDraft, 'content' | 'why' | 'aliases' | 'type' | 'status' | 'confidence'> & {
    /** A new name; the old one stays as an alias. */
    readonly name?: string
    readonly model?: string
    readonly sourceId?: string
  }

export type Corrected = {
  /** `unchanged`: the belief says this already, and nothing was written. */
  readonly outcome: 'corrected' | 'proposed' | 'unchanged'
  readonly belief: Belief
  readonly replaced: readonly Belief[]
  /** Null when nothing was written. */
  readonly event: number | null
}

/** Replaces a belief by a newer one. The old one is kept and never recalled again. */
export async function correct(ports: Ports, request: CorrectRequest): Promise<Corrected> {
  return change<Corrected>(
    ports,
    { ...request, operation: 'correct' },
    async (at) => {
      const old = await currentBelief(ports, request)
      const { user, author, content, name = old.name, why, confidence, status = 'active', aliases = [] } = request
      await refuseSecrets(author, { ...request, name })
      const { allowedAliases } = await import('./aliases.ts')
      const allowed = await allowedAliases(ports, author, { ...old, name, content, aliases })
      const statement = parseDraft({
        ...draftOf(old, request.type ?? old.type),
        ...omitUndefined({ why, confidence }),
        name,
        content,
        status,
        aliases: allowed.aliases,
      })
      const provenance = { ...author, sourceId: request.sourceId ?? null, model: request.model ?? null, at }
      const belief = inherit(newBelief(ports, { user, statement, provenance }), [old])
      if (saysTheSame(old, belief))
        return { kind: 'nothing', result: { outcome: 'unchanged', belief: old, replaced: [], event: null } }
      if (nameKey(old.name) !== nameKey(belief.name))
        await requireFreeName(ports, belief, {
          except: [old.id],
          hint: ({ id }) => `Correct ${id} instead, or choose another name.`,
        })
      if (!mayChange(author, old) || (await reasonToWait(author, belief)) !== null)
        return proposal(ports, old, belief, at)
      return {
        kind: 'correct',
        changes: [created(belief), superseded(old, belief, at)],
        result: (event) => ({ outcome: 'corrected', belief, replaced: [old], event: event.number }),
      }
    },
    async (event, made) => {
      const belief = await stateAfter(ports, event, made)
      const replaced = await replacedBy(ports, event, belief)
      return { outcome: event.kind === 'propose' ? 'proposed' : 'corrected', belief, replaced, event: event.number }
    },
  )
}

const compared = [
  ...(['name', 'content', 'scopes', 'type', 'subtype', 'aliases', 'why', 'status', 'confidence', 'pinned'] as const),
  ...(['agent', 'participants', 'relation', 'expertise'] as const),
]

/** Whether a correction has no effect. A person who repeats what another author wrote makes it their own. */
const saysTheSame = (old: Belief, belief: Belief): boolean =>
  compared.every((field) => isDeepStrictEqual(old[field], belief[field])) &&
  (!belief.editedByPerson || authorityOf(old) === 'person')

/** The fields that a correction keeps by default. The confidence in the old statement says nothing about the new one. */
function draftOf(belief: Belief, type: BeliefType): BeliefDraft {
  const { name, content, scopes, why, pinned, agent } = belief
  return { name, content, scopes, type, why, pinned, agent, ...fieldsOfType(type, belief) }
}
