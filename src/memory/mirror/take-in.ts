import { type Belief, isCurrent } from '../../beliefs/belief.ts'
import { isSameStatement, nameKey } from '../../beliefs/identity.ts'
import { MemoryError } from '../../errors.ts'
import { type BeliefDraft, parseDraft } from '../draft.ts'
import { nameStatement } from '../markdown/name-statement.ts'
import { newBelief, proposal, superseded } from '../remember.ts'
import { type Author, change, created, type Decision, type Workshop, withdrawn } from '../workshop.ts'
import type { ItemFields } from './item.ts'

/** Whoever wrote the file: somebody, or any program. So it is never more than a document's word. */
export const fileAuthor: Author = { actor: 'import', origin: 'file' }

type Taking = { readonly workshop: Workshop; readonly user: string; readonly file: string }

/** Null when the belief changed since it was weighed; then it has to be weighed again. */
export async function takeCorrection(
  { workshop, user, file }: Taking,
  old: Belief,
  fields: ItemFields,
): Promise<Belief | null> {
  return change<Belief | null>(
    workshop,
    { user, author: fileAuthor, operation: 'mirror correct' },
    async (at) => {
      const now = await workshop.store.get(user, old.id)
      if (now === null || now.version !== old.version) return { kind: 'nothing', result: null }
      const statement = parseDraft(correctedDraft(now, fields))
      const taken = (await workshop.store.holders(user, statement.name, statement.scopes)).find(
        ({ id }) => id !== now.id,
      )
      if (taken !== undefined) throw nameTaken(statement.name, taken)
      const belief = newBelief(workshop, { user, statement, provenance: provenance(file, at) })
      return { kind: 'correct', changes: [created(belief), superseded(now, belief, at)], result: () => belief }
    },
    neverReplayed,
  )
}

/** A line that is new. The same name in the same scope is the same belief; a name we made up ourselves gives way. */
export async function takeNew(
  { workshop, user, file }: Taking,
  fields: ItemFields,
  isNamed: boolean,
): Promise<Belief | null> {
  return change<Belief | null>(
    workshop,
    { user, author: fileAuthor, operation: 'mirror add' },
    async (at) => {
      const named = isNamed ? { ...fields, isGiven: true } : { ...fields, ...nameStatement(fields.content) }
      const { statement, holders } = await namedStatement(workshop, user, named)
      const [holder] = holders
      if (holder !== undefined && holders.length === 1 && isSameStatement(holder.content, statement.content))
        return { kind: 'nothing', result: holder }
      const belief = newBelief(workshop, { user, statement, provenance: provenance(file, at) })
      return {
        kind: holders.length === 0 ? 'remember' : 'correct',
        changes: [created(belief), ...holders.map((held) => superseded(held, belief, at))],
        result: () => belief,
      }
    },
    neverReplayed,
  )
}

async function namedStatement(
  { store }: Workshop,
  user: string,
  fields: ItemFields & { readonly isGiven: boolean },
): Promise<{ readonly statement: ReturnType<typeof parseDraft>; readonly holders: readonly Belief[] }> {
  for (let attempt = 1; ; attempt += 1) {
    const name = attempt === 1 ? fields.name : `${fields.name} ${attempt}`
    const statement = parseDraft({ ...draftOf(fields), name })
    const holders = await store.holders(user, statement.name, statement.scopes)
    const isFree = holders.every(({ content }) => isSameStatement(content, statement.content))
    if (fields.isGiven || isFree || attempt >= 1_000) return { statement, holders }
  }
}

/** Keeps the file's version beside what the store says, for a person to decide. */
export async function takeConflict(
  { workshop, user, file }: Taking,
  current: Belief,
  fields: ItemFields,
): Promise<Belief | null> {
  return change<Belief | null>(
    workshop,
    { user, author: fileAuthor, operation: 'mirror conflict' },
    async (at) => {
      const target = await workshop.store.get(user, current.id)
      if (target === null || !isCurrent(target)) return { kind: 'nothing', result: null }
      const statement = parseDraft(correctedDraft(target, fields))
      const belief = newBelief(workshop, { user, statement, provenance: provenance(file, at) })
      const waiting = await workshop.store.proposalsFor(user, target.id)
      const same = waiting.find(({ content, why }) => content === belief.content && why === belief.why)
      if (same !== undefined) return { kind: 'nothing', result: same }
      return proposal(workshop, [target], belief, at, ({ belief: proposed }): Belief | null => proposed)
    },
    neverReplayed,
  )
}

/** Takes out what is no longer in the file. Nothing is lost: its history is kept, and undo brings it back. */
export async function retire({ workshop, user }: Taking, beliefs: readonly Belief[]): Promise<readonly string[]> {
  return change<readonly string[]>(
    workshop,
    { user, author: fileAuthor, operation: 'mirror retire' },
    async (): Promise<Decision<readonly string[]>> => {
      const now = await workshop.store.getMany(
        user,
        beliefs.map(({ id }) => id),
      )
      const asWeighed = now.filter((belief) =>
        beliefs.some(({ id, version }) => id === belief.id && version === belief.version),
      )
      if (asWeighed.length === 0) return { kind: 'nothing', result: [] }
      return { kind: 'retire', changes: asWeighed.map(withdrawn), result: () => asWeighed.map(({ id }) => id) }
    },
    neverReplayed,
  )
}

const provenance = (file: string, at: string) => ({ ...fileAuthor, sourceId: file, model: null, at })

const draftOf = (fields: ItemFields): BeliefDraft => ({ ...fields, status: 'inferred' })

/** Whatever the file does not show stays as it was. */
function correctedDraft(old: Belief, fields: ItemFields): BeliefDraft {
  const isRenamed = nameKey(old.name) !== nameKey(fields.name)
  const kept = {
    ...draftOf(fields),
    pinned: old.pinned,
    aliases: isRenamed ? [...fields.aliases, old.name] : fields.aliases,
  }
  if (fields.type === 'preference' && old.type === 'preference')
    return { ...kept, subtype: old.subtype, expertise: old.expertise }
  if (fields.type === 'relation' && old.type === 'relation')
    return { ...kept, participants: old.participants, relation: old.relation }
  return kept
}

const neverReplayed = (): Promise<never> => Promise.reject(new Error('a change from the file has no key to replay'))

const nameTaken = (name: string, { id, scopes }: Belief): MemoryError =>
  new MemoryError('conflict', `The name "${name}" already belongs to ${id} in ${scopes.join(' ')}.`, {
    hint: 'Choose another name for the line, or change the other one.',
  })
