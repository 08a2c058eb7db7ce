/** A row of the list, as far as its place is concerned. */
export type ListRow = { readonly belief: { readonly id: string } }

/** Existing rows keep their place. New ones come first, or last if no known row follows them. */
export function mergeRows<Row extends ListRow>(before: readonly Row[], fresh: readonly Row[]): readonly Row[] {
  const byId = new Map(fresh.map((item) => [item.belief.id, item]))
  const kept = before.flatMap(({ belief }) => byId.get(belief.id) ?? [])
  const known = new Set(kept.map(({ belief }) => belief.id))
  const isNew = ({ belief }: Row) => !known.has(belief.id)
  const end = fresh.findLastIndex((item) => !isNew(item)) + 1
  return [...fresh.slice(0, end).filter(isNew), ...kept, ...fresh.slice(end)]
}
