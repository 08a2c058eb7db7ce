/** At the start of a line, however it is marked: `1.`, `2)`, `**3.**`, `### 4.`, `Question 5:`. */
const atLineStart =
  /^([^\S\n]*)(?:>\s*)?(?:#{1,6}\s+)?(?:[-*+]\s+)?(?:\*\*|__)?\(?(?:(?:question|answer|q|a)[^\S\n]*)?(\d{1,2})[.):](?:\*\*|__)?(?=\s)/gimu
const anywhere = /(?<=^|\s)\(?(\d{1,2})[.)](?=\s+\S)/gu

type Mark = { readonly number: number; readonly start: number; readonly end: number }

/**
 * The items of a text that is a numbered list, by their numbers; empty for any other text. Numbers may be left out, but
 * where one comes twice nobody can say which is meant.
 */
export function numberedItems(text: string): ReadonlyMap<number, string> {
  const lines = marksAtLineStarts(text)
  const marks = lines.length >= 2 && lines[0]?.number === 1 ? lines : marksInARow(text)
  const isAscending = marks.every(({ number }, index) => number > (marks[index - 1]?.number ?? 0))
  if (marks.length < 2 || !isAscending) return new Map()
  return new Map(marks.map(({ number, end }, index) => [number, text.slice(end, marks[index + 1]?.start)]))
}

/** Those of the outermost list: what is indented further belongs to an item. */
function marksAtLineStarts(text: string): readonly Mark[] {
  const found = [...text.matchAll(atLineStart)].map((match) => ({
    number: Number(match[2]),
    start: match.index,
    end: match.index + match[0].length,
    indent: (match[1] ?? '').length,
  }))
  const least = Math.min(...found.map(({ indent }) => indent))
  return found.filter(({ indent }) => indent === least)
}

/** 1, 2, 3 and so on, wherever they stand. */
function marksInARow(text: string): readonly Mark[] {
  const marks: Mark[] = []
  for (const match of text.matchAll(anywhere)) {
    if (Number(match[1]) !== marks.length + 1) continue
    marks.push({ number: marks.length + 1, start: match.index, end: match.index + match[0].length })
  }
  return marks
}
