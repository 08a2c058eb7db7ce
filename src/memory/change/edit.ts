import { type Belief, mayChange } from '../../beliefs/belief.ts'
import { mergeAliases, nameKey } from '../../beliefs/identity.ts'
import type { EventKind } from '../../beliefs/journal.ts'
import { parseScopes } from '../../beliefs/scope.ts'
import { invalid, notFound } from '../../errors.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import { type BeliefReference, currentBelief, requireFreeName, type VersionExpectation } from '../find-belief.ts'
import type { Ports } from '../ports.ts'
import { filterAliases, refusalText } from './aliases.ts'
import { reasonToWait } from './authority.ts'
import { limits, parseForm, parseWhy, refuseSecrets } from './draft.ts'
import { proposeChange } from './remember.ts'
import { type ChangeRequest, change, reviseChange, stateAfter } from './transaction.ts'

export type EditRequest = ChangeRequest & BeliefReference & VersionExpectation

/** `unchanged`: no change was needed. `proposed`: the author may not change the belief, so a person must decide. */
export type EditResult = {
  readonly outcome: 'edited' | 'unchanged' | 'proposed'
  readonly belief: Belief
  readonly event: number | null
}

/** The fields of a belief that can be changed without changing its statement. */
export type Edits = {
  readonly why?: string
  readonly pinned?: boolean
  readonly addAliases?: readonly string[]
  readonly removeAliases?: readonly string[]
  /** All scopes of the belief after the edit. */
  readonly scopes?: readonly string[]
}

/** Makes several edits as one change, so that one undo reverts all of them. */
export const editBelief = (ports: Ports, request: EditRequest & { readonly edits: Edits }): Promise<EditResult> =>
  edit(ports, { ...request, operation: 'edit' }, kindOf(request.edits), (belief) => changeFields(belief, request.edits))

/** Counts a belief as stated once more, now. Every author may do that. */
export const reinforce = (ports: Ports, request: EditRequest): Promise<EditResult> =>
  edit(ports, { ...request, operation: 'reinforce' }, 'reinforce', (belief, at) => ({
    reinforcement: { count: belief.reinforcement.count + 1, at },
  }))

/** Checks edits, and returns the fields of the belief that they would change. */
export function changeFields(belief: Belief, edits: Edits): Partial<Belief> {
  const { why, pinned, addAliases: added = [], removeAliases: removed = [], scopes } = edits
  if (scopes?.length === 0)
    throw invalid('A belief needs at least one scope.', 'Use `credence forget` to remove the belief.')
  return omitUndefined({
    why: why === undefined ? why : parseWhy(why),
    pinned,
    aliases: added.length + removed.length === 0 ? undefined : editedAliases(belief, added, removed),
    scopes: scopes === undefined ? scopes : parseScopes(scopes),
  })
}

/** The most specific event kind, so that the journal is easy to read. */
function kindOf({ why, pinned, addAliases: added, removeAliases: removed, scopes }: Edits): EventKind {
  if (why !== undefined || scopes !== undefined) return 'edit'
  if (pinned === undefined) return 'alias'
  return added !== undefined || removed !== undefined ? 'edit' : pinned ? 'pin' : 'unpin'
}

function editedAliases({ name, aliases }: Belief, added: readonly string[], removed: readonly string[]) {
  const unwanted = new Set(removed.map(nameKey))
  const missing = [...unwanted].find((key) => !aliases.some((alias) => nameKey(alias) === key))
  if (missing !== undefined)
    throw notFound(`"${name}" has no alias "${missing}".`, `Its aliases: ${aliases.join(', ') || 'none'}.`)
  const kept = aliases.filter((alias) => !unwanted.has(nameKey(alias)))
  const parsed = added.map((alias) => parseForm('alias', alias))
  const edited = mergeAliases(name, kept, parsed)
  if (edited.length <= limits.aliases) return edited
  throw invalid(`A belief has at most ${limits.aliases} aliases.`, 'Remove some first.')
}

async function edit(
  ports: Ports,
  request: EditRequest & { readonly operation: string },
  kind: EventKind,
  fieldsOf: (belief: Belief, at: string) => Partial<Belief>,
): Promise<EditResult> {
  const { author } = request
  return change<EditResult>(
    ports,
    request,
    async (at) => {
      const belief = await currentBelief(ports, request)
      const fields = fieldsOf(belief, at)
      if (isUnchanged(belief, fields)) return { kind: 'nothing', result: { outcome: 'unchanged', belief, event: null } }
      const { why, aliases = [], scopes = [] } = fields
      const added = aliases.filter((alias) => !belief.aliases.includes(alias))
      await refuseSecrets(author, { why, aliases: added })
      if (author.actor !== 'person' && added.length > 0) {
        const [refused] = (await filterAliases(ports, author, { ...belief, aliases: added })).refused
        if (refused !== undefined) throw invalid(refusalText(refused), 'A person may add it.')
      }
      const entered = scopes.filter((scope) => !belief.scopes.includes(scope))
      await requireFreeName(
        ports,
        { ...belief, scopes: entered },
        { except: [belief.id], hint: ({ id }) => `Correct ${id} instead, or choose another scope.` },
      )
      if (kind === 'reinforce') return { kind, changes: [reviseChange(belief, at, fields)] }
      if (mayChange(author, belief) && (await reasonToWait(author, { ...belief, ...fields })) === null) {
        const editedByPerson = belief.editedByPerson || author.actor === 'person'
        return { kind, changes: [reviseChange(belief, at, { ...fields, editedByPerson })] }
      }
      const provenance = { ...author, sourceId: null, model: null, at }
      const proposed = { ...belief, ...fields, id: ports.newId(), editedByPerson: false, provenance, version: 1 }
      return proposeChange(ports, belief, { ...proposed, createdAt: at, updatedAt: at }, at)
    },
    async (event, made) => ({
      outcome: event.kind === 'propose' ? 'proposed' : 'edited',
      belief: await stateAfter(ports, event, made),
      event: event.number,
    }),
  )
}

const isUnchanged = (belief: Belief, fields: Partial<Belief>): boolean =>
  Object.entries(fields).every(
    ([field, value]) => JSON.stringify(belief[field as keyof Belief]) === JSON.stringify(value),
  )
