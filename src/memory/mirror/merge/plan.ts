import type { Belief } from '../../../beliefs/belief.ts'
import { isSameStatement, nameKey } from '../../../beliefs/identity.ts'
import { findLastSuccessor } from '../../find-belief.ts'
import type { Store } from '../../ports.ts'
import type { ItemBlock } from '../parse/blocks.ts'
import { fieldsOfBelief, fieldsOfItem, homeScope, type ItemFields, isSameItem, mergeFields } from '../parse/item.ts'
import type { OpenFile } from '../read.ts'
import { isMirrored } from '../write/shown.ts'

/** A change to the store that one item of a file asks for. */
export type Edit =
  | { readonly kind: 'correct'; readonly current: Belief; readonly fields: ItemFields }
  | {
      readonly kind: 'add'
      readonly fields: ItemFields
      /** `isNamed`: the line gives a name. `isTyped`: its section gives a type. */
      readonly isNamed: boolean
      readonly isTyped: boolean
    }
  /** The file and the store changed the same field to different values. */
  | { readonly kind: 'conflict'; readonly current: Belief; readonly fields: ItemFields }
  /** A second copy of a line, which changes nothing. */
  | { readonly kind: 'duplicate' }
  /** A line without an id comment, whose statement the store already contains. */
  | { readonly kind: 'known'; readonly belief: Belief }

export type MergePlan = Awaited<ReturnType<typeof planMerge>>

type Source = { readonly store: Store; readonly user: string }

/** Whether so many lines were removed at once that it looks like an accident, or like a program that wipes the memory. A single removed line is an edit. */
export const isMassRemoval = (gone: number, known: number): boolean =>
  gone >= 2 && (gone * 2 >= known || (gone > 10 && gone * 5 > known))

/** Compares three versions of each item of a changed file: those of the base, the file, and the store. Read-only. */
export async function planMerge({ store, user }: Source, { document, base, isChanged }: OpenFile) {
  const edits: { readonly block: ItemBlock; readonly edit: Edit }[] = []
  /** Items deleted from the file: retired if the store did not change them, kept if it did. */
  const removed: Belief[] = []
  const kept: Belief[] = []
  const items = isChanged ? document.items() : []
  // Each id is resolved to the current belief: after a refused edit, the file has the id of the superseded belief, but the base
  // has the id of its successor.
  const currents = new Map<string, Belief | null>()
  for (const id of isChanged ? document.ids() : []) currents.set(id, await currentVersion(store, user, id))
  const present = new Set([...currents].flatMap(([id, current]) => [id, current?.id ?? id]))
  // If several lines have the same id, the first one is the belief and the others are copies.
  const baseBlocks = new Map((base?.items() ?? []).toReversed().map((block) => [block.item.id ?? '', block]))
  const known = (await store.getMany(user, [...baseBlocks.keys()])).filter(isMirrored)
  const missing = known.filter(({ id }) => !present.has(id))
  const matches = matchByName(items, missing)
  const planned = new Set<string>()
  for (const block of items) {
    const id = matches.get(block)?.id ?? block.item.id
    const current = id === null ? null : (currents.get(id) ?? (await currentVersion(store, user, id)))
    const isCopy = id !== null && planned.has(current?.id ?? id)
    if (id !== null) planned.add(current?.id ?? id)
    const before = baseBlocks.get(id ?? '') ?? baseBlocks.get(current?.id ?? '') ?? null
    const edit = await planItem({ store, user }, { block, id, isCopy, current, base: before })
    if (edit !== null) edits.push({ block, edit })
  }
  const matched = new Set([...matches.values()].map(({ id }) => id))
  for (const belief of missing.filter(({ id }) => !matched.has(id))) {
    const { item, section } = baseBlocks.get(belief.id) as ItemBlock
    if (isSameItem(fieldsOfItem(item, section, belief), fieldsOfBelief(belief))) removed.push(belief)
    else kept.push(belief)
  }
  const gone = removed.length + kept.length
  const massRemoval = isMassRemoval(gone, known.length) ? `${gone} of ${known.length} items are gone from it` : null
  /** `massRemoval`: the reason to stop, if the number of missing items looks like an accident. */
  return { edits, removed, kept, massRemoval }
}

type PlannedItem = {
  readonly block: ItemBlock
  readonly id: string | null
  readonly isCopy: boolean
  /** The current belief for the id: the belief itself, or its successor. */
  readonly current: Belief | null
  readonly base: ItemBlock | null
}

async function planItem(
  { store, user }: Source,
  { block: { item, section }, id, isCopy, current, base }: PlannedItem,
): Promise<Edit | null> {
  const add = (fields: ItemFields): Edit => {
    return { kind: 'add', fields, isNamed: fields.name !== '', isTyped: section !== null && section.type !== null }
  }
  if (id === null) return add(fieldsOfItem(item, section, null))
  const stored = current === null ? null : fieldsOfBelief(current)
  if (stored !== null && isSameItem(fieldsOfItem(item, section, current), stored))
    return isCopy
      ? { kind: 'duplicate' }
      : item.id === null && current !== null
        ? { kind: 'known', belief: current }
        : null
  const revisions = await store.history(user, item.id ?? id)
  const versions = revisions.flatMap(({ belief }) => belief ?? [])
  const said = fieldsOfItem(item, section, current ?? versions.at(-1) ?? null)
  const isOld = versions.some((version) => isSameItem(said, fieldsOfBelief(version)))
  // A changed copy is a new belief, because people write a new line by copying and changing another one.
  if (isCopy) return isOld ? { kind: 'duplicate' } : add(said)
  const before = base === null ? null : fieldsOfItem(base.item, base.section, current)
  if (before !== null && isSameItem(said, before)) return null
  if (stored === null || current === null) {
    // An old copy of the line must not bring back a belief that was retired or forgotten.
    const isForgotten = revisions.some(({ outcome }) => outcome === 'erased')
    return isOld || isForgotten ? null : add(said)
  }
  const merged = before === null ? null : mergeFields(before, stored, said)
  if (before === null && isOld) return null
  if (merged !== null) return { kind: 'correct', current, fields: merged }
  const isOwn = before === null && id === current.id
  return { kind: isOwn ? 'correct' : 'conflict', current, fields: said }
}

/** The belief itself or its last successor; null if MEMORY.md may not show it. */
export async function currentVersion(store: Store, user: string, id: string): Promise<Belief | null> {
  const belief = await store.get(user, id)
  const last = belief === null ? null : await findLastSuccessor(store, belief)
  return last !== null && isMirrored(last) ? last : null
}

/** Programs that rewrite a file may drop the comments. Items are then matched by name or statement in the same scope. */
function matchByName(items: readonly ItemBlock[], missing: readonly Belief[]): ReadonlyMap<ItemBlock, Belief> {
  const matches = new Map<ItemBlock, Belief>()
  const left = new Set(missing)
  for (const block of items) {
    const { item, section } = block
    if (item.id !== null) continue
    const match = [...left].find(
      (belief) =>
        (section === null || section.scope === homeScope(belief)) &&
        (item.name === null
          ? isSameStatement(item.content, belief.content)
          : nameKey(item.name) === nameKey(belief.name)),
    )
    if (match === undefined) continue
    left.delete(match)
    matches.set(block, match)
  }
  return matches
}
