/**
 * The known name that was probably meant by `given`: the only name that begins with it, or the closest name. The edit distance
 * of the closest name may be at most one third of the longer length. Case is ignored.
 */
export function findNearestName(given: string, known: readonly string[]): string | undefined {
  const wanted = given.toLowerCase()
  const begun = known.filter((name) => wanted.length >= 2 && name.toLowerCase().startsWith(wanted))
  if (begun.length === 1) return begun[0]

  let best: { readonly name: string; readonly edits: number } | undefined
  for (const name of known) {
    const edits = editsBetween(wanted, name.toLowerCase())
    const isClose = edits <= Math.max(1, Math.floor(Math.max(wanted.length, name.length) / 3)) && edits < name.length
    if (isClose && (best === undefined || edits < best.edits)) best = { name, edits }
  }
  return best?.name
}

/** Edit distance with insertions, deletions, replacements and swaps of neighbours (optimal string alignment). */
export function editsBetween(a: string, b: string): number {
  let twoBack: number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= b.length; column += 1) {
      const differs = a[row - 1] === b[column - 1] ? 0 : 1
      let edits = Math.min(at(previous, column) + 1, at(current, column - 1) + 1, at(previous, column - 1) + differs)
      const isSwap = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      if (row > 1 && column > 1 && isSwap) edits = Math.min(edits, at(twoBack, column - 2) + 1)
      current.push(edits)
    }
    twoBack = previous
    previous = current
  }
  return at(previous, b.length)
}

/** Reads a cell that has already been filled. */
const at = (row: readonly number[], column: number): number => row[column] as number
