import type { Embedder } from '../../search/embedder.ts'
import { sentencesOf } from '../../search/sentences.ts'
import type { MessageMeaning } from '../../search/turns/candidates.ts'
import { textsToEmbed } from '../../search/turns/change.ts'
import { packVectors } from '../../search/turns/cosines.ts'
import type { Question } from '../../search/turns/question.ts'
import { termsOf } from '../../search/turns/terms.ts'
import type { Ports } from '../ports.ts'

export type EmbedRequest = {
  readonly user: string
  /** Max texts. Default: all of them. */
  readonly limit?: number
  readonly signal?: AbortSignal
  readonly onProgress?: (done: number) => void
  /** The `lastTurn` of an earlier call. Turns up to this row are skipped, because they have vectors. */
  readonly turnsAfter?: number
}

/** Number of texts that are read and written together. */
const batchSize = 32

/**
 * Computes the missing vectors of current beliefs and of people's turns, newest first. Can be stopped and resumed at any time,
 * and several processes may run it at once.
 */
export async function embedTexts(
  { store, embedder }: Pick<Ports, 'store' | 'embedder'>,
  { user, limit = Number.POSITIVE_INFINITY, signal, onProgress = () => {}, turnsAfter = 0 }: EmbedRequest,
): Promise<{ readonly embedded: number; readonly lastTurn: number }> {
  const model = await embedder?.()
  const isStopped = (): boolean => signal?.aborted === true
  let embedded = 0
  let lastTurn = turnsAfter
  for (const kind of model === undefined ? [] : (['belief', 'turn'] as const)) {
    let before: number | null = Number.MAX_SAFE_INTEGER
    while (model !== undefined && before !== null && embedded < limit && !isStopped()) {
      const page = { limit: Math.min(batchSize, limit - embedded), before }
      const { texts, next } = await store.withoutVectors(user, model.model, kind, page)
      before = kind === 'turn' && next !== null && next <= turnsAfter ? null : next
      if (kind === 'turn') lastTurn = Math.max(lastTurn, texts[0]?.row ?? 0)
      if (texts.length === 0) continue
      const sentences = texts.map(({ text }) => textsToEmbed(text))
      const vectors = await model.embed(sentences.flat())
      if (isStopped()) break
      let from = 0
      const kept = texts.map(({ row }, place) => {
        const own = vectors.slice(from, from + (sentences[place]?.length ?? 0))
        from += own.length
        return { row, vectors: packVectors(own, model.dimensions) }
      })
      await store.keepVectors(user, model.model, kind, kept)
      embedded += texts.length
      onProgress(embedded)
    }
  }
  return { embedded, lastTurn }
}

/** Max sentences of a message that are compared separately. Each has at least `minTerms` terms; the end of a long one is cut. */
const maxMessageSentences = 8
const minTerms = 2
const maxSentenceLength = 400

/** The vectors of a message: one of the whole message, and one of each sentence with enough terms. */
export async function meaningOf(model: Embedder, question: Question, message: string): Promise<MessageMeaning> {
  const asked = saidBy(question.speaker, message)
  const sentences = sentencesOf(asked)
    .map(({ text }) => text)
    .filter((text) => termsOf(text).length >= minTerms)
  const texts = [asked, ...sentences.slice(0, maxMessageSentences)].map((text) =>
    text.slice(0, maxSentenceLength).toWellFormed(),
  )
  const vectors = await model.embed([...new Set(texts)])
  const own = { model: model.model, dimensions: model.dimensions, vectors: packVectors(vectors, model.dimensions) }
  return { ...own, text: texts[0] as string, ...(model.words === undefined ? {} : { wordsOf: model.words }) }
}

/** The question as the speaker would word it: a question about "Ana's dog" becomes one about "my dog", as Ana would say. */
export function saidBy(speaker: string | null, question: string): string {
  if (speaker === null) return question
  const names = [speaker, speaker.split(/\s/u)[0] as string]
    .map((name) => name.replace(/[\\^$.*+?()[\]{}|]/gu, String.raw`\$&`))
    .join('|')
  const name = new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${names})(['’]s?)?(?![\p{L}\p{N}])`, 'gu')
  return question.replace(name, (_name, possessive) => (possessive === undefined ? 'I' : 'my'))
}
