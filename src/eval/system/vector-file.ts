import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { BeliefRecord } from '../../memory/transfer/belief-record.ts'
import type { Embedder } from '../../search/embedder.ts'
import { packVector, unpackVector } from '../../search/embedder.ts'
import { invalid } from '../kinds/retrieval/case-file.ts'
import { parseJsonFile, readTextFile } from '../pack/read-file.ts'

/** Vectors by the hash of the text they stand for, so that a changed belief never gets the vector of its old text. */
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

/** All of a belief: a similarity search should not lose for want of text. */
export const embeddedText = ({ name, aliases, content, why }: BeliefRecord): string =>
  [name.replaceAll('_', ' '), ...aliases, content, why].filter((part) => part !== '').join(' ')

export const textHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32)

/** The vectors kept beside a pack. None when there is no file or it belongs to another model. */
export function readVectors(
  directory: string,
  { model, dimensions }: Pick<Embedder, 'model' | 'dimensions'>,
): KnownVectors {
  const file = join(directory, fileName)
  if (!existsSync(file)) return new Map()
  const parsed = vectorFile.safeParse(parseJsonFile(file, readTextFile(file)))
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw invalid(`${file}: ${issue?.path.join('.')}: ${issue?.message}.`, regenerate)
  }
  if (parsed.data.model !== model || parsed.data.dimensions !== dimensions) return new Map()
  return new Map(
    parsed.data.vectors.map(({ id, textHash: hash, vector }) => {
      const unpacked = unpackVector(vector, dimensions)
      if (unpacked === null)
        throw invalid(`${file}: the vector of "${id}" does not have ${dimensions} dimensions.`, regenerate)
      return [hash, unpacked]
    }),
  )
}

const regenerate = 'Make it again with `credence eval embed`.'

/** What to keep beside a pack: where it goes and what it says. */
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
