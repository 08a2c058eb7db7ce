import { createReadStream } from 'node:fs'

export type Line = {
  /** The number of the line, from 1. */
  readonly number: number
  /** Null if the line is longer than `maxLineLength`. */
  readonly bytes: Uint8Array | null
  /** False for a last line without a newline, whose writer was interrupted. */
  readonly isWhole: boolean
}

const maxLineLength = 16 * 1024 * 1024
const newline = 0x0a

/** The lines of a file or stream of any size, one at a time. */
export async function* readLines(source: string | AsyncIterable<Buffer>): AsyncGenerator<Line> {
  let number = 1
  let parts: Buffer[] = []
  let length = 0
  const take = (isWhole: boolean): Line => {
    const line = { number, bytes: length > maxLineLength ? null : Buffer.concat(parts), isWhole }
    number += 1
    parts = []
    length = 0
    return line
  }
  const keep = (part: Buffer): void => {
    length += part.length
    if (length <= maxLineLength) parts.push(part)
    else parts = []
  }

  const chunks: AsyncIterable<Buffer> = typeof source === 'string' ? createReadStream(source) : source
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      keep(chunk.subarray(start, end))
      yield take(true)
      start = end + 1
    }
    if (start < chunk.length) keep(chunk.subarray(start))
  }
  if (length > 0) yield take(false)
}
