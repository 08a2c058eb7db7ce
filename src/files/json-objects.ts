type ObjectText = {
  /** Null if it is longer than `maxLength`. */
  readonly text: string | null
  /** The line in which the object begins, from 1. */
  readonly line: number
  /** The byte offset in the whole text at which the object ends. */
  readonly end: number
}

/**
 * Splits a JSON text into its top-level objects, or the objects in its top-level array, without keeping the whole text in memory. The text
 * is passed in pieces of any size.
 */
export class JsonObjects {
  readonly #maxLength: number
  #depth = 0
  #isInString = false
  #isEscaped = false
  #isInArray = false
  #parts: Buffer[] = []
  #held = 0
  #bytes = 0
  #line = 1
  #startLine = 1

  constructor(maxLength = Number.POSITIVE_INFINITY) {
    this.#maxLength = maxLength
  }

  /** The object or array that is still open at the end of the text so far, and the line that it starts in. */
  get unfinished(): { readonly part: 'object' | 'array'; readonly line: number } | null {
    if (this.#depth > 0) return { part: 'object', line: this.#startLine }
    return this.#isInArray ? { part: 'array', line: 1 } : null
  }

  /** Takes the next piece of the text, and yields the objects that end in it. The caller may reuse the buffer afterwards. */
  *take(chunk: Buffer): Generator<ObjectText> {
    let start = this.#depth > 0 ? 0 : -1
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at]
      if (byte === newline) this.#line += 1
      if (this.#isInString) {
        if (this.#isEscaped) this.#isEscaped = false
        else if (byte === backslash) this.#isEscaped = true
        else if (byte === quote) this.#isInString = false
        continue
      }
      if (byte === quote) this.#isInString = true
      else if (this.#depth === 0 && (byte === openBracket || byte === closeBracket))
        this.#isInArray = byte === openBracket
      else if (byte === openBrace) {
        if (this.#depth === 0) {
          start = at
          this.#startLine = this.#line
        }
        this.#depth += 1
      } else if (byte === closeBrace && this.#depth > 0) {
        this.#depth -= 1
        if (this.#depth > 0) continue
        this.#hold(chunk.subarray(start, at + 1))
        const text = this.#held > this.#maxLength ? null : Buffer.concat(this.#parts).toString('utf8')
        yield { text, line: this.#startLine, end: this.#bytes + at + 1 }
        this.#parts = []
        this.#held = 0
        start = -1
      }
    }
    if (this.#depth > 0) this.#hold(Buffer.from(chunk.subarray(start)))
    this.#bytes += chunk.length
  }

  #hold(part: Buffer): void {
    this.#held += part.length
    if (this.#held <= this.#maxLength) this.#parts.push(part)
    else this.#parts = []
  }
}

const newline = 0x0a
const quote = 0x22
const backslash = 0x5c
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
