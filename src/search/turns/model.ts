import type { PushFeature, RankFeature, UpdateFeature, Values } from './features.ts'
import weights from './weights.json' with { type: 'json' }

/** How readily recall shows lines. */
export const boldnesses = ['normal', 'quiet', 'eager'] as const
export type Boldness = (typeof boldnesses)[number]

/** The min probability that one of the lines helps, for lines that are shown as sure and as perhaps relevant. */
export type Levels = { readonly sure: number; readonly perhaps: number }

/**
 * Questions and requests have separate levels, because a question needs one line, and a request may need several facts.
 */
export type MessageKind = 'question' | 'request'

/**
 * The probabilities of updates that decide about a line of recall: from `likely` on a newer turn is shown before it, and if those that
 * are not shown reach `unclear` together, the line is left out.
 */
export type UpdateLimits = { readonly likely: number; readonly unclear: number }

/** A search puts a newer turn before one that it may update from this probability on, unless that leads by more than this score. */
export type Replaced = { readonly probability: number; readonly lead: number }

/** A learned direction among the sentence vectors of one model: of sentences that announce a change. */
export type Announcing = {
  readonly model: string
  /** A vector of length 1 with a byte for each dimension, in base64. */
  readonly direction: string
  /** The cosines of a turn's most announcing sentence. */
  readonly mean: number
  readonly deviation: number
}

/** The weights of the three linear models. Made by scripts/train-ranking.ts; nobody edits them. */
export type Model = {
  readonly rank: Values<RankFeature>
  readonly push: Values<PushFeature | 'bias'>
  readonly update: Values<UpdateFeature | 'bias'>
  readonly announcing: Announcing | null
  readonly replaced: Replaced
  readonly limits: Readonly<Record<MessageKind, UpdateLimits>>
  readonly levels: Readonly<Record<Boldness, Readonly<Record<MessageKind, Levels>>>>
}

/** One model for stores with sentence vectors, and one for words alone. */
export type Models = { readonly vectors: Model; readonly words: Model }

export const models: Models = weights
