import { type Belief, isCurrent, isStanding } from '../../../beliefs/belief.ts'
import { compareStrings } from '../../../beliefs/identity.ts'
import type { Store } from '../../ports.ts'
import { type ItemBlock, splitLines } from '../parse/blocks.ts'
import { fieldsOfBelief, fieldsOfItem, homeScope, idCommentPattern, isSameItem, renderItem } from '../parse/item.ts'
import type { MirrorDocument } from './document.ts'

/** MEMORY.md stays below 200 lines and 25 KB; these limits leave room for empty lines and for lines that others append. */
const maxLines = 180
const maxBytes = 22_000

/** The introduction of a new MEMORY.md. Existing files keep theirs. Its first sentence identifies it, so it must not change. */
export const introduction =
  'The beliefs of a memory, synchronised with its store by Credence. A changed line corrects a belief, a new line adds\n' +
  'one, a deleted line retires one. A new fact of a project applies at once, and so does an edit of a line that came from\n' +
  'a file. Edits of user:universal, of standing instructions, and of lines that you or an agent stated leave the file and\n' +
  'wait: `credence mirror sync` in a terminal asks once for all. Text outside of these lists is ignored.'

/** The beginning of a new MEMORY.md. */
export const beginning = `# Memory\n\n${introduction}\n`

const note =
  'This file shows pinned beliefs, standing instructions and the latest beliefs. `credence beliefs` lists all of them.'

/** Whether a belief may be in the file: it is current and belongs to no single agent. */
export const isMirrored = (belief: Belief): boolean => isCurrent(belief) && belief.agent === null

/**
 * Shows the beliefs of the store in the document, as many as fit. `left`: the refused lines. They stay as they are, each in place
 * of the belief that it would change.
 */
export async function showBeliefs(
  store: Store,
  user: string,
  document: MirrorDocument,
  left: ReadonlyMap<ItemBlock, Belief | null>,
): Promise<void> {
  document.ensureInbox()
  const { shown, isAll } = await chooseShown(store, user, document, [...left.keys()])
  const wanted = new Map(shown.map((belief) => [belief.id, belief]))
  const placed = new Set<string>()
  for (const block of document.items()) {
    const belief = wanted.get(block.item.id ?? '')
    if (block.item.id === null || left.has(block)) continue
    if (belief === undefined) document.remove(block)
    else if (!placed.has(belief.id) && !isShownBy(block, belief)) document.replace(block, belief)
    placed.add(block.item.id)
  }
  for (const [{ item }, belief] of left) placed.add(item.id ?? '').add(belief?.id ?? '')
  const missing = shown.filter(({ id }) => !placed.has(id))
  const keyOf = ({ createdAt, id }: Belief): string => `${createdAt} ${id}`
  document.insert(missing.toSorted((a, b) => compareStrings(keyOf(a), keyOf(b))))
  document.setNote(isAll ? null : note)
}

/**
 * The beliefs that fit: first the pinned ones, then those that are part of every context, then the latest. The choice does not
 * depend on the beliefs that the document already shows, so that a second sync changes nothing.
 */
async function chooseShown(store: Store, user: string, document: MirrorDocument, left: readonly ItemBlock[]) {
  const { beliefs, isAll } = await candidates(store, user)
  const ranked = beliefs
    .map((belief) => ({ belief, rank: rankOf(belief) }))
    .sort((a, b) => a.rank - b.rank || compareStrings(b.belief.updatedAt, a.belief.updatedAt))
  const fixed = [...document.ownLines({ withNewItems: true }), ...left.flatMap(({ raw }) => splitLines(raw))]
  const headings = new Set<string>()
  let lines = fixed.length
  let bytes = Buffer.byteLength(fixed.join('\n'))
  const shown: Belief[] = []
  for (const { belief } of ranked) {
    const scope = homeScope(belief)
    const section = `${scope} ${belief.type}`
    const item = renderItem(belief)
    // A heading has an empty line below it, and a section has another empty line at its end.
    const itemLines = item.length + (headings.has(scope) ? 0 : 2) + (headings.has(section) ? 0 : 3)
    const itemBytes = Buffer.byteLength(item.join('\n')) + itemLines + (headings.has(section) ? 0 : section.length + 20)
    if (lines + itemLines > maxLines || bytes + itemBytes > maxBytes) continue
    lines += itemLines
    bytes += itemBytes
    headings.add(scope).add(section)
    shown.push(belief)
  }
  return { shown, isAll: isAll && shown.length === ranked.length }
}

/** All beliefs if they may fit; otherwise the pinned, the standing and the latest ones. */
async function candidates(store: Store, user: string) {
  const found = new Map<string, Belief>()
  const add = (beliefs: readonly Belief[]): void => {
    for (const belief of beliefs.filter(isMirrored)) found.set(belief.id, belief)
  }
  let isAll = false
  for (let offset = 0; !isAll && found.size < maxLines; offset += maxLines) {
    const { items, total } = await store.list({ user, current: true }, { limit: maxLines, offset })
    add(items)
    isAll = offset + maxLines >= total
  }
  if (!isAll) {
    add((await store.list({ user, current: true, pinned: true }, { limit: maxLines, offset: 0 })).items)
    const scopes = (await store.scopes(user)).map(({ scope }) => scope)
    add(await store.standing({ user, agent: null, scopes }, maxLines))
  }
  return { beliefs: [...found.values()], isAll }
}

const rankOf = (belief: Belief): number =>
  belief.pinned ? 0 : belief.scopes.some((scope) => isStanding(belief, scope)) ? 1 : 2

/** Whether an item has the fields, the status and the pin of its belief. */
const isShownBy = ({ item, section, raw }: ItemBlock, belief: Belief): boolean =>
  isSameItem(fieldsOfItem(item, section, belief), fieldsOfBelief(belief)) &&
  commentOf(raw) === commentOf(renderItem(belief)[0] ?? '')

const commentOf = (text: string): string => idCommentPattern.exec(text)?.[0].trim() ?? ''
