export type Stretch = { readonly start: number; readonly end: number }

export type Piece = { readonly words: string; readonly isMarked: boolean; readonly start: number }

/** The text cut at the ends of the stretches. Put together again, the pieces are the text. */
export function pieces(text: string, stretches: readonly Stretch[]): readonly Piece[] {
  const cut: Piece[] = []
  let at = 0
  for (const { start, end } of [...stretches].sort((one, other) => one.start - other.start)) {
    const [from, to] = [Math.max(at, start), Math.min(text.length, end)]
    if (from >= to) continue
    if (from > at) cut.push({ words: text.slice(at, from), isMarked: false, start: at })
    cut.push({ words: text.slice(from, to), isMarked: true, start: from })
    at = to
  }
  if (at < text.length) cut.push({ words: text.slice(at), isMarked: false, start: at })
  return cut
}
