import { Transform, type TransformCallback, type Writable } from 'node:stream'
import { parseObject } from '../json.ts'

/** The largest message that is taken. */
export const largestMessage = 4 * 1024 * 1024
/** Lines of which even the id is not looked for. */
const largestParsed = 64 * 1024 * 1024
/** How much of the next message may come with the end of one. */
export const readAhead = 1024 * 1024

const newline = 0x0a

/**
 * Passes on the lines of a stream. A message that is too large is answered with an error of JSON-RPC instead, as it is over
 * HTTP: the SDK would close the connection, and with it everything else that the client does.
 */
export class BoundedLines extends Transform {
  readonly #output: Writable
  #chunks: Buffer[] = []
  #size = 0

  constructor(output: Writable) {
    super()
    this.#output = output
  }

  override _transform(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    let start = 0
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      this.#add(chunk.subarray(start, end + 1))
      this.#end()
      start = end + 1
    }
    this.#add(chunk.subarray(start))
    done()
  }

  override _flush(done: TransformCallback): void {
    this.#end()
    done()
  }

  #add(bytes: Buffer): void {
    this.#size += bytes.length
    if (this.#size <= largestParsed) this.#chunks.push(bytes)
    else this.#chunks = []
  }

  #end(): void {
    const [size, line] = [this.#size, Buffer.concat(this.#chunks)]
    this.#chunks = []
    this.#size = 0
    if (size === 0) return
    if (size <= largestMessage) {
      this.push(line)
      return
    }
    const message = `The message has ${size} bytes; at most ${largestMessage} are taken.`
    this.#output.write(`${JSON.stringify({ jsonrpc: '2.0', id: idIn(line), error: { code: -32600, message } })}\n`)
  }
}

/** The id of a request; null where there is none. */
function idIn(line: Buffer): string | number | null {
  const id = parseObject(line.toString('utf8'))?.id
  return typeof id === 'string' || typeof id === 'number' ? id : null
}
