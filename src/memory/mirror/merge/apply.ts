import { type Belief, isCurrent } from '../../../beliefs/belief.ts'
import { isSameStatement, nameKey } from '../../../beliefs/identity.ts'
import { MemoryError } from '../../../errors.ts'
import { type BeliefDraft, parseDraft, type Statement } from '../../change/draft.ts'
import { inherit, newBelief, proposal, superseded } from '../../change/remember.ts'
import { change, created, type Decision, withdrawn } from '../../change/transaction.ts'
import { nameStatement } from '../../markdown/name-statement.ts'
import { refuseSecret } from '../../markdown/refuse-secret.ts'
import { sameStatement } from '../../markdown/same-statement.ts'
import type { Author, Ports } from '../../ports.ts'
import type { ItemBlock } from '../parse/blocks.ts'
import type { ItemFields } from '../parse/item.ts'
import type { Layout, OpenFile } from '../write/layout.ts'
import type { Clash } from './conflicts.ts'
import type { Edit, MergePlan } from './plan.ts'

/** Any program can write to the file, so an edit never counts for more than a document. */
const fileAuthor: Author = { actor: 'import', origin: 'file' }

export type EditCounts = { corrected: number; added: number; retired: number; conflicts: number }

export type Applied = {
  readonly counts: EditCounts
  /** Beliefs that were changed. */
  readonly ids: readonly string[]
  /** Items that could not become beliefs and stay as they are, with the belief they stand for, if any. */
  readonly refused: ReadonlyMap<
    ItemBlock,
    { readonly belief: Belief | null; readonly reason: string; readonly file: string }
  >
  readonly clashes: readonly Clash[]
  /** Whether the store changed after the plan was made, so that a new plan is needed. */
  readonly isStale: boolean
}

type Target = { readonly ports: Ports; readonly user: string; readonly layout: Layout }

/** Carries out a plan: each edit in the store, and its result in the open files. */
export async function applyPlan(
  { ports, user, layout }: Target,
  { edits, removed, kept }: MergePlan,
): Promise<Applied> {
  const counts = { corrected: 0, added: 0, retired: 0, conflicts: kept.length }
  const ids: string[] = kept.map(({ id }) => id)
  const refused = new Map<ItemBlock, { belief: Belief | null; reason: string; file: string }>()
  const clashes: Clash[] = kept.map((stored) => ({
    stored,
    said: null,
    note: 'It was taken out of the file, and changed in the store meanwhile; it stays.',
  }))
  let isStale = false
  const files = new Map(layout.files().map((file) => [file.name, file]))
  for (const { file, block, edit } of edits) {
    const open = files.get(file) as OpenFile
    if (edit.kind === 'duplicate') {
      open.document.remove(block)
      continue
    }
    const stored = edit.kind === 'correct' ? edit.old : edit.kind === 'conflict' ? edit.current : null
    try {
      const { outcome, belief } = await commitEdit(ports, { user, file, edit })
      if (outcome === 'stale') isStale = true
      else {
        if (stored !== null) ids.push(stored.id)
        ids.push(belief.id)
        if (outcome === 'proposed') {
          counts.conflicts += 1
          const note = `It was changed in both; the file's version waits as the proposal ${belief.id}.`
          clashes.push({ stored, said: belief, note })
        } else if (outcome !== 'known') counts[outcome] += 1
        layout.replace(open, block, outcome === 'proposed' && stored !== null ? stored : belief)
      }
    } catch (error) {
      if (!(error instanceof MemoryError) || error.code === 'unavailable') throw error
      refused.set(block, { belief: stored, reason: error.message, file })
    }
  }
  const retired = removed.length === 0 ? [] : await retire(ports, user, removed)
  counts.retired = retired.length
  ids.push(...retired)
  isStale ||= retired.length < removed.length
  return { counts, ids, refused, clashes, isStale }
}

type Committed =
  | { readonly outcome: 'corrected' | 'added' | 'known' | 'proposed'; readonly belief: Belief }
  /** The belief changed after the plan was made. */
  | { readonly outcome: 'stale'; readonly belief: null }

const stale = { kind: 'nothing', result: { outcome: 'stale', belief: null } } as const

type Request = { readonly user: string; readonly file: string; readonly edit: Exclude<Edit, { kind: 'duplicate' }> }

