import { diffWordsWithSpace } from 'diff'

export type TextRange = { readonly start: number; readonly end: number }

export type Piece = { readonly words: string; readonly isMarked: boolean; readonly start: number }

/** Splits a text into marked and unmarked pieces. Joining them gives the text. */
export function cutAtRanges(text: string, ranges: readonly TextRange[]): readonly Piece[] {
  const cut: Piece[] = []
  let at = 0
  for (const { start, end } of [...ranges].sort((a, b) => a.start - b.start)) {
    const from = Math.max(at, start)
    const to = Math.min(text.length, end)
    if (from >= to) continue
    if (from > at) cut.push({ words: text.slice(at, from), isMarked: false, start: at })
    cut.push({ words: text.slice(from, to), isMarked: true, start: from })
    at = to
  }
  if (at < text.length) cut.push({ words: text.slice(at), isMarked: false, start: at })
  return cut
}

/** Max characters of two texts together, to compare them word by word. Longer texts are shown one after the other. */
const maxComparedLength = 20_000

/** Min share of the shorter text that both have in common. With less, a diff would be hard to read, so both are shown in full. */
const minShared = 0.3

type Part = { readonly value: string; readonly added: boolean; readonly removed: boolean }

/** Two versions of a text as removed, added and common parts. */
export function wordParts(before: string, after: string): readonly Part[] {
  const whole = [
    { value: before, removed: true, added: false },
    { value: after, removed: false, added: true },
  ].filter(({ value }) => value !== '')
  if (before.length + after.length > maxComparedLength) return whole
  const parts = diffWordsWithSpace(before, after)
  const letters = (value: string): number => value.replace(/[^\p{L}\p{N}]/gu, '').length
  const shared = parts.reduce((sum, { value, added, removed }) => sum + (added || removed ? 0 : letters(value)), 0)
  return shared < minShared * Math.min(letters(before), letters(after)) ? whole : parts
}
