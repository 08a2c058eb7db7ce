import { diffArrays } from 'diff'
import { nameKey } from '../../../beliefs/identity.ts'
import type { MirrorDocument } from '../write/document.ts'
import { type Block, parseBlocks } from './blocks.ts'

/**
 * The text without the continuation lines of an item whose bullet was removed. They belonged to that item; otherwise
 * they would become part of the item above.
 */
export function withoutOrphans(text: string, base: MirrorDocument): string {
  const blocks = parseBlocks(text)
  const present = new Set(blocks.flatMap((block) => (block.kind === 'item' ? (block.item.id ?? []) : [])))
  if (base.ids().every((id) => present.has(id))) return text
  const before = ownedLines(base.blocks, present)
  const after = ownedLines(blocks, present)
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
  return after
    .filter((line) => !orphans.has(line))
    .map(({ raw }) => raw)
    .join('')
}

/** A line with the item it belongs to. The first line of an item has the item itself as its key. */
type OwnedLine = { readonly raw: string; readonly key: string; readonly owner: string | null }

const lineKeyOf = ({ key }: OwnedLine): string => key

/** Items are known by id, or by name where a program has dropped the comment. */
const ownedLines = (blocks: readonly Block[], present: ReadonlySet<string>): readonly OwnedLine[] =>
  blocks.flatMap((block) => {
    const { id, name, content } = block.kind === 'item' ? block.item : { id: null, name: null, content: null }
    const byName = content === null ? null : `name ${nameKey(name ?? content)}`
    const owner = id !== null && present.has(id) ? `id ${id}` : byName
    const lines = block.raw.match(/[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$/gu) ?? []
    return lines.map((raw, index) => ({ raw, owner, key: owner !== null && index === 0 ? owner : raw.trimEnd() }))
  })
