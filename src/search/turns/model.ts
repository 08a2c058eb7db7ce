import type { ChangeFeature, PushFeature, RankFeature, UpdateFeature, Values } from './features.ts'
import weights from './weights.json' with { type: 'json' }

/** How readily recall shows lines. */
export const boldnesses = ['normal', 'quiet', 'eager'] as const
export type Boldness = (typeof boldnesses)[number]

/** The least probability that one of the lines helps, for lines that are shown as sure and as perhaps relevant. */
export type Levels = { readonly sure: number; readonly perhaps: number }

/** A question wants one line, and a request may need several facts: they have levels of their own. */
export type MessageKind = 'question' | 'request'

/**
 * The values of the update model that decide about a line: from `likely` on a newer turn is shown before it, and from
 * `unclear` on one newer turn too many is a reason to leave the line out.
 */
export type UpdateLimits = { readonly likely: number; readonly unclear: number }

/** The weights of the four linear models. Made by scripts/train-ranking.ts; nobody edits them. */
export type Model = {
  readonly rank: Values<RankFeature>
  readonly change: Values<ChangeFeature>
  readonly push: Values<PushFeature | 'bias'>
  readonly update: Values<UpdateFeature>
  readonly limits: Readonly<Record<MessageKind, UpdateLimits>>
  readonly levels: Readonly<Record<Boldness, Readonly<Record<MessageKind, Levels>>>>
}

/** One model for stores with sentence vectors, and one for words alone. */
export type Models = { readonly vectors: Model; readonly words: Model }

export const models: Models = weights
