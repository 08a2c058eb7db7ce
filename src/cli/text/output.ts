import { randomBytes } from 'node:crypto'
import type { Writable } from 'node:stream'
import { styleText } from 'node:util'
import { MemoryError } from '../../errors.ts'

/** The environment variables of the process; only compose.ts reads them. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>

export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number }

type Paint = (text: string) => string

const paints = ['bold', 'dim', 'underline', 'red', 'green', 'yellow', 'cyan'] as const

/** Colours and the line width, which is unlimited in a pipe. Without colour, every paint returns its text unchanged. */
export type Style = Readonly<Record<(typeof paints)[number], Paint>> & {
  readonly width: number
  /** What a person types to start Credence. */
  readonly command: string
}

/** Longer lines are tiring to read, however wide the window is. */
const maxTextWidth = 100

export function styleFor(stream: OutputStream, env: EnvironmentVariables): Style {
  const width = stream.isTTY ? Math.min(stream.columns ?? 80, maxTextWidth) : Number.POSITIVE_INFINITY
  if (!mayUseColour(stream, env)) return plainStyle(width)
  return makeStyle((name) => (text) => (text === '' ? '' : `${mark}+${name};${text}${mark}-${name};`), width)
}

/**
 * Marks the start and the end of a paint in a text, until `terminalText` replaces it with the codes of a terminal. Random, so
 * that no remembered text can contain it.
 */
const mark = `\u{fdd0}${randomBytes(4).toString('hex')}`
const marks = new RegExp(`${mark}[+-]\\w+;`, 'gu')

const withoutMarks = (text: string): string => (text.includes(mark) ? text.replaceAll(marks, '') : text)

/** A text for a terminal: its paints become codes, and all other control characters are replaced. */
export function terminalText(text: string): string {
  const [plainText = '', ...painted] = text.split(mark)
  const parts = painted.map((part) => {
    const [, sign, name = '', rest = ''] = /^([+-])(\w+);(.*)$/su.exec(part) ?? []
    // The stream was checked when the style was made, and `name` is the name of a paint.
    const codes = styleText(name as (typeof paints)[number], '|', { validateStream: false }).split('|')
    return `${codes[sign === '+' ? 0 : 1]}${stripControlCharacters(rest)}`
  })
  return stripControlCharacters(plainText) + parts.join('')
}

export const plainStyle = (width: number): Style => makeStyle(() => (text) => text, width)

function makeStyle(paint: (name: (typeof paints)[number]) => Paint, width: number): Style {
  const painted = Object.fromEntries(paints.map((name) => [name, paint(name)]))
  // There is one entry for each name.
  return { ...(painted as Omit<Style, 'width' | 'command'>), width, command: 'credence' }
}

/** Whether to use colour: on a terminal that supports it, unless variables say otherwise (no-color.org, force-color.org). */
export function mayUseColour({ isTTY = false }: { readonly isTTY?: boolean }, env: EnvironmentVariables): boolean {
  const isSet = (name: string): boolean => env[name] !== undefined && env[name] !== ''
  if (isSet('FORCE_COLOR')) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false'
  if (isSet('NO_COLOR') || isSet('CI') || env.TERM === 'dumb') return false
  return isTTY
}

/** Resolves when the stream has accepted the text, so that its errors are thrown here. */
export const write = (stream: Writable, text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    stream.write(text, (error) => (error ? reject(isClosedPipe(error) ? error : cannotPrint(error)) : resolve()))
  })

const cannotPrint = (cause: Error): MemoryError =>
  new MemoryError('unavailable', `The output could not be written: ${cause.message}.`, {
    hint: 'Free some space, or redirect the output. The changes that the command made to the memory are kept.',
    cause,
  })

/** Whether an error only means that the reader has closed the pipe, as `head` does. */
export const isClosedPipe = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED')

/** Makes a text safe for a terminal: it cannot move the cursor, change colours or reverse the reading direction. */
export const stripControlCharacters = (text: string): string =>
  text.replace(/(?![\t\n])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu, '\u{fffd}')

/**
 * Breaks a text into lines of at most `width` characters at spaces. Line breaks stay, continued lines
 * keep the indent, and long words are kept whole.
 */
export function wrap(text: string, width: number): readonly string[] {
  return text.split('\n').flatMap((line) => {
    if (withoutMarks(line).length <= width) return [line]
    const [indent = ''] = line.match(/^ */) ?? []
    const lines: string[] = []
    let current = ''
    for (const word of line.slice(indent.length).split(' ')) {
      if (current !== '' && indent.length + withoutMarks(`${current} ${word}`).length > width) {
        lines.push(indent + current)
        current = word
      } else current = current === '' ? word : `${current} ${word}`
    }
    return [...lines, indent + current]
  })
}

/** A wrapped text with every line moved to the right. */
export const indentText = (text: string, indent: number, width = Number.POSITIVE_INFINITY): string =>
  wrap(text, width - indent)
    .map((line) => (line === '' ? '' : ' '.repeat(indent) + line))
    .join('\n')

const wide =
  /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{Emoji_Presentation}|[\u3000-\u303e\uff01-\uff60]/u

/** The width of a text in terminal columns: two for a wide character, zero for a combining mark. */
function widthOf(painted: string): number {
  const text = withoutMarks(painted)
  if (/^[ -~]*$/u.test(text)) return text.length
  const characters = [...text.replaceAll(/\p{M}|\u200d/gu, '')]
  return characters.length + characters.filter((character) => wide.test(character)).length
}

/** Aligns rows of cells in columns, two spaces apart; the last column wraps. */
export function columns(
  rows: readonly (readonly string[])[],
  { indent = 2, width = Number.POSITIVE_INFINITY } = {},
): string {
  const count = Math.max(0, ...rows.map((row) => row.length))
  const widths = Array.from({ length: count }, (_, column) =>
    Math.max(...rows.map((row) => widthOf(row[column] ?? ''))),
  )
  return rows
    .map((row) => {
      const before = row
        .slice(0, -1)
        .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) + 2 - widthOf(cell)))
        .join('')
      const start = indent + widthOf(before)
      const [first = '', ...rest] = wrap(row.at(-1) ?? '', Math.max(width - start, 20))
      return [' '.repeat(indent) + before + first, ...rest.map((line) => ' '.repeat(start) + line)]
        .map((line) => line.trimEnd())
        .join('\n')
    })
    .join('\n')
}

/** Aligned columns without an indent. */
export const table = (rows: readonly (readonly string[])[], width?: number): string =>
  columns(rows, width === undefined ? { indent: 0 } : { indent: 0, width })

/** One or several lines of text; false is omitted. */
export type Part = string | false | readonly (string | false)[]

/** Joins the parts with line breaks, without those that are false, such as `isNew && 'It is new.'`. */
export const lines = (...parts: readonly Part[]): string =>
  parts
    .flat()
    .filter((part) => part !== false)
    .join('\n')

/** `1 belief`, `2 beliefs`. */
export const pluralize = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** The first items of a list, and how many more there are. */
export const listShort = (items: readonly string[], max: number): string =>
  items.length <= max ? items.join(', ') : `${items.slice(0, max).join(', ')} and ${items.length - max} more`

/** A note about the items of a list that are not shown; empty if all are shown. */
export function moreNote(noun: string, total: number, end: number): readonly string[] {
  return total > end ? [`${pluralize(total - end, `more ${noun}`)}; see them with --offset ${end}.`] : []
}
