/** How much two sets have in common: 1 when they are the same, also when both are empty. */
export function jaccard(one: readonly string[], other: readonly string[]): number {
  const [mine, its] = [new Set(one), new Set(other)]
  const union = new Set([...mine, ...its]).size
  return union === 0 ? 1 : [...mine].filter((id) => its.has(id)).length / union
}

/** How much less each further rank counts. */
const persistence = 0.9

/**
 * How alike two rankings are, the top weighing most: 1 for the same, 0 for disjoint ones. The overlap at each depth,
 * weighted as in rank-biased overlap (Webber, Moffat and Zobel, 2010); but what is not returned is known to be missing,
 * so a ranking that ends early is not assumed to go on like the other. Ids occur once in each.
 */
export function rankBiasedOverlap(one: readonly string[], other: readonly string[]): number {
  const depth = Math.max(one.length, other.length)
  if (depth === 0) return 1
  const [mine, its] = [new Set<string>(), new Set<string>()]
  let [overlap, weighted, weights] = [0, 0, 0]
  for (let rank = 0; rank < depth; rank += 1) {
    const [left, right] = [one[rank], other[rank]]
    if (left !== undefined) mine.add(left)
    if (right !== undefined) its.add(right)
    if (left !== undefined && its.has(left)) overlap += 1
    if (right !== undefined && right !== left && mine.has(right)) overlap += 1
    const weight = persistence ** rank
    weighted += weight * (overlap / Math.max(mine.size, its.size))
    weights += weight
  }
  return weighted / weights
}

/** Over ids that both rankings have, by how many places each moved, on average; null when they share none. */
export function rankChurn(one: readonly string[], other: readonly string[]): number | null {
  const places = new Map(other.map((id, index) => [id, index]))
  const moves = one.flatMap((id, index) => {
    const place = places.get(id)
    return place === undefined ? [] : [Math.abs(place - index)]
  })
  return moves.length === 0 ? null : moves.reduce((total, move) => total + move, 0) / moves.length
}
