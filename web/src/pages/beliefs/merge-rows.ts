/** The part of a row that identifies it. */
export type ListRow = { readonly belief: { readonly id: string } }

/** Merges a new answer into the list. Known rows keep their order. New rows go to the end if no known row follows, else to the top. */
export function mergeRows<Row extends ListRow>(before: readonly Row[], fresh: readonly Row[]): readonly Row[] {
  const byId = new Map(fresh.map((item) => [item.belief.id, item]))
  const kept = before.flatMap(({ belief }) => byId.get(belief.id) ?? [])
  const known = new Set(kept.map(({ belief }) => belief.id))
  const isNew = ({ belief }: Row) => !known.has(belief.id)
  const end = fresh.findLastIndex((item) => !isNew(item)) + 1
  return [...fresh.slice(0, end).filter(isNew), ...kept, ...fresh.slice(end)]
}
