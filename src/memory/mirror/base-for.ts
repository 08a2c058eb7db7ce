import type { MirrorDocument } from './document.ts'
import { itemHash } from './item.ts'
import type { Imprint } from './state.ts'
import { fieldsOfItem } from './weigh.ts'

/**
 * What a file was before somebody changed it. The file says which of our writings it comes from, so that an editor that
 * saves an old copy is known for what it does: what it never saw, it did not delete. Where that is lost, the imprint
 * nearest to the file is taken; where every id is lost too, the newest. Null when the writing is older than any kept: then nothing counts as deleted.
 */
export function baseFor(key: string, document: MirrorDocument, imprints: readonly Imprint[]): Imprint | null {
  const generation = document.generation()
  if (generation !== null && generation > 0)
    return imprints.find((imprint) => imprint.generation === generation) ?? null
  const items = document
    .items()
    .flatMap(({ item, section }) =>
      item.id === null ? [] : [[item.id, itemHash(key, fieldsOfItem(item, section, null))] as const],
    )
  if (items.length === 0) return imprints[0] ?? null
  let nearest: { readonly imprint: Imprint; readonly distance: number } | null = null
  for (const imprint of imprints) {
    const equal = items.filter(([id, hash]) => imprint.items.get(id) === hash).length
    const distance = items.length + imprint.items.size - 2 * equal
    if (nearest === null || distance < nearest.distance) nearest = { imprint, distance }
  }
  return nearest?.imprint ?? null
}
