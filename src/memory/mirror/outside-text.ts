import { isListItem, type Segment } from './segments.ts'

/** The lines that are somebody's own, without empty ones. */
export const outsideLines = (segments: readonly Segment[]): readonly string[] =>
  linesOf(segments).filter((line) => line.trim() !== '')

/** How many list items stand outside of our sections, where they are left alone. Code is none. */
export function outsideItems(segments: readonly Segment[]): number {
  let fence: string | null = null
  let count = 0
  for (const line of linesOf(segments)) {
    const [, marks] = /^ {0,3}(`{3,}|~{3,})/u.exec(line) ?? []
    if (marks !== undefined && (fence === null || marks.startsWith(fence))) fence = fence === null ? marks : null
    else if (fence === null && isListItem(line)) count += 1
  }
  return count
}

const linesOf = (segments: readonly Segment[]): readonly string[] =>
  segments
    .flatMap((segment) => (segment.kind === 'text' ? [segment.raw] : []))
    .join('\n')
    .split(/\r\n|\n|\r/u)
