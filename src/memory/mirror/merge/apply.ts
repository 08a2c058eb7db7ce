import { authorityOf, type Belief, explainWait, isCurrent } from '../../../beliefs/belief.ts'
import { isSameStatement, nameKey } from '../../../beliefs/identity.ts'
import { MemoryError } from '../../../errors.ts'
import { explainEverydayForm, filterAliases } from '../../change/aliases.ts'
import { reasonToWait, requireRoom, roomForDocuments } from '../../change/authority.ts'
import { type BeliefDraft, fieldsOfType, parseDraft, type StatedFields } from '../../change/draft.ts'
import { isRemoval } from '../../change/proposals.ts'
import { findSameCandidates, inherit, newBelief, proposeChange, supersedeBelief } from '../../change/remember.ts'
import { change, createChange, type Decision, withdrawChange } from '../../change/transaction.ts'
import { requireFreeName } from '../../find-belief.ts'
import { nameStatement } from '../../learn/name-of.ts'
import { freeNameFor, refuseSecret } from '../../markdown/same-statement.ts'
import type { Author, Ports } from '../../ports.ts'
import type { ItemBlock } from '../parse/blocks.ts'
import type { ItemFields } from '../parse/item.ts'
import { mirrorFile } from '../state/state.ts'
import type { MirrorDocument } from '../write/document.ts'
import type { Edit, MergePlan } from './plan.ts'

/**
 * The authority of edits in the file. Any program can write to a file, so edits have a document's authority, unless the
 * person declares that no other program writes to this file.
 */
export type MirrorAuthority = 'document' | 'person'

export const fileAuthors: Readonly<Record<MirrorAuthority, Author>> = {
  document: { actor: 'document', origin: 'file' },
  person: { actor: 'person', origin: 'file' },
}

/**
 * Whether an edit waits for a person. With a document's authority, an edit may not change another author's statement or a pinned
 * belief, nor add an alias that would match everywhere.
 */
const mustWait = async (
  ports: Ports,
  author: Author,
  replaced: readonly Belief[],
  belief: Belief,
): Promise<boolean> => {
  if (author.actor === 'person') return false
  if (replaced.some((old) => authorityOf(old) !== author.actor || explainWait(old) !== null)) return true
  const known = new Set(replaced.flatMap(({ name, aliases }) => [name, ...aliases]))
  const aliases = belief.aliases.filter((alias) => !known.has(alias))
  const { refused } = await filterAliases(ports, author, { ...belief, aliases })
  return refused.length > 0 || (await reasonToWait(author, belief)) !== null
}

export type EditCounts = {
  corrected: number
  added: number
  retired: number
  conflicts: number
  /** Edits that now wait for a person. */
  proposed: number
}

type Target = {
  readonly ports: Ports
  readonly user: string
  readonly author: Author
  readonly document: MirrorDocument
  /** Whether the person has accepted the removal of lines. */
  readonly isAccepted: boolean
}

/** Carries out a plan: commits each edit to the store, and shows the result in the document. */
export async function applyPlan(
  { ports, user, author, document, isAccepted }: Target,
  { edits, removed, kept }: MergePlan,
) {
  const counts: EditCounts = { corrected: 0, added: 0, retired: 0, conflicts: kept.length, proposed: 0 }
  /** Refused lines, which stay as they are, each with the belief that it would change. */
  const refused: { readonly block: ItemBlock; readonly stored: Belief | null; readonly reason: string }[] = []
  /** Whether the store changed after the plan was made, so that a new plan is needed. */
  let isStale = false
  for (const { block, edit } of edits) {
    if (edit.kind === 'duplicate') document.remove(block)
    if (edit.kind === 'known') document.replace(block, edit.belief)
    if (edit.kind === 'duplicate' || edit.kind === 'known') continue
    const stored = edit.kind === 'add' ? null : edit.current
    try {
      const { outcome, belief } = await commitEdit(ports, { user, author, edit })
      if (outcome === 'stale') isStale = true
      else if (outcome === 'waiting') {
        // Agents read the file, so it shows the edit only once a person has accepted it.
        if (stored === null) document.remove(block)
        else document.replace(block, stored)
        counts[edit.kind === 'conflict' ? 'conflicts' : 'proposed'] += 1
      } else {
        if (outcome !== 'known') counts[outcome] += 1
        document.replace(block, belief)
      }
    } catch (error) {
      if (!(error instanceof MemoryError) || error.code === 'unavailable') throw error
      refused.push({ block, stored, reason: error.message })
    }
  }
  const { retired, proposed } = await retire(ports, { user, author, isAccepted }, removed)
  counts.retired = retired
  counts.proposed += proposed
  return { counts, refused, isStale }
}

