import type { Writable } from 'node:stream'
import { MemoryError } from '../../errors.ts'

/** What is known of the environment; only compose.ts fetches it. */
export type Environment = Readonly<Record<string, string | undefined>>

/** A stream as the command line sees it: perhaps a terminal. */
export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number }

type Paint = (text: string) => string

/** How text for people looks. Without colour every paint leaves the text as it is. */
export type Style = {
  readonly bold: Paint
  readonly dim: Paint
  readonly underline: Paint
  readonly red: Paint
  readonly green: Paint
  readonly yellow: Paint
  readonly cyan: Paint
  /** Columns that text may take; unbounded where nobody looks at lines, such as in a pipe. */
  readonly width: number
}

/** Longer lines are tiring to read, however wide the window is. */
const widestText = 100

export function styleFor(stream: OutputStream, env: Environment): Style {
  const width = stream.isTTY ? Math.min(stream.columns ?? 80, widestText) : Number.POSITIVE_INFINITY
  return wantsColour(stream, env) ? colourful(width) : plain(width)
}

/** No colours at all. */
export function plain(width: number): Style {
  const paint: Paint = (text) => text
  return { bold: paint, dim: paint, underline: paint, red: paint, green: paint, yellow: paint, cyan: paint, width }
}

function colourful(width: number): Style {
  const paint =
    (open: number, close: number): Paint =>
    (text) =>
      text === '' ? '' : `\u001b[${open}m${text}\u001b[${close}m`
  return {
    bold: paint(1, 22),
    dim: paint(2, 22),
    underline: paint(4, 24),
    red: paint(31, 39),
    green: paint(32, 39),
    yellow: paint(33, 39),
    cyan: paint(36, 39),
    width,
  }
}

/** Colour only on a terminal that can and may; see no-color.org and force-color.org. */
export function wantsColour({ isTTY = false }: { readonly isTTY?: boolean }, env: Environment): boolean {
  const isSet = (name: string): boolean => env[name] !== undefined && env[name] !== ''
  if (isSet('FORCE_COLOR')) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false'
  if (isSet('NO_COLOR') || isSet('CI') || env.TERM === 'dumb') return false
  return isTTY
}

/** Resolves when the text has been handed over, so that an error of the stream surfaces here and nowhere else. */
export const write = (stream: Writable, text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    stream.write(text, (error) => (error ? reject(isClosedPipe(error) ? error : cannotPrint(error)) : resolve()))
  })

const cannotPrint = (cause: Error): MemoryError =>
  new MemoryError('unavailable', `The output could not be written: ${cause.message}.`, {
    hint: 'Make room, or send it somewhere else. What the command did to the memory is done.',
    cause,
  })

/** Whether an error only says that the reader has gone, as `head` does when it has seen enough. */
export const isClosedPipe = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED')

/**
 * Text from a memory, fit for a terminal: nothing in it can move the cursor, change colours or reverse the reading
 * direction.
 */
export const harmless = (text: string): string =>
  text.replace(/(?![\t\n])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu, '\u{fffd}')

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
