import { mayChange } from '../../beliefs/authority.ts'
import type { Belief } from '../../beliefs/belief.ts'
import { mergeAliases, nameKey } from '../../beliefs/identity.ts'
import type { EventKind } from '../../beliefs/journal.ts'
import { parseScopes } from '../../beliefs/scope.ts'
import { MemoryError } from '../../errors.ts'
import type { BeliefReference } from '../find-belief.ts'
import { currentBelief, type VersionExpectation } from './correct.ts'
import { limits, parseForm, parseText } from './draft.ts'
import { refuseSecrets } from './refuse-secrets.ts'
import { proposal } from './remember.ts'
import { type ChangeRequest, change, type Ports, revised, stateAfter } from './transaction.ts'

export type EditRequest = ChangeRequest & BeliefReference & VersionExpectation

/** `unchanged`: it was like that already. `proposed`: the author may not change it, so someone else must decide. */
export type Edited = {
  readonly outcome: 'edited' | 'unchanged' | 'proposed'
  readonly belief: Belief
  readonly event: number | null
}

/** Recalls the belief in its scope whatever the message says. */
export const pin = (ports: Ports, request: EditRequest): Promise<Edited> =>
  edit(ports, { ...request, operation: 'pin' }, 'pin', () => ({ pinned: true }))

export const unpin = (ports: Ports, request: EditRequest): Promise<Edited> =>
  edit(ports, { ...request, operation: 'unpin' }, 'unpin', () => ({ pinned: false }))

/** Confirms a belief: it counts as said once more, now. Anyone may. */
export const reinforce = (ports: Ports, request: EditRequest): Promise<Edited> =>
  edit(ports, { ...request, operation: 'reinforce' }, 'reinforce', (belief, at) => ({
    reinforcement: { count: belief.reinforcement.count + 1, at },
  }))

export const addAliases = (
  ports: Ports,
  request: EditRequest & { readonly aliases: readonly string[] },
): Promise<Edited> =>
  edit(ports, { ...request, operation: 'add aliases' }, 'alias', (belief) => ({
    aliases: withAliases(belief, belief.aliases, request.aliases),
  }))

export const removeAliases = (
  ports: Ports,
  request: EditRequest & { readonly aliases: readonly string[] },
): Promise<Edited> =>
  edit(ports, { ...request, operation: 'remove aliases' }, 'alias', (belief) => ({
    aliases: withoutAliases(belief, request.aliases),
  }))

/** Changes what an agent should do about a belief, without changing what is true. */
export const setWhy = (ports: Ports, request: EditRequest & { readonly why: string }): Promise<Edited> =>
  edit(ports, { ...request, operation: 'set why' }, 'edit', () => ({ why: parseWhy(request.why) }))

/** Everything that can be changed about a belief without making another statement of it. */
export type Edits = {
  readonly why?: string
  readonly pinned?: boolean
  readonly addAliases?: readonly string[]
  readonly removeAliases?: readonly string[]
  /** All the scopes it is to have. */
  readonly scopes?: readonly string[]
}

/** Makes several edits as one change, which undo takes back as one. */
export const editBelief = (ports: Ports, request: EditRequest & { readonly edits: Edits }): Promise<Edited> =>
  edit(ports, { ...request, operation: 'edit' }, kindOf(request.edits), (belief) => editedFields(belief, request.edits))

/** The fields of a belief that edits would change, checked. */
export function editedFields(belief: Belief, edits: Edits): Partial<Belief> {
  const { why, pinned, addAliases: added = [], removeAliases: removed = [], scopes } = edits
  if (scopes?.length === 0) {
    throw new MemoryError('invalid', 'A belief needs at least one scope.', { hint: 'Forget it if it holds nowhere.' })
  }
  return {
    ...(why === undefined ? {} : { why: parseWhy(why) }),
    ...(pinned === undefined ? {} : { pinned }),
    ...(added.length + removed.length === 0
      ? {}
      : { aliases: withAliases(belief, withoutAliases(belief, removed), added) }),
    ...(scopes === undefined ? {} : { scopes: parseScopes(scopes) }),
  }
}