/** `stale`: the belief changed after the plan was made. `waiting`: the edit became a proposal or a candidate. */
type Committed =
  | { readonly outcome: 'stale'; readonly belief: null }
  | { readonly outcome: 'corrected' | 'added' | 'known' | 'waiting'; readonly belief: Belief }

type EditCommit = {
  readonly user: string
  readonly author: Author
  readonly edit: Exclude<Edit, { kind: 'duplicate' | 'known' }>
}

/** Commits an edit that was made in the file to the store. */
async function commitEdit(ports: Ports, { user, author, edit }: EditCommit): Promise<Committed> {
  return change(ports, { user, author, operation: `mirror ${edit.kind}` }, async (at): Promise<Decision<Committed>> => {
    const status = author.actor === 'person' ? 'active' : 'inferred'
    const provenance = { ...author, sourceId: mirrorFile, model: null, at }
    const beliefFrom = (statement: StatedFields): Belief =>
      newBelief(ports, { user, statement: { ...statement, status }, provenance })
    const propose = async (target: Belief, belief: Belief): Promise<Decision<Committed>> => {
      const write = await proposeChange(ports, target, belief, at)
      return { ...write, result: () => ({ outcome: 'waiting', belief: write.changes[0]?.after ?? belief }) }
    }
    /** Commits the belief, or stores it for a person to decide. */
    const decide = async (
      outcome: 'added' | 'corrected',
      belief: Belief,
      replaced: readonly Belief[],
    ): Promise<Decision<Committed>> => {
      const [target = null] = replaced
      if (!(await mustWait(ports, author, replaced, belief))) {
        const changes = [createChange(belief), ...replaced.map((old) => supersedeBelief(old, belief, at))]
        return { kind: outcome === 'added' ? 'remember' : 'correct', changes, result: () => ({ outcome, belief }) }
      }
      if (target !== null) return propose(target, belief)
      const [same] = await findSameCandidates(ports, belief)
      if (same !== undefined) return { kind: 'nothing', result: { outcome: 'waiting', belief: same } }
      await requireRoom(ports, belief, [])
      const candidate = { ...belief, candidate: true }
      return {
        kind: 'propose',
        changes: [createChange(candidate)],
        result: () => ({ outcome: 'waiting', belief: candidate }),
      }
    }
    if (edit.kind === 'add') {
      const read = await readNewLine(ports, user, edit)
      if (read.outcome === 'known') return { kind: 'nothing', result: read }
      return decide(read.outcome, inherit(beliefFrom(read.statement), read.holders), read.holders)
    }
    const old = await ports.store.get(user, edit.current.id)
    if (old === null || !isCurrent(old) || (edit.kind === 'correct' && old.version !== edit.current.version))
      return { kind: 'nothing', result: { outcome: 'stale', belief: null } }
    await refuseSecret(edit.fields, old)
    const belief = beliefFrom(parseDraft(correctedDraft(old, edit.fields)))
    if (edit.kind === 'conflict') {
      const waiting = await ports.store.proposalsFor(user, old.id)
      const same = waiting.find(({ content, why }) => content === belief.content && why === belief.why)
      if (same !== undefined) return { kind: 'nothing', result: { outcome: 'waiting', belief: same } }
      return propose(old, belief)
    }
    const hint = () => 'Use another name in this line, or rename the other belief.'
    await requireFreeName(ports, belief, { except: [old.id], hint })
    return decide('corrected', belief, [old])
  })
}

type NewLine =
  /** The store already contains the line's statement. */
  | { readonly outcome: 'known'; readonly belief: Belief }
  | { readonly outcome: 'added' | 'corrected'; readonly statement: StatedFields; readonly holders: readonly Belief[] }

