import type { BeliefType, Subtype } from '../beliefs/belief.ts'
import type { Viewpoint } from '../beliefs/belief-store.ts'

/** A belief that can be found by a key, with just enough to filter and rank without loading it. */
export type Posting = {
  readonly beliefId: string
  /** Which of its surface forms: 0 is the name, i the alias at position i - 1. */
  readonly ordinal: number
  readonly breaks: number
  readonly type: BeliefType
  readonly subtype: Subtype | null
  readonly pinned: boolean
  /** Milliseconds since the epoch. */
  readonly reinforcedAt: number
}

/**
 * Surface forms by key. Every look-up goes by user and key, so its cost does not depend on how many beliefs there are.
 */
export type FormIndex = {
  /** How many words the user's forms have that begin with each word. Absent words begin none. */
  formLengths(user: string, heads: readonly string[]): Promise<ReadonlyMap<string, readonly number[]>>
  /** Current beliefs in view that have each key. Absent keys have none. */
  postings(view: Viewpoint, keys: readonly string[]): Promise<ReadonlyMap<string, readonly Posting[]>>
  /** Ids of all the user's beliefs that have each key: every scope, agent and status. */
  everyHolder(user: string, keys: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>
  /** Words of the user's forms, in any spelling kept for them, within one edit of each given word. */
  wordsNear(user: string, words: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>
  /** Number of current beliefs in view. */
  population(view: Viewpoint): Promise<number>
}

/** One belief found by full text. */
export type TextHit = { readonly beliefId: string; readonly score: number }

/** The explicit lane: words anywhere in a belief. Never feeds recall. */
export type FullText = {
  /** Beliefs in view holding any of the words, best first. `view.scopes` of null means every scope of the user. */
  matchText(query: {
    readonly user: string
    readonly agent: string | null
    readonly scopes: readonly string[] | null
    readonly words: readonly string[]
    /** The last word is still being typed: words with this prefix match too. */
    readonly beginning?: string
    /** Only beliefs that contain at least this many of the words. Default 1. */
    readonly atLeast?: number
    readonly includeRetired: boolean
    readonly limit: number
  }): Promise<readonly TextHit[]>
}
