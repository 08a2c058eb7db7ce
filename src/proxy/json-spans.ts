/** A part of a text, from `start` up to and not including `end`. */
export type Span = { readonly start: number; readonly end: number }

/**
 * Finds values in a JSON text without parsing and printing it again, so that everything else can be passed on byte for
 * byte. The text must be valid JSON, one character for each byte (latin1): everything that counts is ASCII.
 */
export class JsonSpans {
  readonly #source: string

  constructor(source: string) {
    this.#source = source
  }

  /** The value that the text consists of. */
  root(): Span {
    const start = this.#skipSpace(0)
    return { start, end: this.#endOfValue(start) }
  }

  /** The elements of an array; none if it is no array. */
  elements({ start }: Span): readonly Span[] {
    if (this.#source[start] !== '[') return []
    const found: Span[] = []
    for (let at = this.#skipSpace(start + 1); this.#source[at] !== ']'; at = this.#next(at)) {
      const end = this.#endOfValue(at)
      found.push({ start: at, end })
      at = end
    }
    return found
  }

  /** The value of a member of an object; of several with the name the last, as in JSON.parse. */
  member({ start }: Span, name: string): Span | null {
    if (this.#source[start] !== '{') return null
    let found: Span | null = null
    for (let at = this.#skipSpace(start + 1); this.#source[at] !== '}'; at = this.#next(at)) {
      const keyEnd = this.#endOfString(at)
      const key = this.#source.slice(at, keyEnd)
      const value = this.#skipSpace(this.#skipSpace(keyEnd) + 1)
      at = this.#endOfValue(value)
      if (key === `"${name}"` || (key.includes('\\') && JSON.parse(key) === name)) found = { start: value, end: at }
    }
    return found
  }

  isString({ start }: Span): boolean {
    return this.#source[start] === '"'
  }

  /** From the end of a value to the next one, or to the closing bracket. */
  #next(at: number): number {
    const after = this.#skipSpace(at)
    return this.#source[after] === ',' ? this.#skipSpace(after + 1) : after
  }

  #skipSpace(at: number): number {
    let place = at
    while (isSpace(this.#source.charCodeAt(place))) place += 1
    return place
  }

  #endOfString(at: number): number {
    for (let quote = this.#source.indexOf('"', at + 1); ; quote = this.#source.indexOf('"', quote + 1)) {
      let backslashes = 0
      while (this.#source[quote - 1 - backslashes] === '\\') backslashes += 1
      if (backslashes % 2 === 0) return quote + 1
    }
  }

  #endOfValue(start: number): number {
    const first = this.#source[start]
    if (first === '"') return this.#endOfString(start)
    if (first !== '{' && first !== '[') {
      let at = start
      while (at < this.#source.length && !/[\s,\]}]/u.test(this.#source[at] ?? '')) at += 1
      return at
    }
    let depth = 0
    for (let at = start; ; at += 1) {
      const character = this.#source[at]
      if (character === '"') at = this.#endOfString(at) - 1
      else if (character === '{' || character === '[') depth += 1
      else if (character === '}' || character === ']') depth -= 1
      if (depth === 0) return at + 1
    }
  }
}

const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09

/** A text to be inserted before the byte with this number. */
export type Insertion = { readonly at: number; readonly text: string }

/** The bytes with the insertions, which may come in any order. Two at one place stay in the order given. */
export function withInsertions(bytes: Buffer, insertions: readonly Insertion[]): Buffer {
  const ordered = [...insertions].sort((one, other) => one.at - other.at)
  const parts: Buffer[] = []
  let from = 0
  for (const { at, text } of ordered) {
    parts.push(bytes.subarray(from, at), Buffer.from(text))
    from = at
  }
  return Buffer.concat([...parts, bytes.subarray(from)])
}
