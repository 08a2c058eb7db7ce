/** Turns texts into points whose nearness stands for likeness in meaning. */
export type Embedder = {
  /** Names model and provider, so that vectors of different models are never compared. */
  readonly model: string
  readonly dimensions: number
  /** One vector for each text, in order. The same text always gives the same vector. */
  embed(texts: readonly string[]): Promise<readonly Float32Array[]>
}

/**
 * An embedder that computes every text once. Concurrent callers share the work, and at most `most` texts are kept,
 * the oldest leaving first.
 */
export function cachedEmbedder(embedder: Embedder, most = 10_000): Embedder {
  const known = new Map<string, Promise<Float32Array>>()
  return {
    model: embedder.model,
    dimensions: embedder.dimensions,
    embed: async (texts) => {
      const missing = [...new Set(texts)].filter((text) => !known.has(text))
      if (missing.length > 0) {
        const batch = embedder.embed(missing)
        for (const [index, text] of missing.entries()) {
          const vector = batch.then((vectors) => vectors[index] as Float32Array)
          known.set(text, vector)
          // A failed attempt must not be remembered as the answer.
          vector.catch(() => known.delete(text))
        }
      }
      const vectors = await Promise.all(texts.map((text) => known.get(text) as Promise<Float32Array>))
      for (const text of known.keys()) {
        if (known.size <= most) break
        known.delete(text)
      }
      return vectors
    },
  }
}
