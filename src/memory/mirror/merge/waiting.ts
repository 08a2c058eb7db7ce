import type { Belief } from '../../../beliefs/belief.ts'
import type { Proposal } from '../../change/proposals.ts'
import { change, withdrawChange } from '../../change/transaction.ts'
import type { Author, Ports, Store } from '../../ports.ts'
import type { ItemBlock } from '../parse/blocks.ts'
import { contentHashOf } from '../parse/read-file.ts'
import type { MirrorState } from '../state/state.ts'
import type { MirrorDocument } from '../write/document.ts'
import { isMirrored } from '../write/shown.ts'
import { currentVersion } from './plan.ts'

/** An edit of the file that a person has to decide on. It stays in the file until then. */
export type WaitingEdit = MirrorState['waiting'][number]

/** The key of an edited line: its text and its section. */
export const lineKey = ({ item, section }: ItemBlock): string => contentHashOf(JSON.stringify([item, section]))

const isUndecided = ({ candidate, proposedFor }: Belief): boolean => candidate || proposedFor !== null

export type UndecidedEdit = Pick<Proposal, 'proposal' | 'target'>

/** The waiting edits, each with the belief it would change; null for a new line. */
export async function undecidedEdits(
  store: Store,
  { user, waiting }: Pick<MirrorState, 'user' | 'waiting'>,
): Promise<readonly UndecidedEdit[]> {
  const ids = waiting.flatMap(({ id, target }) => [id, target ?? id])
  const beliefs = new Map((await store.getMany(user, [...new Set(ids)])).map((belief) => [belief.id, belief]))
  const targets = new Map(waiting.map(({ id, target }) => [id, beliefs.get(target ?? '') ?? null]))
  return [...targets].flatMap(([id, target]) => {
    const proposal = beliefs.get(id)
    return proposal !== undefined && isUndecided(proposal) ? [{ proposal, target }] : []
  })
}

/**
 * Compares the waiting edits with the store and the file. An accepted edit becomes the item of its belief; a
 * rejected one is replaced by the store's text; one that is no longer in the file is outdated. Changes only the document.
 */
export async function settleWaiting(
  store: Store,
  { user, waiting: edits }: Pick<MirrorState, 'user' | 'waiting'>,
  document: MirrorDocument,
) {
  const present = new Set(document.ids())
  const version = document.version() ?? -1
  const byKey = Map.groupBy(edits.length === 0 ? [] : document.items(), lineKey)
  /** Edits that still wait, and their unchanged lines, each with the belief that it would replace. */
  const waiting: WaitingEdit[] = []
  const left = new Map<ItemBlock, Belief | null>()
  /** Proposals whose edits were taken back in the file. */
  const outdated: Belief[] = []
  /** How many rejected edits were replaced by the store's text. */
  let restored = 0
  for (const edit of edits) {
    const proposal = await store.get(user, edit.id)
    const found = edit.target === null ? null : await store.get(user, edit.target)
    const target = found !== null && isMirrored(found) ? found : null
    const lines = byKey.get(edit.line ?? '') ?? []
    if (proposal !== null && isUndecided(proposal)) {
      const isRemoval = edit.line === null
      const isAsked = isRemoval ? !present.has(edit.target ?? '') : lines.length > 0
      // Its belief was changed in the store: the line is compared again.
      if (edit.target !== null && target === null) outdated.push(proposal)
      else if (isAsked) {
        waiting.push(edit)
        for (const block of lines) left.set(block, edit.inPlace ? target : null)
      }
      // A file that was saved from an older version, or rewritten, never had the edit: the proposal waits without it.
      else if (isRemoval || version >= edit.version) outdated.push(proposal)
      continue
    }
    const isRejected = proposal === null
    const stored = edit.inPlace ? target : null
    const belief = isRejected ? stored : await currentVersion(store, user, proposal.id)
    for (const block of lines) {
      if (belief === null) document.remove(block)
      else document.replace(block, belief)
    }
    if (isRejected && (lines.length > 0 || (edit.line === null && target !== null))) restored += 1
  }
  return { waiting, left, outdated, restored }
}

/** Withdraws proposals of the file, because the file does not ask for them any more. Undo brings them back. */
export async function withdrawOutdated(ports: Ports, author: Author, outdated: readonly Belief[]): Promise<void> {
  const own = outdated.filter(({ provenance }) => provenance.origin === author.origin)
  const [first] = own
  if (first === undefined) return
  const { user } = first
  await change(ports, { user, author, operation: 'mirror withdraw' }, async () => {
    const now = await ports.store.getMany(
      user,
      own.map(({ id }) => id),
    )
    const undecided = now.filter(isUndecided)
    if (undecided.length === 0) return { kind: 'nothing', result: undefined }
    return { kind: 'retire', changes: undecided.map(withdrawChange), result: () => undefined }
  })
}
