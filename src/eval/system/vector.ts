import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { invalid } from '../../errors.ts'
import { readTextFile } from '../../files/read-text.ts'
import type { BeliefRecord } from '../../memory/transfer/belief-record.ts'
import { cosine, type Embedder, packVector, unpackVector } from '../../search/embedder.ts'
import { parseJsonAs } from '../pack/manifest.ts'
import { corpusSystem } from './corpus.ts'
import type { System } from './system.ts'

type VectorOptions = {
  readonly name: string
  readonly description: string
  readonly embedder: Embedder
  /** Stored vectors. A missing or outdated one is computed when the belief is taken in. */
  readonly known: KnownVectors
  readonly k: number
  /** The min similarity; null for no limit. */
  readonly threshold: number | null
  readonly notes: readonly string[]
}

/** Cosine similarity over dense embeddings, within the same boundaries as our own recall. */
export function vectorSystem({ name, description, embedder, known, k, threshold, notes }: VectorOptions): System {
  const vectors = new Map<string, Float32Array>()
  return corpusSystem({
    name,
    version: embedder.model,
    description,
    notes: [`${name}: model ${embedder.model}, ${embedder.dimensions} dimensions.`, ...notes],
    takeIn: async (beliefs) => {
      const texts = new Map(beliefs.map((belief) => [belief.id, embeddedText(belief)]))
      const missing = [...texts.values()].filter((text) => !known.has(textHash(text)))
      const computed = await embedder.embed(missing)
      const fresh = new Map(missing.map((text, at) => [text, computed[at] as Float32Array]))
      for (const [id, text] of texts) vectors.set(id, (known.get(textHash(text)) ?? fresh.get(text)) as Float32Array)
      const note = `had no stored vector of ${embedder.model}; it was computed now.`
      return missing.length === 0 ? [] : [`${missing.length} of ${beliefs.length} beliefs ${note}`]
    },
    find: async (corpus, query) => {
      // An empty message is not near to anything.
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

/** Vectors by the hash of their text, so that a changed belief never gets the vector of its old text. */
export type KnownVectors = ReadonlyMap<string, Float32Array>

const encoding = 'float16, little-endian, base64'
const textEmbedded = 'name (underscores as spaces), aliases, content and why, joined by spaces'

const vectorFile = z.object({
  schemaVersion: z.literal(1),
  model: z.string().min(1),
  dimensions: z.int().min(1),
  encoding: z.literal(encoding),
  textEmbedded: z.literal(textEmbedded),
  vectors: z.array(z.object({ id: z.string(), textHash: z.string(), vector: z.string() })),
})

const fileName = 'vectors.json'

/** All texts of a belief, so that a similarity search has as much as possible to go by. */
export const embeddedText = ({ name, aliases, content, why }: BeliefRecord): string =>
  [name.replaceAll('_', ' '), ...aliases, content, why].filter((part) => part !== '').join(' ')

export const textHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32)

/** The vectors stored with a pack. Empty if there is no file or it belongs to another model. */
type Model = Pick<Embedder, 'model' | 'dimensions'>

export function readVectors(directory: string, { model, dimensions }: Model): KnownVectors {
  const file = join(directory, fileName)
  if (!existsSync(file)) return new Map()
  const stored = parseJsonAs(file, readTextFile(file), vectorFile, regenerate)
  if (stored.model !== model || stored.dimensions !== dimensions) return new Map()
  return new Map(
    stored.vectors.map(({ id, textHash: hash, vector }) => {
      const unpacked = unpackVector(vector, dimensions)
      if (unpacked === null)
        throw invalid(`${file}: the vector of "${id}" does not have ${dimensions} dimensions.`, regenerate)
      return [hash, unpacked]
    }),
  )
}

const regenerate = 'Make it again with `credence eval embed`.'

/** The vector file of a pack: its path and text. */
export async function vectorsFor(
  directory: string,
  beliefs: readonly BeliefRecord[],
  embedder: Embedder,
): Promise<{ readonly file: string; readonly text: string }> {
  const texts = beliefs.map(embeddedText)
  const vectors = await embedder.embed(texts)
  const { model, dimensions } = embedder
  const head = JSON.stringify({ schemaVersion: 1, model, dimensions, encoding, textEmbedded }, null, 2).slice(0, -2)
  // One line for each belief, so that a changed belief is one changed line.
  const lines = beliefs.map(({ id }, at) =>
    JSON.stringify({ id, textHash: textHash(texts[at] as string), vector: packVector(vectors[at] as Float32Array) }),
  )
  return { file: join(directory, fileName), text: `${head},\n  "vectors": [\n    ${lines.join(',\n    ')}\n  ]\n}\n` }
}
