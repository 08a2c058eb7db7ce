import type { IncomingHttpHeaders } from 'node:http'
import zlib from 'node:zlib'
import { type JsonObject, parseObject } from '../json.ts'
import type { Answer, Dialect } from './dialects.ts'

/** Longer answers are passed on, but not kept. */
const largestCopy = 16 * 1024 * 1024

const nothing: Answer = { text: '', id: null, isComplete: false }

/** A copy of an answer that is passed on, to be read when it has ended, however it ended. */
export class AnswerCopy {
  readonly #headers: IncomingHttpHeaders
  #chunks: Buffer[] = []
  #size = 0

  constructor(headers: IncomingHttpHeaders) {
    this.#headers = headers
  }

  take(chunk: Buffer): void {
    this.#size += chunk.length
    if (this.#size <= largestCopy) this.#chunks.push(chunk)
    else this.#chunks = []
  }

  answer(dialect: Dialect): Answer {
    if (this.#size === 0 || this.#size > largestCopy) return nothing
    const text = this.#text()
    if (text === null) return nothing
    const isStream = (this.#headers['content-type'] ?? '').includes('text/event-stream')
    return dialect.answerIn(isStream ? eventsIn(text) : documentIn(text), isStream)
  }

  /** Null for an encoding that is not known, or bytes that are not of that encoding. */
  #text(): string | null {
    const bytes = Buffer.concat(this.#chunks)
    const encoding = (this.#headers['content-encoding'] ?? 'identity').trim().toLowerCase()
    const { constants } = zlib
    const most = { maxOutputLength: 4 * largestCopy }
    // An answer that was cut off is read as far as it goes.
    const cut = { ...most, finishFlush: constants.Z_SYNC_FLUSH }
    try {
      switch (encoding) {
        case 'identity':
          return bytes.toString('utf8')
        case 'gzip':
        case 'x-gzip':
          return zlib.gunzipSync(bytes, cut).toString('utf8')
        case 'deflate':
          return zlib.inflateSync(bytes, cut).toString('utf8')
        case 'br':
          return zlib
            .brotliDecompressSync(bytes, { ...most, finishFlush: constants.BROTLI_OPERATION_FLUSH })
            .toString('utf8')
        case 'zstd':
          // Not in every version of Node that this runs on.
          return zlib.zstdDecompressSync?.(bytes, most).toString('utf8') ?? null
        default:
          return null
      }
    } catch {
      // The client has the bytes; only the copy cannot be read.
      return null
    }
  }
}

function eventsIn(text: string): readonly JsonObject[] {
  return text.split(/\r?\n\r?\n/u).flatMap((event) => {
    const data = event
      .split(/\r?\n/u)
      .filter((line) => line.startsWith('data:'))
      .map((line) => line.slice('data:'.length))
      .join('\n')
    return documentIn(data)
  })
}

/** Empty for the end mark of a stream, an event that was cut off, or an answer that is no JSON. */
function documentIn(text: string): readonly JsonObject[] {
  const value = parseObject(text)
  return value === null ? [] : [value]
}
