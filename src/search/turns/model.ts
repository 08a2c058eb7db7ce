import type { PushFeature, RankFeature, UpdateFeature, Values } from './features.ts'
import weights from './weights.json' with { type: 'json' }

/** How readily recall shows lines. */
export const boldnesses = ['normal', 'quiet', 'eager'] as const
export type Boldness = (typeof boldnesses)[number]

/** The min probability that one of the lines helps, for lines shown as sure and for lines shown as perhaps relevant. */
export type Levels = { readonly sure: number; readonly perhaps: number }

/**
 * Questions and requests have separate levels, because a question needs one line, and a request may need several facts.
 */
export type MessageKind = 'question' | 'request'

/**
 * Limits for the probabilities that newer turns update a line of recall. A newer turn with at least `likely` is shown
 * with the line. If the probabilities of those that are not shown add up to `unclear`, the line is left out.
 */
export type UpdateLimits = { readonly likely: number; readonly unclear: number }

/**
 * A newer turn is placed before an older one, which is then marked as earlier, if the probability that it is an update is at least
 * `probability`. In a search, the score of the older turn must also be at most `lead` higher.
 */
export type Replaced = { readonly probability: number; readonly lead: number }

/** A learned direction in the vector space of a model: towards sentences that announce a change. */
export type Announcing = {
  readonly model: string
  /** A vector of length 1 with a byte for each dimension, in base64. */
  readonly direction: string
  /** The mean and deviation, over turns, of the highest cosine of a turn's sentences with the direction. */
  readonly mean: number
  readonly deviation: number
}

/** The weights of the three linear models. Written by scripts/train-ranking.ts; do not edit them. */
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
