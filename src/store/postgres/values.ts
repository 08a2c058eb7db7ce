import { hash } from 'node:crypto'

/** Texts in PostgreSQL cannot contain NUL, so it is written as this noncharacter and a digit. */
const mark = '\u{10ffff}'
const special = /[\0\u{10ffff}]/u

const encodeText = (text: string): string =>
  special.test(text) ? text.replaceAll(mark, `${mark}1`).replaceAll('\0', `${mark}0`) : text

export const decodeText = (text: string): string =>
  text.includes(mark) ? text.replaceAll(`${mark}0`, '\0').replaceAll(`${mark}1`, mark) : text

/** Converts a value to a type that the driver accepts. */
export function encodeValue(value: unknown): unknown {
  if (typeof value === 'string') return encodeText(value)
  if (value instanceof Uint8Array && !Buffer.isBuffer(value))
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  return Array.isArray(value) ? value.map(encodeValue) : value
}

/** Max bytes of a text in an index key, so that the entry has room for the other columns of the key. */
const maxKeyBytes = 700

/** A text as part of an index key. A very long text is cut, and a hash of the whole text is appended to keep it distinct. */
export function keyText(text: string): string {
  if (text.length * 3 <= maxKeyBytes || Buffer.byteLength(text) <= maxKeyBytes) return text
  return `${text.slice(0, 150).toWellFormed()}\u{10fffe}${hash('sha256', text)}`
}
