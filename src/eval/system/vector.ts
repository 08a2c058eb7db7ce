import type { BeliefRecord } from '../../memory/transfer/belief-record.ts'
import { cosine, type Embedder } from '../../search/embedder.ts'
import { corpusSystem } from './corpus.ts'
import type { System } from './system.ts'

type VectorOptions = {
  readonly name: string
  readonly description: string
  readonly embedder: Embedder
  readonly k: number
  /** The min similarity; null for no limit. */
  readonly threshold: number | null
  readonly notes: readonly string[]
}

/** Cosine similarity of dense embeddings, within the same boundaries as our own recall. */
export function vectorSystem({ name, description, embedder, k, threshold, notes }: VectorOptions): System {
  const vectors = new Map<string, Float32Array>()
  return corpusSystem({
    name,
    version: embedder.model,
    description,
    notes: [`${name}: model ${embedder.model}, ${embedder.dimensions} dimensions.`, ...notes],
    takeIn: async (beliefs) => {
      const computed = await embedder.embed(beliefs.map(embeddedText))
      for (const [at, { id }] of beliefs.entries()) vectors.set(id, computed[at] as Float32Array)
      return []
    },
    find: async (corpus, query) => {
      // An empty message is not similar to anything.
      if (query.message.trim() === '') return []
      const [asked] = await embedder.embed([query.message])
      const found = corpus
        .candidates(query)
        .map((belief) => ({ belief, score: cosine(asked as Float32Array, vectors.get(belief.id) as Float32Array) }))
        .filter(({ score }) => threshold === null || score >= threshold)
        .sort((a, b) => b.score - a.score)
        .slice(0, k)
      const beliefs = found.map(({ belief }) => belief)
      const pulled = corpus.participantsOf(beliefs, query)
      return [
        ...found.map(({ belief, score }) => ({ id: belief.id, score })),
        ...pulled.map(({ id }) => ({ id, score: 0 })),
      ]
    },
  })
}

/** All texts of a belief, to give the similarity search as much input as possible. */
export const embeddedText = ({ name, aliases, content, why }: BeliefRecord): string =>
  [name.replaceAll('_', ' '), ...aliases, content, why].filter((part) => part !== '').join(' ')