/** The narrowest word for what is done, so that a journal reads well. */
function kindOf({ why, pinned, addAliases: added, removeAliases: removed, scopes }: Edits): EventKind {
  if (why !== undefined || scopes !== undefined) return 'edit'
  if (pinned === undefined) return 'alias'
  return added !== undefined || removed !== undefined ? 'edit' : pinned ? 'pin' : 'unpin'
}

const parseWhy = (why: string): string => (why.trim() === '' ? '' : parseText('why', why, limits.why))

function withAliases(belief: Belief, known: readonly string[], added: readonly string[]): readonly string[] {
  const aliases = mergeAliases(
    belief.name,
    known,
    added.map((alias) => parseForm('alias', alias)),
  )
  if (aliases.length <= limits.aliases) return aliases
  throw new MemoryError('invalid', `A belief has at most ${limits.aliases} aliases.`, { hint: 'Remove some first.' })
}

function withoutAliases(belief: Belief, removed: readonly string[]): readonly string[] {
  const unwanted = new Set(removed.map(nameKey))
  const missing = [...unwanted].filter((key) => !belief.aliases.some((alias) => nameKey(alias) === key))
  if (missing.length > 0) {
    throw new MemoryError('not_found', `"${belief.name}" has no alias "${missing[0]}".`, {
      hint: `Its aliases: ${belief.aliases.join(', ') || 'none'}.`,
    })
  }
  return belief.aliases.filter((alias) => !unwanted.has(nameKey(alias)))
}

async function edit(
  ports: Ports,
  request: EditRequest & { readonly operation: string },
  kind: EventKind,
  fields: (belief: Belief, at: string) => Partial<Belief>,
): Promise<Edited> {
  return change<Edited>(
    ports,
    request,
    async (at) => {
      const belief = await currentBelief(ports, request)
      const { actor } = request.author
      if (isUnchanged(belief, fields(belief, at)))
        return { kind: 'nothing', result: { outcome: 'unchanged', belief, event: null } }
      const { why, aliases = [], scopes = [] } = fields(belief, at)
      await refuseSecrets(request.author, { why, aliases: aliases.filter((alias) => !belief.aliases.includes(alias)) })
      await refuseTakenScopes(ports, belief, scopes)
      if (kind !== 'reinforce' && !mayChange(actor, belief)) {
        const provenance = { ...request.author, sourceId: null, model: null, at }
        const wish = {
          ...belief,
          ...fields(belief, at),
          id: ports.newId(),
          editedByPerson: false,
          provenance,
          version: 1,
          createdAt: at,
          updatedAt: at,
        }
        return proposal(
          ports,
          [belief],
          wish,
          at,
          ({ belief: proposed, event }): Edited => ({ outcome: 'proposed', belief: proposed, event }),
        )
      }
      const editedByPerson = belief.editedByPerson || (actor === 'person' && kind !== 'reinforce')
      const revision = revised(belief, at, { ...fields(belief, at), editedByPerson })
      return {
        kind,
        changes: [revision],
        result: (event) => ({ outcome: 'edited', belief: revision.after, event: event.number }),
      }
    },
    async (event) => ({
      outcome: event.kind === 'propose' ? 'proposed' : 'edited',
      belief: await stateAfter(ports, event, event.beliefIds[0] as string),
      event: event.number,
    }),
  )
}

const isUnchanged = (belief: Belief, fields: Partial<Belief>): boolean =>
  Object.entries(fields).every(
    ([field, value]) => JSON.stringify(belief[field as keyof Belief]) === JSON.stringify(value),
  )

/** In each scope a name belongs to one belief. */
async function refuseTakenScopes({ store }: Ports, belief: Belief, scopes: readonly string[]): Promise<void> {
  const entered = scopes.filter((scope) => !belief.scopes.includes(scope))
  if (entered.length === 0) return
  const taken = (await store.holders(belief.user, belief.name, entered)).find(({ id }) => id !== belief.id)
  if (taken === undefined) return
  throw new MemoryError(
    'conflict',
    `The name "${belief.name}" already belongs to ${taken.id} in ${entered.join(' ')}.`,
    {
      hint: `Correct ${taken.id} instead, or choose another scope.`,
    },
  )
}