/**
 * Reads a new line as a statement. An explicit name refers to the belief of that name in the same scope. A name derived from the
 * words of the line gets a number if another belief has it. Read-only.
 */
async function readNewLine(
  ports: Pick<Ports, 'store'>,
  user: string,
  { fields, isNamed, isTyped }: Extract<Edit, { kind: 'add' }>,
): Promise<NewLine> {
  await refuseSecret(fields)
  const { isGiven, ...derived } = isNamed ? { ...fields, isGiven: true } : nameStatement(fields.content)
  const found = derived.aliases.filter((alias) => explainEverydayForm(alias) === null)
  const named = { ...fields, ...derived, aliases: [...new Set([...fields.aliases, ...found])] }
  const statement = parseDraft(named)
  if (!isGiven) {
    const { name, same } = await freeNameFor(ports, { user, ...statement })
    if (same !== null) return { outcome: 'known', belief: same }
    return { outcome: 'added', statement: { ...statement, name }, holders: [] }
  }
  const holders = await ports.store.holders(user, statement.name, statement.scopes)
  const [holder, ...others] = holders
  if (holder === undefined) return { outcome: 'added', statement, holders }
  if (others.length === 0 && isSameStatement(holder.content, statement.content))
    return { outcome: 'known', belief: holder }
  // Parts that the line leaves out stay as they were; but an answered question is no longer a question.
  const type = isTyped || holder.type === 'open_question' ? fields.type : holder.type
  const why = fields.why === '' ? holder.why : fields.why
  return { outcome: 'corrected', statement: parseDraft(correctedDraft(holder, { ...named, type, why })), holders }
}

/**
 * Retires beliefs whose lines were removed: their history is kept, and undo brings them back. For another author's belief,
 * proposes to retire it, unless too many proposals wait, and restores its line. Returns the numbers of retired and proposed beliefs.
 */
async function retire(
  ports: Ports,
  { user, author, isAccepted }: Pick<Target, 'user' | 'author' | 'isAccepted'>,
  beliefs: readonly Belief[],
): Promise<{ readonly retired: number; readonly proposed: number }> {
  const isOwn = (belief: Belief): boolean => author.actor === 'person' || authorityOf(belief) === author.actor
  const readUnchanged = async (areOwn: boolean): Promise<readonly Belief[]> => {
    const wanted = new Map(beliefs.filter((belief) => isOwn(belief) === areOwn).map(({ id, version }) => [id, version]))
    const now = wanted.size === 0 ? [] : await ports.store.getMany(user, [...wanted.keys()])
    return now.filter(({ id, version }) => wanted.get(id) === version)
  }
  const retired = await change<number>(ports, { user, author, operation: 'mirror retire' }, async () => {
    const own = await readUnchanged(true)
    if (own.length === 0) return { kind: 'nothing', result: 0 }
    return { kind: 'retire', changes: own.map(withdrawChange), result: () => own.length }
  })
  const operation = 'mirror propose retire'
  const proposed = await change<number>(ports, { user, author, operation }, async (at) => {
    const room = isAccepted ? Number.POSITIVE_INFINITY : await roomForDocuments(ports, user)
    const removals: Belief[] = []
    for (const belief of await readUnchanged(false)) {
      const isWaiting = (await ports.store.proposalsFor(user, belief.id)).some(isRemoval)
      if (isWaiting || removals.length >= room) continue
      const provenance = { ...author, sourceId: null, model: null, at }
      const copy = newBelief(ports, { user, statement: belief, provenance })
      const proposal = { status: 'exploratory', editedByPerson: false, proposedFor: belief.id, resolvedAt: at } as const
      removals.push({ ...copy, ...proposal })
    }
    if (removals.length === 0) return { kind: 'nothing', result: 0 }
    return { kind: 'propose', changes: removals.map(createChange), result: () => removals.length }
  })
  return { retired, proposed }
}

/** Fields that the file does not show stay as they were. */
function correctedDraft(old: Belief, fields: ItemFields): BeliefDraft {
  const isRenamed = nameKey(old.name) !== nameKey(fields.name)
  const aliases = isRenamed ? [...fields.aliases, old.name] : fields.aliases
  return { ...fields, pinned: old.pinned, aliases, ...fieldsOfType(fields.type, old) }
}
