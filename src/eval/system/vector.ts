import type { BeliefRecord } from '../../memory/transfer/belief-record.ts'
import type { Embedder } from '../../search/embedder.ts'
import { cosine } from '../../search/embedder.ts'
import { Corpus } from './corpus.ts'
import type { AnswerHit, System } from './system.ts'
import { embeddedText, type KnownVectors, textHash } from './vector-file.ts'

export type VectorOptions = {
  readonly name: string
  readonly description: string
  readonly embedder: Embedder
  /** Vectors made earlier. What is missing or has changed since is computed when it is taken in. */
  readonly known: KnownVectors
  /** At most this many. */
  readonly k: number
  /** Only what is at least this near; null for no bound. */
  readonly threshold: number | null
  readonly notes: readonly string[]
}

/** Cosine similarity over dense embeddings, within the same boundaries as our own recall. */
export function vectorSystem({ name, description, embedder, known, k, threshold, notes }: VectorOptions): System {
  let corpus = new Corpus()
  const vectors = new Map<string, Float32Array>()

  /** Returns how many had to be computed. */
  const takeIn = async (beliefs: readonly BeliefRecord[]): Promise<number> => {
    const texts = new Map(beliefs.map((belief) => [belief.id, embeddedText(belief)]))
    const missing = [...texts.values()].filter((text) => !known.has(textHash(text)))
    const computed = await embedder.embed(missing)
    const fresh = new Map(missing.map((text, at) => [text, computed[at] as Float32Array]))
    for (const [id, text] of texts) vectors.set(id, (known.get(textHash(text)) ?? fresh.get(text)) as Float32Array)
    return missing.length
  }

  return {
    name,
    version: embedder.model,
    description,
    tiers: 'relevant',
    notes: [`${name}: model ${embedder.model}, ${embedder.dimensions} dimensions.`, ...notes],
    reset: async () => {
      corpus = new Corpus()
      vectors.clear()
    },
    ingest: async (beliefs) => {
      corpus = new Corpus(beliefs)
      const computed = await takeIn(beliefs)
      if (computed === 0) return []
      return [
        `${computed} of ${beliefs.length} beliefs had no stored vector of ${embedder.model}; it was computed now.`,
      ]
    },
    update: async (update) => {
      await takeIn([corpus.apply(update)])
    },
    recall: async (query) => {
      // Nothing is as near to nothing as anything else.
      if (query.message.trim() === '') return { prelude: null, pinned: [], relevant: [], questions: [] }
      const [asked] = await embedder.embed([query.message])
      const found = corpus
        .candidates(query)
        .map((belief) => ({ belief, score: cosine(asked as Float32Array, vectors.get(belief.id) as Float32Array) }))
        .filter(({ score }) => threshold === null || score >= threshold)
        .sort((one, other) => other.score - one.score)
        .slice(0, k)
      const pulled = corpus.participantsOf(
        found.map(({ belief }) => belief),
        query,
      )
      const relevant: readonly AnswerHit[] = [
        ...found.map(({ belief, score }) => ({ id: belief.id, score })),
        ...pulled.map(({ id }) => ({ id, score: 0 })),
      ]
      return { prelude: null, pinned: [], relevant, questions: [] }
    },
    close: async () => {},
  }
}