/** The one place where an edit of a file becomes a change of the store. */
async function commitEdit(ports: Ports, { user, file, edit }: Request): Promise<Committed> {
  const { store } = ports
  const decide = async (at: string): Promise<Decision<Committed>> => {
    const provenance = { ...fileAuthor, sourceId: file, model: null, at }
    const bornOf = (statement: Statement): Belief => newBelief(ports, { user, statement, provenance })
    switch (edit.kind) {
      case 'correct': {
        const old = await store.get(user, edit.old.id)
        if (old === null || old.version !== edit.old.version) return stale
        const statement = await correctedStatement(ports, old, edit.fields)
        const belief = bornOf(statement)
        const changes = [created(belief), superseded(old, belief, at)]
        return { kind: 'correct', changes, result: () => ({ outcome: 'corrected', belief }) }
      }
      case 'add': {
        const read = await readNewLine(ports, user, edit)
        if (read.outcome === 'known') return { kind: 'nothing', result: read }
        const { outcome, statement, holders } = read
        const belief = inherit(bornOf(statement), holders)
        const changes = [created(belief), ...holders.map((held) => superseded(held, belief, at))]
        const kind = outcome === 'added' ? 'remember' : 'correct'
        return { kind, changes, result: () => ({ outcome, belief }) }
      }
      case 'conflict': {
        const target = await store.get(user, edit.current.id)
        if (target === null || !isCurrent(target)) return stale
        refuseSecret(edit.fields, target)
        const belief = bornOf(parseDraft(correctedDraft(target, edit.fields)))
        const waiting = await store.proposalsFor(user, target.id)
        const same = waiting.find(({ content, why }) => content === belief.content && why === belief.why)
        if (same !== undefined) return { kind: 'nothing', result: { outcome: 'proposed', belief: same } }
        const write = await proposal(ports, target, belief, at)
        return { ...write, result: () => ({ outcome: 'proposed', belief: write.changes[0]?.after ?? belief }) }
      }
    }
  }
  return change(ports, { user, author: fileAuthor, operation: `mirror ${edit.kind}` }, decide, neverReplayed)
}

async function correctedStatement({ store }: Ports, old: Belief, fields: ItemFields): Promise<Statement> {
  refuseSecret(fields, old)
  const statement = parseDraft(correctedDraft(old, fields))
  const holders = await store.holders(old.user, statement.name, statement.scopes)
  const other = holders.find(({ id }) => id !== old.id)
  if (other === undefined) return statement
  const where = other.scopes.join(' ')
  throw new MemoryError('conflict', `The name "${statement.name}" already belongs to ${other.id} in ${where}.`, {
    hint: 'Choose another name for the line, or change the other one.',
  })
}

type NewLine =
  /** The line says nothing new. */
  | { readonly outcome: 'known'; readonly belief: Belief }
  | { readonly outcome: 'added' | 'corrected'; readonly statement: Statement; readonly holders: readonly Belief[] }

/**
 * Reads a new line as a statement. A name that the line gives stands for the belief of that name in the same scope. A
 * name derived from the words of the line gets a number if another belief has it. Changes nothing.
 */
export async function readNewLine(
  ports: Pick<Ports, 'store'>,
  user: string,
  { fields, isNamed, isTyped }: Extract<Edit, { kind: 'add' }>,
): Promise<NewLine> {
  refuseSecret(fields)
  const { isGiven, ...derived } = isNamed ? { ...fields, isGiven: true } : nameStatement(fields.content)
  const named = { ...fields, ...derived, aliases: [...new Set([...fields.aliases, ...derived.aliases])] }
  const { scopes, content } = fields
  const same = isGiven ? null : await sameStatement(ports, { user, scopes, content })
  if (same !== null) return { outcome: 'known', belief: same }
  for (let attempt = 1; ; attempt += 1) {
    const name = attempt === 1 ? named.name : `${named.name} ${attempt}`
    const statement = parseDraft(draftOf({ ...named, name }))
    const holders = await ports.store.holders(user, statement.name, statement.scopes)
    const [holder] = holders
    if (holder === undefined) return { outcome: 'added', statement, holders }
    const isSame = holders.every((held) => isSameStatement(held.content, statement.content))
    if (isSame && (holders.length === 1 || !isGiven)) return { outcome: 'known', belief: holder }
    if (!isGiven && attempt < 1_000) continue
    // Parts that the line leaves out stay as they were; but a question that is answered is no question any more.
    const type = isTyped || holder.type === 'open_question' ? fields.type : holder.type
    const why = fields.why === '' ? holder.why : fields.why
    const corrected = { ...named, name, type, why }
    return { outcome: 'corrected', statement: parseDraft(correctedDraft(holder, corrected)), holders }
  }
}

/** Retires beliefs whose lines were removed. Their history is kept, and undo brings them back. */
async function retire(ports: Ports, user: string, beliefs: readonly Belief[]): Promise<readonly string[]> {
  const versions = new Map(beliefs.map(({ id, version }) => [id, version]))
  const decide = async (): Promise<Decision<readonly string[]>> => {
    const now = await ports.store.getMany(user, [...versions.keys()])
    const unchanged = now.filter(({ id, version }) => versions.get(id) === version)
    if (unchanged.length === 0) return { kind: 'nothing', result: [] }
    return { kind: 'retire', changes: unchanged.map(withdrawn), result: () => unchanged.map(({ id }) => id) }
  }
  return change(ports, { user, author: fileAuthor, operation: 'mirror retire' }, decide, neverReplayed)
}

const draftOf = (fields: ItemFields): BeliefDraft => ({ ...fields, status: 'inferred' })

/** Fields that the file does not show stay as they were. */
function correctedDraft(old: Belief, fields: ItemFields): BeliefDraft {
  const isRenamed = nameKey(old.name) !== nameKey(fields.name)
  const aliases = isRenamed ? [...fields.aliases, old.name] : fields.aliases
  const draft = { ...draftOf(fields), pinned: old.pinned, aliases }
  if (fields.type === 'preference' && old.type === 'preference')
    return { ...draft, subtype: old.subtype, expertise: old.expertise }
  if (fields.type === 'relation' && old.type === 'relation')
    return { ...draft, participants: old.participants, relation: old.relation }
  return draft
}

const neverReplayed = (): Promise<never> => Promise.reject(new Error('A change from the file has no key to replay.'))
