import { type Belief, isCurrent } from '../../beliefs/belief.ts'
import { isSameStatement, nameKey } from '../../beliefs/identity.ts'
import { MemoryError } from '../../errors.ts'
import { type BeliefDraft, parseDraft, type Statement } from '../change/draft.ts'
import { inherit, newBelief, proposal, superseded } from '../change/remember.ts'
import { type Author, change, created, type Decision, type Ports, withdrawn } from '../change/transaction.ts'
import { nameStatement } from '../markdown/name-statement.ts'
import { refuseSecret } from '../markdown/refuse-secret.ts'
import { sameStatement } from '../markdown/same-statement.ts'
import type { ItemFields } from './item.ts'

/** Whoever wrote the file: somebody, or any program. So it is never more than a document's word. */
export const fileAuthor: Author = { actor: 'import', origin: 'file' }

type Taking = { readonly ports: Ports; readonly user: string; readonly file: string }

/** Null when the belief changed since it was weighed; then it has to be weighed again. */
export async function takeCorrection(
  { ports, user, file }: Taking,
  old: Belief,
  fields: ItemFields,
): Promise<Belief | null> {
  return change<Belief | null>(
    ports,
    { user, author: fileAuthor, operation: 'mirror correct' },
    async (at) => {
      const now = await ports.store.get(user, old.id)
      if (now === null || now.version !== old.version) return { kind: 'nothing', result: null }
      refuseSecret(fields, now)
      const statement = parseDraft(correctedDraft(now, fields))
      const taken = (await ports.store.holders(user, statement.name, statement.scopes)).find(({ id }) => id !== now.id)
      if (taken !== undefined) throw nameTaken(statement.name, taken)
      const belief = newBelief(ports, { user, statement, provenance: provenance(file, at) })
      return { kind: 'correct', changes: [created(belief), superseded(now, belief, at)], result: () => belief }
    },
    neverReplayed,
  )
}

/** What came of a new line: `known` says that it told nothing new. */
export type Addition = { readonly outcome: 'added' | 'corrected' | 'known'; readonly belief: Belief }

/** What a new line says. `isNamed` and `isTyped` tell what it says itself, and what only had to be something. */
export type NewLine = { readonly fields: ItemFields; readonly isNamed: boolean; readonly isTyped: boolean }

/** A line that is new. */
export async function takeNew({ ports, user, file }: Taking, line: NewLine): Promise<Addition> {
  return change<Addition>(
    ports,
    { user, author: fileAuthor, operation: 'mirror add' },
    async (at) => {
      const read = await readNew(ports, user, line)
      const { outcome } = read
      if (outcome === 'known') return { kind: 'nothing', result: { outcome, belief: read.belief } }
      const born = newBelief(ports, { user, statement: read.statement, provenance: provenance(file, at) })
      if (outcome === 'added')
        return { kind: 'remember', changes: [created(born)], result: () => ({ outcome, belief: born }) }
      const belief = inherit(born, read.holders)
      return {
        kind: 'correct',
        changes: [created(belief), ...read.holders.map((held) => superseded(held, belief, at))],
        result: () => ({ outcome, belief }),
      }
    },
    neverReplayed,
  )
}

type ReadLine =
  | { readonly outcome: 'known'; readonly belief: Belief }
  | { readonly outcome: 'added'; readonly statement: Statement }
  | { readonly outcome: 'corrected'; readonly statement: Statement; readonly holders: readonly Belief[] }

/**
 * What a new line comes to. The same name in the same scope is the same belief, corrected or said again; a name we made
 * up ourselves gives way, unless the same words are known by another. Reads only.
 */
export async function readNew(ports: Pick<Ports, 'store'>, user: string, line: NewLine): Promise<ReadLine> {
  const { fields, isNamed } = line
  refuseSecret(fields)
  const named = isNamed ? { ...fields, isGiven: true } : { ...fields, ...nameStatement(fields.content) }
  const { scopes, content } = fields
  const same = named.isGiven ? null : await sameStatement(ports, { user, scopes, content })
  if (same !== null) return { outcome: 'known', belief: same }
  const { statement, holders } = await namedStatement(ports, user, named)
  const [holder] = holders
  if (holder === undefined) return { outcome: 'added', statement }
  if (holders.length === 1 && isSameStatement(holder.content, statement.content))
    return { outcome: 'known', belief: holder }
  const kept = correctedDraft(holder, likewise({ ...line, fields: named }, holder))
  return { outcome: 'corrected', statement: parseDraft(kept), holders }
}

/** What a new line leaves open is as it was. Only a question that is answered is none any more. */
function likewise({ fields, isTyped }: NewLine, old: Belief): ItemFields {
  const { name, content, aliases, scopes } = fields
  const type = isTyped || old.type === 'open_question' ? fields.type : old.type
  return { name, content, aliases, scopes, type, why: fields.why === '' ? old.why : fields.why }
}

async function namedStatement(
  { store }: Pick<Ports, 'store'>,
  user: string,
  fields: ItemFields & { readonly isGiven: boolean },
): Promise<{ readonly statement: Statement; readonly holders: readonly Belief[] }> {
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
  { ports, user, file }: Taking,
  current: Belief,
  fields: ItemFields,
): Promise<Belief | null> {
  return change<Belief | null>(
    ports,
    { user, author: fileAuthor, operation: 'mirror conflict' },
    async (at) => {
      const target = await ports.store.get(user, current.id)
      if (target === null || !isCurrent(target)) return { kind: 'nothing', result: null }
      refuseSecret(fields, target)
      const statement = parseDraft(correctedDraft(target, fields))
      const belief = newBelief(ports, { user, statement, provenance: provenance(file, at) })
      const waiting = await ports.store.proposalsFor(user, target.id)
      const same = waiting.find(({ content, why }) => content === belief.content && why === belief.why)
      if (same !== undefined) return { kind: 'nothing', result: same }
      return proposal(ports, [target], belief, at, ({ belief: proposed }): Belief | null => proposed)
    },
    neverReplayed,
  )
}

/** Takes out what is no longer in the file. Nothing is lost: its history is kept, and undo brings it back. */
export async function retire({ ports, user }: Taking, beliefs: readonly Belief[]): Promise<readonly string[]> {
  return change<readonly string[]>(
    ports,
    { user, author: fileAuthor, operation: 'mirror retire' },
    async (): Promise<Decision<readonly string[]>> => {
      const now = await ports.store.getMany(
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
