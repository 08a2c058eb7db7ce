import { localMinute } from '../../local-time.ts'
import { columns, type Style, stripControlCharacters, table } from './output.ts'

/**
 * The text of an answer without its own renderer: a list as a table with a heading, an object as one line for each of its
 * values. Empty values and columns are left out.
 */
export const defaultText = (shown: object, style: Style): string =>
  Array.isArray(shown) ? listText(shown, style) : table(detailRows(shown), style.width)

function listText(items: readonly object[], style: Style): string {
  const names = [...new Set(items.flatMap((item) => Object.keys(item)))]
  const rows = items.map((item) => {
    const values = new Map(Object.entries(item))
    return names.map((name) => valueText(values.get(name)).replace(/\s+/gu, ' '))
  })
  const isFilled = names.map((_, column) => rows.some((row) => row[column] !== ''))
  const filled = (row: readonly string[]): readonly string[] => row.filter((_, column) => isFilled[column])
  if (items.length === 0) return ''
  const [heading = '', ...lines] = table([names.map(labelText), ...rows].map(filled), style.width).split('\n')
  return [style.bold(heading), ...lines].join('\n')
}

/** One line for each value that is not empty, indented below a title. */
export const detailText = (details: object, style: Style): string =>
  columns(detailRows(details), { width: style.width })

const detailRows = (details: object): readonly (readonly [string, string])[] =>
  Object.entries(details)
    .map(([name, value]) => [labelText(name), valueText(value)] as const)
    .filter(([, text]) => text !== '')

/** `lastUsedAt` is `last used`. */
const labelText = (name: string): string =>
  name.replace(/At$/u, '').replace(/[A-Z]/gu, (letter) => ` ${letter.toLowerCase()}`)

const isTime = (text: string): boolean => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/u.test(text)

function valueText(value: unknown): string {
  if (value === null || value === undefined || value === false) return ''
  if (value === true) return 'yes'
  if (Array.isArray(value)) return value.map(valueText).join(', ')
  if (typeof value === 'object') return Object.values(value).map(valueText).join(' ')
  const text = String(value)
  return isTime(text) ? localMinute(text) : stripControlCharacters(text)
}
