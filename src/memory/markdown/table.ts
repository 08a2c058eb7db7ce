/** A row of a table: what its first cell names, and what the others say of it. */
export type TableRow = { readonly name: string; readonly content: string; readonly row: number }

const divider = /^\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?$/u

/** The rows of a text that is a table; null when it is none. */
export function tableRows(text: string): readonly TableRow[] | null {
  const lines = text.split('\n').map((line) => line.trim())
  const [header, rule, ...rows] = lines
  if (header === undefined || rule === undefined || !header.includes('|') || !rule.includes('-') || !divider.test(rule))
    return null
  const titles = cellsOf(header)
  if (titles.length < 2) return null
  return rows.flatMap((line, index) => {
    const [name = '', ...cells] = cellsOf(line)
    const said = cells.flatMap((cell, at) =>
      cell === '' ? [] : [cells.length === 1 ? cell : `${titles[at + 1] ?? ''}: ${cell}`],
    )
    return name === '' || said.length === 0 ? [] : [{ name, content: said.join('; '), row: index + 2 }]
  })
}

const cellsOf = (line: string): readonly string[] =>
  line
    .replace(/^\|/u, '')
    .replace(/(?<!\\)\|$/u, '')
    .split(/(?<!\\)\|/u)
    .map((cell) => cell.trim().replaceAll('\\|', '|'))
