/** One belief of a chain, as far as drawing is concerned. */
export type ChainLink = { readonly id: string; readonly supersededBy: string | null }

export type PlacedLink<Link extends ChainLink> = {
  readonly link: Link
  readonly row: number
  readonly lane: number
  /** Row and lane of what replaced it. */
  readonly heir: { readonly row: number; readonly lane: number } | null
}

/**
 * Places a chain, newest on top. What replaced several keeps the lane of one of them; each of the others gets a lane of
 * its own, so that no line crosses a belief it has nothing to do with.
 */
export function placeChain<Link extends ChainLink>(oldestFirst: readonly Link[]): readonly PlacedLink<Link>[] {
  const newestFirst = oldestFirst.toReversed()
  const places = new Map<string, { row: number; lane: number }>()
  const continued = new Set<string>()
  let lanes = 0
  return newestFirst.map((link, row) => {
    const heir = link.supersededBy === null ? undefined : places.get(link.supersededBy)
    const inherits = heir !== undefined && !continued.has(link.supersededBy ?? '')
    if (inherits) continued.add(link.supersededBy ?? '')
    const lane = inherits ? heir.lane : lanes++
    places.set(link.id, { row, lane })
    return { link, row, lane, heir: heir ?? null }
  })
}
