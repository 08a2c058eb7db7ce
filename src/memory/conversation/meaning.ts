import { omitUndefined } from '../../omit-undefined.ts'
import type { Embedder } from '../../search/embedder.ts'
import { sentencesOf } from '../../search/sentences.ts'
import type { Nearness } from '../../search/turns/rank.ts'
import type { Ports, Store } from '../ports.ts'

/** Only the first sentences of a turn are embedded. The rest of a long turn is mostly pasted. */
const longestText = 4_000
const mostSentences = 20
const longestSentence = 400
/** A shorter sentence such as "Yes." is embedded together with its neighbour. */
const shortPiece = 20

export type EmbedRequest = {
  readonly user: string
  /** How many turns at most. Default all of them. */
  readonly limit?: number
  readonly signal?: AbortSignal
  readonly onProgress?: (done: number) => void
}

/** Turns that are read and written together. */
const batchSize = 32

/**
 * Computes the sentence vectors of people's turns that have none yet, newest first. Can be stopped and started again at
 * any time, and several processes may run it at once.
 */
export async function embedTurns(
  { store, embedder }: Pick<Ports, 'store' | 'embedder'>,
  { user, limit = Number.POSITIVE_INFINITY, signal, onProgress = () => {} }: EmbedRequest,
): Promise<{ readonly embedded: number }> {
  const model = await embedder?.()
  if (model === undefined) return { embedded: 0 }
  let embedded = 0
  // A search from the newest turn each time would pass over all that have vectors by then.
  let before: number | undefined
  while (embedded < limit && signal?.aborted !== true) {
    const page = { limit: Math.min(batchSize, limit - embedded), ...omitUndefined({ before }) }
    const turns = await store.turnsWithoutVectors(user, model.model, page)
    const isFromTop = before === undefined
    // At the end, once more from the newest: turns may have been kept meanwhile.
    before = turns.at(-1)?.row
    if (turns.length === 0 && isFromTop) break
    if (turns.length === 0) continue
    const sentences = turns.map(({ text }) => readSentences(text))
    const vectors = await model.embed(sentences.flat())
    let from = 0
    const kept = turns.map(({ row }, place) => {
      const own = vectors.slice(from, from + (sentences[place]?.length ?? 0))
      from += own.length
      return { row, vectors: packed(own, model.dimensions) }
    })
    await store.keepVectors(user, model.model, kept)
    embedded += turns.length
    onProgress(embedded)
  }
  return { embedded }
}

/** The cosine between a question and the nearest sentence of each turn. */
export function nearnessTo(store: Store, user: string, model: Embedder, question: string): Nearness {
  return async (rows) => {
    const [asked] = await model.embed([question.slice(0, longestSentence)])
    if (asked === undefined) return new Map()
    const query = packed([asked], model.dimensions)
    const vectors = await store.vectorsAt(user, model.model, rows)
    return new Map([...vectors].map(([row, sentences]) => [row, bestCosine(query, sentences)]))
  }
}

/** The question as the speaker would ask it: people say "my dog" where others ask for "Ana's dog". */
export function saidBy(speaker: string | null, question: string): string {
  if (speaker === null) return question
  const names = [speaker, speaker.split(/\s/u)[0] as string]
    .map((name) => name.replace(/[\\^$.*+?()[\]{}|]/gu, String.raw`\$&`))
    .join('|')
  const name = new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${names})(['’]s?)?(?![\p{L}\p{N}])`, 'gu')
  return question.replace(name, (_name, possessive) => (possessive === undefined ? 'I' : 'my'))
}

function readSentences(text: string): readonly string[] {
  const read: string[] = []
  for (const { text: sentence } of sentencesOf(text.slice(0, longestText))) {
    const last = read.at(-1)
    if (last !== undefined && (sentence.length < shortPiece || last.length < shortPiece))
      read[read.length - 1] = `${last} ${sentence}`
    else read.push(sentence)
  }
  return read.slice(0, mostSentences).map((sentence) => sentence.slice(0, longestSentence).toWellFormed())
}

/** Vectors of length 1 with a byte for each dimension: a quarter of the size, and the order hardly changes. */
function packed(vectors: readonly Float32Array[], dimensions: number): Int8Array {
  const bytes = new Int8Array(vectors.length * dimensions)
  for (const [place, vector] of vectors.entries()) {
    const length = Math.hypot(...vector) || 1
    for (let at = 0; at < dimensions; at += 1)
      bytes[place * dimensions + at] = Math.round((127 * (vector[at] ?? 0)) / length)
  }
  return bytes
}

function bestCosine(query: Int8Array, sentences: Int8Array): number {
  let best = 0
  for (let from = 0; from + query.length <= sentences.length; from += query.length) {
    let product = 0
    for (let at = 0; at < query.length; at += 1) product += (query[at] as number) * (sentences[from + at] as number)
    best = Math.max(best, product / (127 * 127))
  }
  return Math.min(1, best)
}
