/** Turns texts into vectors. The nearer two vectors are, the more similar are their texts. */
export type Embedder = {
  /** The provider and its model. Vectors of different models are never compared. */
  readonly model: string
  readonly dimensions: number
  /** One vector for each text, in order. The same text always gives the same vector. */
  embed(texts: readonly string[]): Promise<readonly Float32Array[]>
  /** The words of each text with their vectors. Undefined for models at an endpoint, which return one vector per text. */
  words?(texts: readonly string[]): Promise<readonly TextWords[]>
}

/** The words of a text in lower case, and their concatenated vectors, with one byte per dimension. */
export type TextWords = { readonly words: readonly string[]; readonly vectors: Int8Array }

/**
 * Caches the results of an embedder. Concurrent callers share the work. The cache keeps the vectors of at most `maxTexts` texts
 * and evicts the oldest first.
 */
export function cacheEmbedder(embedder: Embedder, maxTexts = 10_000): Embedder {
  const { model, dimensions, words } = embedder
  const embed = cached(embedder.embed, maxTexts)
  return { model, dimensions, embed, ...(words === undefined ? {} : { words: cached(words, wordsKept * maxTexts) }) }
}

/** The word cache may contain `wordsKept` times `maxTexts` texts, because each question is compared with several sentences. */
const wordsKept = 10

function cached<Value>(compute: (texts: readonly string[]) => Promise<readonly Value[]>, maxTexts: number) {
  const known = new Map<string, Promise<Value>>()
  return async (texts: readonly string[]): Promise<readonly Value[]> => {
    const missing = [...new Set(texts)].filter((text) => !known.has(text))
    if (missing.length > 0) {
      const batch = compute(missing)
      for (const [index, text] of missing.entries()) {
        const value = batch.then((values) => values[index] as Value)
        known.set(text, value)
        // Failures are not cached.
        value.catch(() => known.delete(text))
      }
    }
    const values = await Promise.all(texts.map((text) => known.get(text) as Promise<Value>))
    for (const text of known.keys()) {
      if (known.size <= maxTexts) break
      known.delete(text)
    }
    return values
  }
}

/** The cosine similarity of two vectors of the same length, -1 to 1; 0 if one of them is zero. */
export function cosine(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length) throw new RangeError(`vectors of ${a.length} and ${b.length} dimensions have no angle`)
  let product = 0
  let squaredA = 0
  let squaredB = 0
  for (let at = 0; at < a.length; at += 1) {
    const x = a[at] as number
    const y = b[at] as number
    product += x * y
    squaredA += x * x
    squaredB += y * y
  }
  if (squaredA === 0 || squaredB === 0) return 0
  // Rounding may move the quotient out of the range.
  return Math.max(-1, Math.min(1, product / Math.sqrt(squaredA * squaredB)))
}
