import { diffArrays } from 'diff'
import { nameKey } from '../../../beliefs/identity.ts'
import { MirrorDocument } from '../write/document.ts'
import type { Block } from './blocks.ts'

/**
 * The document without the continuation lines of an item whose bullet was removed. They belonged to that item; otherwise
 * they would become part of the item above. `baseIds` are the ids that items have in the base, if they differ.
 */
export function withoutOrphans(
  document: MirrorDocument,
  base: MirrorDocument,
  baseIds: ReadonlyMap<string, string>,
): MirrorDocument {
  const idOf = (id: string): string => baseIds.get(id) ?? id
  const present = new Set(document.ids().map(idOf))
  if (base.ids().every((id) => present.has(id))) return document
  const before = ownedLines(base.blocks, present, (id) => id)
  const after = ownedLines(document.blocks, present, idOf)
  const owners = new Set(after.map(({ owner }) => owner))
  const orphans = new Set<OwnedLine>()
  let [from, to] = [0, 0]
  for (const { count, added, removed } of diffArrays(before.map(lineKeyOf), after.map(lineKeyOf))) {
    for (let offset = 0; offset < count && !added && !removed; offset += 1) {
      const line = before[from + offset] as OwnedLine
      if (line.key !== line.owner && line.key !== '' && !owners.has(line.owner))
        orphans.add(after[to + offset] as OwnedLine)
    }
    from += added ? 0 : count
    to += removed ? 0 : count
  }
  const kept = after.filter((line) => !orphans.has(line))
  return new MirrorDocument(kept.map(({ raw }) => raw).join(''))
}

/** A line with the item it belongs to. The first line of an item has the item itself as its key. */
type OwnedLine = { readonly raw: string; readonly key: string; readonly owner: string | null }

const lineKeyOf = ({ key }: OwnedLine): string => key

/** Items are identified by id, or by name if a program has dropped the comment. */
const ownedLines = (
  blocks: readonly Block[],
  present: ReadonlySet<string>,
  idOf: (id: string) => string,
): readonly OwnedLine[] =>
  blocks.flatMap((block) => {
    const { id: ownId, name, content } = block.kind === 'item' ? block.item : { id: null, name: null, content: null }
    const id = ownId === null ? null : idOf(ownId)
    const byName = content === null ? null : `name ${nameKey(name ?? content)}`
    const owner = id !== null && present.has(id) ? `id ${id}` : byName
    const lines = block.raw.match(/[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$/gu) ?? []
    return lines.map((raw, index) => ({ raw, owner, key: owner !== null && index === 0 ? owner : raw.trimEnd() }))
  })
