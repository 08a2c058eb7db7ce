import { localMinute } from '../../local-time.ts'
import { type Style, table } from './output.ts'

/**
 * The text of an answer in the default format. A list becomes a table with a heading; an object becomes one line per value,
 * with its lists of objects below. Empty values and columns are omitted.
 */
export const defaultText = (shown: object, style: Style): string =>
  Array.isArray(shown) ? listText(shown, style) : detailText(shown, style)

function listText(items: readonly object[], style: Style): string {
  const names = [...new Set(items.flatMap((item) => Object.keys(item)))]
  const rows = items.map((item) => {
    const values = new Map(Object.entries(item))
    return names.map((name) => valueText(values.get(name)).replace(/\s+/gu, ' '))
  })
  const isFilled = names.map((_, column) => rows.some((row) => row[column] !== ''))
  const fillRow = (row: readonly string[]): readonly string[] => row.filter((_, column) => isFilled[column])
  if (items.length === 0) return ''
  const [heading = '', ...lines] = table([names.map(labelText), ...rows].map(fillRow), style.width).split('\n')
  return [style.bold(heading), ...lines].join('\n')
}

function detailText(details: object, style: Style): string {
  const rows = Object.entries(details)
    .filter(([, value]) => !isTable(value))
    .map(([name, value]) => [labelText(name), valueText(value)] as const)
    .filter(([, text]) => text !== '')
  const tables = Object.entries(details).flatMap(([name, value]) =>
    isTable(value) ? [`\n${labelText(name)}:\n${listText(value, style)}`] : [],
  )
  return [...(rows.length === 0 ? [] : [table(rows, style.width)]), ...tables].join('\n')
}

const isTable = (value: unknown): value is readonly object[] =>
  Array.isArray(value) && typeof value[0] === 'object' && value[0] !== null

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
  return isTime(text) ? localMinute(text) : text
}
