/** PostgreSQL's texts hold every character but NUL, so NUL is written as this noncharacter and a digit. */
const mark = '\u{10ffff}'
const special = /[\0\u{10ffff}]/u

const encodeText = (text: string): string =>
  special.test(text) ? text.replaceAll(mark, `${mark}1`).replaceAll('\0', `${mark}0`) : text

export const decodeText = (text: string): string =>
  text.includes(mark) ? text.replaceAll(`${mark}0`, '\0').replaceAll(`${mark}1`, mark) : text

/** A value as the driver takes it. */
export function encodeValue(value: unknown): unknown {
  if (typeof value === 'string') return encodeText(value)
  if (value instanceof Uint8Array && !Buffer.isBuffer(value))
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  return Array.isArray(value) ? value.map(encodeValue) : value
}

const cutMark = '\u{10fffe}'

/** Whether a text of an index may be the beginning of a longer one. */
export const isCutKey = (text: string): boolean => text.includes(cutMark)

/** Text with this many bytes fits an index entry with the other columns of its key. */
const mostKeyBytes = 700

/** A text as part of an index key: a very long one is cut, and told from others by its hash. */
export function keyText(text: string, hash: (text: string) => string): string {
  if (text.length * 3 <= mostKeyBytes || Buffer.byteLength(text) <= mostKeyBytes) return text
  return `${text.slice(0, 150).toWellFormed()}${cutMark}${hash(text)}`
}
