/**
 * Breaks a text into lines of at most `width` characters at spaces. Line breaks in it stay, what is broken off keeps
 * the indent of its line, and long words are kept whole.
 */
export function wrap(text: string, width: number): readonly string[] {
  return text.split('\n').flatMap((line) => {
    if (line.length <= width) return [line]
    const [indent = ''] = line.match(/^ */) ?? []
    const lines: string[] = []
    let current = ''
    for (const word of line.slice(indent.length).split(' ')) {
      if (current !== '' && indent.length + current.length + 1 + word.length > width) {
        lines.push(indent + current)
        current = word
      } else current = current === '' ? word : `${current} ${word}`
    }
    return [...lines, indent + current]
  })
}

/** A wrapped text with every line moved to the right. */
export const indented = (text: string, indent: number, width = Number.POSITIVE_INFINITY): string =>
  wrap(text, width - indent)
    .map((line) => (line === '' ? '' : ' '.repeat(indent) + line))
    .join('\n')

/** Rows of cells in columns as wide as they need, two spaces apart; the last column wraps. */
export function columns(
  rows: readonly (readonly string[])[],
  { indent = 2, width = Number.POSITIVE_INFINITY } = {},
): string {
  const count = Math.max(0, ...rows.map((row) => row.length))
  const widths = Array.from({ length: count }, (_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows
    .map((row) => {
      const before = row
        .slice(0, -1)
        .map((cell, column) => cell.padEnd((widths[column] ?? 0) + 2))
        .join('')
      const start = indent + before.length
      const [first = '', ...rest] = wrap(row.at(-1) ?? '', Math.max(width - start, 20))
      return [' '.repeat(indent) + before + first, ...rest.map((line) => ' '.repeat(start) + line)]
        .map((line) => line.trimEnd())
        .join('\n')
    })
    .join('\n')
}

/** `1 belief`, `2 beliefs`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
